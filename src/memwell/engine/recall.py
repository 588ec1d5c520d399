"""Recall: answer a question from what is stored. Read-only, one snapshot, no model call, deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from memwell.domain.evidence import Target
from memwell.domain.lens import Lens, sees_memory
from memwell.domain.memory import Kind, Layer, MemoryRecord, State
from memwell.domain.plan import Unit
from memwell.domain.scope import Scope
from memwell.domain.text import checked_text
from memwell.engine.indexing import Indexable
from memwell.engine.items import MemoryItem, RawItem
from memwell.engine.ports import Clock, Embedder, Matrix, PoolEntry, Question, QuestionReader, Store, View
from memwell.engine.ranking import fused
from memwell.engine.reading import known_then, quotes_of, readable
from memwell.engine.results import SearchResult
from memwell.engine.vectors import checked
from memwell.errors import InputError

MAX_LIMIT = 1_000
# Records that each ranker brings into the pool, at least.
POOL = 200
# Scores of verbatim evidence are capped: it is no formed memory.
RAW_SCORE_CAP = 0.5
PROFILE_KINDS = frozenset(kind for kind in Kind if kind.layer is Layer.PROFILE) | {Kind.PERSONA}


@dataclass(frozen=True, slots=True)
class Limits:
    """How many results each group may hold; 0 leaves a group out."""

    memories: int = 5
    profile: int = 5
    procedures: int = 0
    raw: int = 0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isinstance(value, int) or not 0 <= value <= MAX_LIMIT:
                raise InputError(f"limit for {name} is {value!r}", remedy=f"use 0 to {MAX_LIMIT:,}")


@dataclass(frozen=True, slots=True)
class Recall:
    """The search use case."""

    store: Store
    embedder: Embedder
    reader: QuestionReader
    clock: Clock

    def search(
        self,
        scope: Scope,
        query: str,
        *,
        limits: Limits,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        target: Target = Target.LOCAL,
        include_relations: bool = True,
    ) -> SearchResult:
        """Find what answers ``query``.

        Args:
            query: a question in any language.
            as_of: ask what held at that moment; otherwise what holds now.
            known_at: ask what the store knew at that moment.
            target: where the text will go; decides which evidence may be used.
            include_relations: let each hit carry what it replaced and what conflicts with it.
        """
        checked_text("query", query)
        now = self.clock.now()
        question = self.reader.read(query, as_of or now)
        vector = checked(self.embedder.query(query)[None, :], self.embedder.dimensions, 1)[0]
        lens = Lens(now=now, as_of=as_of, known_at=known_at, target=target, include_past=question.about_past)
        with self.store.view() as view:
            looker = _Looker(view, scope, self.embedder.model, question, vector, lens, include_relations)
            memories = looker.memories(limits.memories, replace(lens, kinds=frozenset(Kind) - {Kind.PROCEDURE}))
            shown = {item.id for item in memories}
            profile: tuple[MemoryItem, ...] = ()
            if question.about_owner and limits.profile:
                found = looker.memories(limits.profile + len(shown), replace(lens, kinds=PROFILE_KINDS))
                own = [item for item in found if item.id not in shown and item.memory.subject == "user"]
                profile = tuple(own[: limits.profile])
            return SearchResult(
                question=query,
                target=target,
                memories=memories,
                profile=profile,
                procedures=looker.memories(limits.procedures, replace(lens, kinds=frozenset({Kind.PROCEDURE}))),
                raw=looker.raw(limits.raw),
            )


@dataclass(frozen=True, slots=True)
class _Looker:
    view: View
    scope: Scope
    model: str
    question: Question
    vector: Matrix
    lens: Lens
    relations: bool

    def memories(self, limit: int, lens: Lens) -> tuple[MemoryItem, ...]:
        if not limit:
            return ()
        pool = self._pool(Unit.MEMORY, limit, lens)
        scores = fused(pool)
        records = self.view.memories(entry.record_id for entry in pool)
        weighed = np.array(
            [score * self._standing(records[entry.record_id]) for score, entry in zip(scores, pool, strict=True)]
        )
        best = [(pool[i].record_id, float(weighed[i])) for i in _ranked(pool, weighed)[:limit]]
        known = [known_then(self.view, records[record_id], lens.known_at) for record_id, _ in best]
        quotes = quotes_of(self.view, known)
        related = self._related(known)
        return tuple(
            MemoryItem(
                memory=memory,
                score=score,
                quotes=quotes[memory.id],
                previous=tuple(
                    other
                    for i in (*memory.links.supersedes, *memory.links.superseded_by)
                    if (other := related.get(i)) is not None and other.state is not State.CURRENT
                ),
                conflicts=tuple(
                    other
                    for i in memory.links.conflicts_with
                    if (other := related.get(i)) is not None and other.state is State.CURRENT
                ),
            )
            for memory, (_, score) in zip(known, best, strict=True)
        )

    def raw(self, limit: int) -> tuple[RawItem, ...]:
        if not limit:
            return ()
        pool = self._pool(Unit.EVIDENCE, limit, self.lens)
        scores = fused(pool)
        best = _ranked(pool, scores)[:limit]
        evidence = self.view.evidence(pool[i].record_id for i in best)
        items = []
        for i in best:
            record = evidence[pool[i].record_id]
            span = Indexable(Unit.EVIDENCE, record.id, record.content).spans[0]
            items.append(RawItem(record, min(float(scores[i]), RAW_SCORE_CAP), span.start, span.end))
        return tuple(items)

    def _pool(self, unit: Unit, limit: int, lens: Lens) -> list[PoolEntry]:
        return self.view.pool(
            self.scope,
            unit,
            model=self.model,
            vector=self.vector,
            terms=self.question.terms,
            lens=lens,
            limit=max(POOL, limit),
        )

    def _standing(self, memory: MemoryRecord) -> float:
        """Factor for how well a memory's standing fits the question: others' facts do not answer about the owner."""
        factor = 1.0
        if self.question.about_owner and memory.subject != "user":
            factor *= 0.7
        if self.lens.include_past is False and self.lens.as_of is None and memory.state is not State.CURRENT:
            factor *= 0.7
        return factor

    def _related(self, memories: Sequence[MemoryRecord]) -> Mapping[str, MemoryRecord]:
        if not self.relations:
            return {}
        ids = {i for m in memories for i in (*m.links.supersedes, *m.links.superseded_by, *m.links.conflicts_with)}
        records = self.view.memories(ids)
        evidence = self.view.evidence({s.evidence_id for m in records.values() for s in m.sources})
        open_lens = replace(self.lens, as_of=None, include_past=True, kinds=None)
        return {
            memory_id: memory
            for memory_id, memory in records.items()
            if sees_memory(open_lens, memory, readable=readable(memory, evidence, self.lens.target))
        }


def _ranked(pool: Sequence[PoolEntry], scores: Matrix) -> list[int]:
    """Indexes into ``pool``, best score first; equal scores by record id, so that the order is always the same."""
    return sorted(range(len(pool)), key=lambda i: (-float(scores[i]), pool[i].record_id))
