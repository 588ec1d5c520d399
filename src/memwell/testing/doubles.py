"""Doubles and builders for tests: deterministic clock, ids and embedder, and values with sensible defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count
from threading import Lock
from typing import Any

import numpy as np

from memwell.domain.evidence import Evidence, Speaker, default_permissions
from memwell.domain.memory import Formation, Kind, Links, MemoryRecord, Source
from memwell.domain.plan import AddEvidence, AddMemory, IndexRecord, Operation, Plan, Unit, Vector
from memwell.domain.scope import Scope
from memwell.domain.text import terms
from memwell.engine.ports import Matrix

START = datetime(2025, 1, 1, 12, tzinfo=UTC)
ALICE = Scope("alice")
BOB = Scope("bob")


class FakeClock:
    """A clock that stands still, or steps on by ``step`` with every look at it."""

    def __init__(self, start: datetime = START, step: timedelta = timedelta(0)) -> None:
        self._now = start
        self._step = step
        self._guard = Lock()

    def now(self) -> datetime:
        with self._guard:
            now = self._now
            self._now += self._step
            return now

    def set(self, moment: datetime) -> None:
        with self._guard:
            self._now = moment

    def advance(self, by: timedelta) -> None:
        with self._guard:
            self._now += by


class SequentialIds:
    """Ids ``prefix_000001``, ``prefix_000002``, …; ``mark`` keeps those of several processes apart."""

    def __init__(self, mark: str = "") -> None:
        self._mark = mark
        self._numbers = count(1)

    def new(self, prefix: str) -> str:
        return f"{prefix}_{self._mark}{next(self._numbers):06d}"


class HashEmbedder:
    """Texts with common terms get similar vectors: each term adds a pseudo-random direction of its own."""

    def __init__(self, dimensions: int = 32, model: str = "hash-1", relation_threshold: float = 0.6) -> None:
        self.model = model
        self.dimensions = dimensions
        self.relation_threshold = relation_threshold

    def passages(self, texts: Sequence[str]) -> Matrix:
        return np.stack([self.query(text) for text in texts]) if texts else np.zeros((0, self.dimensions), np.float32)

    def query(self, text: str) -> Matrix:
        total = np.zeros(self.dimensions)
        for term in terms(text) or [text]:
            seed = int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "big")
            total += np.random.default_rng(seed).standard_normal(self.dimensions)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def target_queries(self, vectors: Matrix) -> Matrix:
        return vectors


def make_evidence(key: str, content: str = "I live in Lyon.", *, scope: Scope = ALICE, **changes: Any) -> Evidence:
    """Evidence ``key`` of the user, said and stored at ``START`` unless ``changes`` says otherwise."""
    speaker = changes.pop("speaker", Speaker.USER)
    record = Evidence(
        id=key,
        scope=scope,
        origin=f"origin-{key}",
        speaker=speaker,
        content=content,
        occurred_at=START,
        recorded_at=START,
        permissions=default_permissions(speaker),
    )
    return replace(record, **changes)


def make_memory(key: str, evidence: Evidence, *, links: Links = Links(), **changes: Any) -> MemoryRecord:
    """Memory ``key`` that cites all of ``evidence`` and says the same."""
    memory = MemoryRecord(
        id=key,
        scope=evidence.scope,
        kind=Kind.FACT,
        content=evidence.content,
        memory_at=evidence.occurred_at,
        valid_from=evidence.occurred_at,
        recorded_at=evidence.recorded_at,
        sources=(Source(evidence.id, 0, len(evidence.content), evidence.occurred_at),),
        formation=Formation("SUPPLEMENT", "", 1.0, "test-1", "test-1"),
        session_id=evidence.session_id,
        links=links,
    )
    return replace(memory, **changes)


def make_plan(key: str, *operations: Operation, scope: Scope = ALICE, at: datetime = START, **changes: Any) -> Plan:
    return replace(Plan(key, scope, at, operations), **changes)


def make_index(record: Evidence | MemoryRecord, embedder: HashEmbedder, *windows: tuple[int, int]) -> IndexRecord:
    """Vectors of ``windows`` (character ranges) of a record's text; of all of it where none is given."""
    spans = windows or ((0, len(record.content)),)
    rows = embedder.passages([record.content[start:end] for start, end in spans])
    vectors = tuple(
        Vector(start, end, row.astype("<f4").tobytes()) for (start, end), row in zip(spans, rows, strict=True)
    )
    unit = Unit.EVIDENCE if isinstance(record, Evidence) else Unit.MEMORY
    return IndexRecord(unit, record.id, embedder.model, vectors)


def statement(
    key: str, content: str, embedder: HashEmbedder, *, scope: Scope = ALICE, **changes: Any
) -> list[Operation]:
    """Operations that store ``content`` as evidence ``ev_key`` and as memory ``mem_key``, with vectors of both."""
    evidence = make_evidence(f"ev_{key}", content, scope=scope)
    memory = make_memory(f"mem_{key}", evidence, **changes)
    return [AddEvidence(evidence), AddMemory(memory), make_index(evidence, embedder), make_index(memory, embedder)]
