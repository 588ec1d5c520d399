"""Reading the reference store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from memwell.domain.evidence import Evidence, EvidenceStatus, Target
from memwell.domain.indexed import speaker_name
from memwell.domain.jobs import JobState
from memwell.domain.lens import Lens, as_known, sees_evidence, sees_memory
from memwell.domain.memory import MemoryRecord, State, Transition
from memwell.domain.people import ALIAS
from memwell.domain.plan import Unit
from memwell.domain.rights import readable
from memwell.domain.scope import Scope
from memwell.domain.validity import Validity
from memwell.engine.ports import Matrix
from memwell.engine.queries import PageQuery, Pool, PoolEntry, PoolQuery
from memwell.storage.memory.rows import Rows
from memwell.storage.memory.traces import MemoryTraces
from memwell.storage.refusals import other_shape
from memwell.storage.signals import Floats, best, episodes, keyword_share, with_context
from memwell.storage.stems import stems_of

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

    def aliases(self, scope: Scope) -> list[MemoryRecord]:
        return [m for m in self._in_scope(scope) if m.state is State.CURRENT and m.attribute == ALIAS]

    def unformed(self, limit: int) -> list[Evidence]:
        return [record for record in self._rows.evidence.values() if self._waits(record)][:limit]

    def pending(self, scope: Scope, limit: int) -> list[Evidence]:
        waiting = {
            key
            for job in self._rows.jobs.values()
            if job.scope == scope and job.state is not JobState.DONE
            for key in job.evidence_ids
            if key not in self._rows.formed
        }
        return [record for key, record in reversed(self._rows.evidence.items()) if key in waiting][:limit]

    def heads(self, scope: Scope, keys: Iterable[tuple[str, str]]) -> list[MemoryRecord]:
        wanted = set(keys)
        return [
            memory
            for memory in self._in_scope(scope)
            if memory.state is State.CURRENT and (memory.subject, memory.attribute) in wanted
        ]

    def page(self, query: PageQuery) -> list[MemoryRecord]:
        found = [
            memory
            for memory in self._in_scope(query.scope)
            if _on_page(query, memory) and (query.target is None or readable(memory, self._rows.evidence, query.target))
        ]
        found.sort(key=lambda memory: (memory.recorded_at, memory.id), reverse=True)
        return found[: query.limit]

    def count(self, scope: Scope, lens: Lens) -> int:
        return len(self._seen_memories(scope, lens))

    def pool(self, scope: Scope, unit: Unit, query: PoolQuery) -> Pool:
        ids = self._seen_memories(scope, query.lens) if unit is Unit.MEMORY else self._seen_evidence(scope, query.lens)
        broken = self._broken(scope, query.lens) if unit is Unit.MEMORY else frozenset()
        seen = [self._entry(unit, key) for key in ids]
        seen = [entry._replace(intact=entry.position not in broken) for entry in seen]
        similarity = np.full(len(seen), -np.inf)
        if query.vector is not None:
            known = self._similarity(unit, query.model, query.vector, ids)
            similarity = np.array([known.get(key, -np.inf) for key in ids])
        keyword = self._keyword(unit, ids, query)
        episode = np.zeros(len(seen), np.int64)
        if unit is Unit.EVIDENCE:
            names = {name: code for code, name in enumerate(dict.fromkeys(entry.session_id for entry in seen))}
            sessions = np.array([names[entry.session_id] for entry in seen], np.int64)
            said_at = np.array([round(entry.said_at * 1e6) for entry in seen], np.int64)
            episode, follower = episodes(sessions, said_at)
            keyword = with_context(keyword, follower, query.context)
        within = [any(_within(period, entry.said_at) for period in query.periods) for entry in seen]
        chosen = {
            *best(similarity, query.limit).tolist(),
            *best(np.where(keyword > 0, keyword, -np.inf), query.limit).tolist(),
            *best(np.where(within, similarity, -np.inf), query.limit).tolist(),
            *(i for i, entry in enumerate(seen) if entry.position in query.positions),
        }
        return Pool.of(
            [
                seen[i]._replace(
                    similarity=float(similarity[i]) if np.isfinite(similarity[i]) else 0.0,
                    keyword=float(keyword[i]),
                    episode=int(episode[i]),
                )
                for i in sorted(chosen)
            ]
        )

    def _keyword(self, unit: Unit, ids: Sequence[str], query: PoolQuery) -> Floats:
        words = [self._rows.words[unit][key] for key in ids]
        if not words:
            return np.zeros(0)
        wanted = stems_of(query.terms)
        holding = [np.array([i for i, held in enumerate(words) if stem in held], np.intp) for stem in wanted]
        return keyword_share(holding, np.array([len(held) for held in words], np.int64), query.absent)

    def words(self, ids: Iterable[str], model: str) -> dict[str, bytes]:
        rows = self._rows.vectors[Unit.EVIDENCE]
        known = {key: rows[key].words for key in ids if key in rows and rows[key].model == model}
        return {key: words for key, words in known.items() if words is not None}

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

    def traces(self, scope: Scope) -> MemoryTraces:
        return MemoryTraces(self._rows, scope)

    def unindexed(self, unit: Unit, model: str, limit: int, target: Target = Target.LOCAL) -> list[str]:
        indexed = {key for key, row in self._rows.vectors[unit].items() if row.model == model}
        stays = set() if target is Target.LOCAL else self._staying(unit)
        return [key for key in self._indexable(unit) if key not in indexed and key not in stays][:limit]

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
        return {
            "scopes": len(
                {*(row.scope for row in rows.evidence.values()), *(row.scope for row in rows.memories.values())}
            ),
            "evidence": len(rows.evidence),
            "unformed": sum(map(self._waits, rows.evidence.values())),
            "memories": len(rows.memories),
            "indexable": sum(len(self._indexable(unit)) for unit in Unit),
            "by_state": dict(Counter(memory.state.value for memory in rows.memories.values())),
            "ledger": len(rows.ledger),
            "bytes": 0,
            "schema": 0,
            "cleanup": "complete",
            "staying": sum(len(self._staying(unit)) for unit in Unit),
            "models": models,
        }

    def _waits(self, record: Evidence) -> bool:
        """Whether memories may be formed from ``record`` and have not been."""
        may = record.status is EvidenceStatus.ACTIVE and record.permissions.infer and record.speaker.supports_memories
        return may and record.id not in self._rows.formed

    def _staying(self, unit: Unit) -> set[str]:
        """The indexable records that may not leave this machine."""
        kept = {key for key, record in self._rows.evidence.items() if not record.permissions.cloud}
        if unit is Unit.EVIDENCE:
            return kept & set(self._indexable(unit))
        memories = self._rows.memories
        own = (key for key in self._indexable(unit) if any(s.evidence_id in kept for s in memories[key].sources))
        return set(own)

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
        return [
            record.id
            for record in evidence
            if record.scope == scope and record.speaker.supports_memories and sees_evidence(lens, record)
        ]

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

    def _entry(self, unit: Unit, key: str) -> PoolEntry:
        """The record's entry without its scores."""
        if unit is Unit.EVIDENCE:
            first = self._rows.evidence[key]
            made = PoolEntry(key, 0.0, 0.0, first.session_id, self._position(key), first.occurred_at.timestamp())
            return made._replace(speaker=speaker_name(first) or "")
        memory = self._rows.memories[key]
        session_id, position, said_at, speaker = memory.session_id, 0, memory.memory_at, ""
        if memory.sources:
            first = self._rows.evidence[memory.sources[0].evidence_id]
            session_id, position, said_at = first.session_id, self._position(first.id), first.occurred_at
            speaker = speaker_name(first) or ""
        made = PoolEntry(key, 0.0, 0.0, session_id, position, said_at.timestamp(), 0, memory.subject == "user")
        return made._replace(speaker=speaker)

    def _broken(self, scope: Scope, lens: Lens) -> frozenset[int]:
        """Positions of the turns of which a memory is hidden, whatever its kind."""
        seen = set(self._seen_memories(scope, replace(lens, kinds=None)))
        hidden = (memory.id for memory in self._in_scope(scope) if memory.id not in seen)
        return frozenset(self._entry(Unit.MEMORY, key).position for key in hidden)

    def _position(self, evidence_id: str) -> int:
        return list(self._rows.evidence).index(evidence_id) + 1


def _within(period: Validity, said_at: float) -> bool:
    return period.start.timestamp() <= said_at and (period.end is None or said_at < period.end.timestamp())


def _on_page(query: PageQuery, memory: MemoryRecord) -> bool:
    return (
        memory.state in query.states
        and (query.kinds is None or memory.kind in query.kinds)
        and (query.said_from is None or query.said_from <= memory.memory_at)
        and (query.said_until is None or memory.memory_at < query.said_until)
        and (query.live_at is None or memory.valid_until is None or query.live_at < memory.valid_until)
        and (query.after is None or (memory.recorded_at, memory.id) < query.after)
    )
