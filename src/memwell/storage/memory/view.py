"""Reading the reference store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from memwell.domain.evidence import Evidence, EvidenceStatus
from memwell.domain.lens import Lens, as_known, sees_evidence, sees_memory
from memwell.domain.memory import MemoryRecord, State, Transition
from memwell.domain.plan import Unit
from memwell.domain.scope import Scope
from memwell.engine.ports import Matrix, PageQuery, PoolEntry
from memwell.storage.memory import bm25
from memwell.storage.memory.rows import Rows
from memwell.storage.refusals import other_shape

_SAME_FACT = ("supersedes", "superseded_by", "corrects", "corrected_by")


class MemoryView:
    """See ``ports.View``."""

    def __init__(self, rows: Rows, now: Callable[[], datetime]) -> None:
        self._rows = rows
        self._now = now

    def epoch(self, scope: Scope) -> int:
        return self._rows.epochs.get(scope, 0)

    def memories(self, ids: Iterable[str]) -> dict[str, MemoryRecord]:
        return {key: self._rows.memories[key] for key in ids if key in self._rows.memories}

    def evidence(self, ids: Iterable[str]) -> dict[str, Evidence]:
        return {key: self._rows.evidence[key] for key in ids if key in self._rows.evidence}

    def evidence_by_origin(self, scope: Scope, origins: Iterable[str]) -> dict[str, Evidence]:
        ids = {origin: self._rows.origins.get((scope, origin)) for origin in origins}
        return {origin: self._rows.evidence[key] for origin, key in ids.items() if key is not None}

    def formed(self, evidence_ids: Iterable[str]) -> set[str]:
        return self._rows.formed & set(evidence_ids)

    def heads(self, scope: Scope, keys: Iterable[tuple[str, str]]) -> list[MemoryRecord]:
        wanted = set(keys)
        return [
            memory
            for memory in self._in_scope(scope)
            if memory.state is State.CURRENT and (memory.subject, memory.attribute) in wanted
        ]

    def page(self, query: PageQuery) -> list[MemoryRecord]:
        found = [memory for memory in self._in_scope(query.scope) if _on_page(query, memory)]
        found.sort(key=lambda memory: (memory.recorded_at, memory.id), reverse=True)
        return found[: query.limit]

    def count(self, scope: Scope, lens: Lens) -> int:
        return len(self._seen_memories(scope, lens))

    def pool(
        self,
        scope: Scope,
        unit: Unit,
        *,
        model: str,
        vector: Matrix | None,
        terms: Sequence[str],
        lens: Lens,
        limit: int,
    ) -> list[PoolEntry]:
        seen = self._seen_memories(scope, lens) if unit is Unit.MEMORY else self._seen_evidence(scope, lens)
        scores = bm25.scores(self._rows.words[unit], terms)
        keyword = {key: scores[key] for key in seen if key in scores}
        similarity = {} if vector is None else self._similarity(unit, model, vector, seen)
        best = {*_best(seen, similarity, limit), *_best(seen, keyword, limit)}
        return [self._entry(unit, key, similarity.get(key, 0.0), keyword.get(key, 0.0)) for key in sorted(best)]

    def recent(self, scope: Scope, session_id: str, *, before: datetime, limit: int) -> list[Evidence]:
        found = [
            record
            for record in self._rows.evidence.values()
            if record.scope == scope
            and record.session_id == session_id
            and record.occurred_at <= before
            and record.status is EvidenceStatus.ACTIVE
        ]
        found.sort(key=lambda record: record.occurred_at)
        return found[-limit:] if limit else []

    def transitions(self, memory_id: str) -> tuple[Transition, ...]:
        return self._rows.transitions.get(memory_id, ())

    def chain(self, memory_id: str) -> list[MemoryRecord]:
        found: dict[str, MemoryRecord] = {}
        waiting = [memory_id] if memory_id in self._rows.memories else []
        while waiting:
            memory = self._rows.memories[waiting.pop()]
            if memory.id not in found:
                found[memory.id] = memory
                waiting.extend(other for name in _SAME_FACT for other in getattr(memory.links, name))
        return list(found.values())

    def outcome(self, scope: Scope, request_id: str) -> tuple[str, Mapping[str, Any] | None] | None:
        request = self._rows.requests.get((scope, request_id))
        if request is None or request.expires_at <= self._now():
            return None
        return request.input_hash, request.outcome

    def unindexed(self, unit: Unit, model: str, limit: int) -> list[str]:
        indexed = {key for key, row in self._rows.vectors[unit].items() if row.model == model}
        return [key for key in self._indexable(unit) if key not in indexed][:limit]

    def stats(self) -> Mapping[str, Any]:
        rows = self._rows
        models = {
            model: {
                "dimensions": dimensions,
                "memories": sum(row.model == model for row in rows.vectors[Unit.MEMORY].values()),
                "evidence": sum(row.model == model for row in rows.vectors[Unit.EVIDENCE].values()),
            }
            for model, dimensions in rows.dimensions.items()
        }
        waiting = [
            row for key, row in rows.evidence.items() if key not in rows.formed and row.speaker.supports_memories
        ]
        return {
            "scopes": len(
                {*(row.scope for row in rows.evidence.values()), *(row.scope for row in rows.memories.values())}
            ),
            "evidence": len(rows.evidence),
            "unformed": sum(row.status is EvidenceStatus.ACTIVE for row in waiting),
            "memories": len(rows.memories),
            "indexable": sum(len(self._indexable(unit)) for unit in Unit),
            "by_state": dict(Counter(memory.state.value for memory in rows.memories.values())),
            "ledger": len(rows.ledger),
            "bytes": 0,
            "schema": 0,
            "models": models,
        }

    def _indexable(self, unit: Unit) -> list[str]:
        if unit is Unit.MEMORY:
            return [key for key, memory in self._rows.memories.items() if memory.state is not State.ERASED]
        return [
            key
            for key, record in self._rows.evidence.items()
            if record.speaker.supports_memories and record.status is EvidenceStatus.ACTIVE
        ]

    def _in_scope(self, scope: Scope) -> list[MemoryRecord]:
        return [memory for memory in self._rows.memories.values() if memory.scope == scope]

    def _seen_evidence(self, scope: Scope, lens: Lens) -> list[str]:
        evidence = self._rows.evidence.values()
        return [record.id for record in evidence if record.scope == scope and sees_evidence(lens, record)]

    def _seen_memories(self, scope: Scope, lens: Lens) -> list[str]:
        seen = []
        for memory in self._in_scope(scope):
            known = self._as_known(memory, lens)
            cited = [self._rows.evidence[source.evidence_id] for source in memory.sources]
            readable = all(
                record.status is EvidenceStatus.ACTIVE and record.permissions.allows(lens.target) for record in cited
            )
            if known is not None and sees_memory(lens, known, readable=readable):
                seen.append(memory.id)
        return seen

    def _as_known(self, memory: MemoryRecord, lens: Lens) -> MemoryRecord | None:
        if lens.known_at is None:
            return memory
        step = as_known(self._rows.transitions[memory.id], lens.known_at)
        if step is None:
            return None
        return replace(memory, state=step.state, valid_until=step.valid_until, muted_at=step.muted_at)

    def _similarity(self, unit: Unit, model: str, vector: Matrix, seen: Sequence[str]) -> dict[str, float]:
        dimensions = self._rows.dimensions.get(model)
        if dimensions is not None and vector.shape != (dimensions,):
            raise other_shape(model, vector.shape, dimensions)
        rows = self._rows.vectors[unit]
        return {
            key: max(float(np.frombuffer(window.data, "<f4") @ vector) for window in rows[key].vectors)
            for key in seen
            if key in rows and rows[key].model == model
        }

    def _entry(self, unit: Unit, key: str, similarity: float, keyword: float) -> PoolEntry:
        positions = {evidence_id: number for number, evidence_id in enumerate(self._rows.evidence, 1)}
        memory = self._rows.memories[key] if unit is Unit.MEMORY else None
        if memory is not None and not memory.sources:
            return PoolEntry(key, similarity, keyword, memory.session_id, 0, memory.memory_at)
        first = self._rows.evidence[memory.sources[0].evidence_id if memory is not None else key]
        return PoolEntry(key, similarity, keyword, first.session_id, positions[first.id], first.occurred_at)


def _best(seen: Sequence[str], scores: Mapping[str, float], limit: int) -> list[str]:
    """Keys of the highest scores; of equal ones, those stored first."""
    return sorted((key for key in seen if key in scores), key=lambda key: -scores[key])[:limit]


def _on_page(query: PageQuery, memory: MemoryRecord) -> bool:
    return (
        memory.state in query.states
        and (query.kinds is None or memory.kind in query.kinds)
        and (query.said_from is None or query.said_from <= memory.memory_at)
        and (query.said_until is None or memory.memory_at < query.said_until)
        and (query.live_at is None or memory.valid_until is None or query.live_at < memory.valid_until)
        and (query.after is None or (memory.recorded_at, memory.id) < query.after)
    )
