"""What governing needs to know about one scope of a reference store: ``engine.traces.Traces``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from memwell.domain.clauses import holds_copy
from memwell.domain.command import Command, Receipt, read_receipt
from memwell.domain.evidence import Evidence, EvidenceStatus, Speaker
from memwell.domain.jobs import JobState
from memwell.domain.memory import MemoryRecord, State
from memwell.domain.plan import KeepReceipt, Unit
from memwell.domain.rights import sendable
from memwell.domain.scope import Scope
from memwell.domain.tombstone import Tombstone, keyed_hash
from memwell.engine.queries import EvidenceQuery
from memwell.storage.memory.rows import Rows
from memwell.storage.refusals import other_command
from memwell.storage.stems import stems
from memwell.storage.values import context_terms


class MemoryTraces:
    """See ``engine.traces.Traces``."""

    def __init__(self, rows: Rows, scope: Scope) -> None:
        self._rows = rows
        self._scope = scope

    def evidence(self, session_id: str | None = None) -> list[Evidence]:
        return [
            record
            for record in self._rows.evidence.values()
            if record.scope == self._scope
            and record.status is not EvidenceStatus.ERASED
            and session_id in (None, record.session_id)
        ]

    def page(self, query: EvidenceQuery) -> list[Evidence]:
        found = [
            record
            for record in self.evidence(query.session_id)
            if sendable(record, query.target)
            and record.origin.startswith(query.origin_prefix or "")
            and (query.alive_at is None or record.valid_until is None or record.valid_until > query.alive_at)
            and (query.after is None or (record.recorded_at, record.id) < query.after)
        ]
        found.sort(key=lambda record: (record.recorded_at, record.id), reverse=True)
        return found[: query.limit]

    def memories(self) -> list[MemoryRecord]:
        alive = (memory for memory in self._rows.memories.values() if memory.state is not State.ERASED)
        return [memory for memory in alive if memory.scope == self._scope]

    def originating(self, prefix: str) -> list[Evidence]:
        return [record for record in self.evidence() if record.origin.startswith(prefix)]

    def citing(self, evidence_ids: Iterable[str]) -> list[MemoryRecord]:
        wanted = set(evidence_ids)
        return [m for m in self.memories() if any(source.evidence_id in wanted for source in m.sources)]

    def derived(self, memory_ids: Iterable[str]) -> list[MemoryRecord]:
        wanted = set(memory_ids)
        return [memory for memory in self.memories() if wanted & {*memory.links.derived_from}]

    def dependents(self, ids: Iterable[str]) -> list[Evidence]:
        wanted = set(ids)
        return [record for record in self.evidence() if wanted & {*self._rows.dependencies.get(record.id, ())}]

    def dependencies(self) -> Mapping[str, tuple[str, ...]]:
        kept = self._rows.dependencies
        return {record.id: kept[record.id] for record in self.evidence() if record.id in kept}

    def copies(self, clauses: Sequence[str]) -> list[Evidence]:
        return [record for record in self.evidence() if holds_copy(record, clauses)]

    def replies(self, terms: Sequence[str]) -> list[Evidence]:
        wanted = {parts[0] for term in terms if len(parts := stems(term)) == 1}
        said = (record for record in self.evidence() if record.speaker is Speaker.ASSISTANT)
        return [record for record in said if wanted and wanted <= _context_words(record)]

    def mentioning(self, terms: Sequence[str]) -> tuple[list[MemoryRecord], list[Evidence]]:
        wanted = {parts[0] for term in terms if len(parts := stems(term)) == 1}
        if not wanted:
            return [], []
        words = self._rows.words
        memories = [memory for memory in self.memories() if wanted <= {*words[Unit.MEMORY].get(memory.id, ())}]
        return memories, [r for r in self.evidence() if wanted <= {*words[Unit.EVIDENCE].get(r.id, ())}]

    def forming(self, since: datetime) -> list[str]:
        left = (JobState.WAITING, JobState.DEAD)
        waiting = {key for job in self._rows.jobs.values() if job.state in left for key in job.evidence_ids}
        return [
            record.id
            for record in self.evidence()
            if record.recorded_at >= since
            and record.status is EvidenceStatus.ACTIVE
            and record.permissions.infer
            and record.speaker.supports_memories
            and record.id not in self._rows.formed
            and record.id not in waiting
        ]

    def formed(self) -> frozenset[str]:
        return frozenset(record.id for record in self.evidence() if record.id in self._rows.formed)

    def tombstones(self) -> list[Tombstone]:
        stones = [stone for scope, stone in self._rows.tombstones.values() if scope == self._scope]
        return sorted(stones, key=lambda stone: stone.record_id)

    def receipt(self, command_id: str) -> Receipt | None:
        row = self._rows.receipts.get((self._scope, command_id))
        return None if row is None else read_receipt(row.receipt.to_dict())

    def receipts(self) -> list[KeepReceipt]:
        kept = [row for (scope, _), row in self._rows.receipts.items() if scope == self._scope]
        return sorted(kept, key=lambda row: row.receipt.command_id)

    def answered(self, command: Command) -> Receipt | None:
        row = self._rows.receipts.get((self._scope, command.id))
        if row is None:
            return None
        if row.input_hash != keyed_hash(command.input, row.hash_key):
            raise other_command(command.id)
        return row.receipt


def _context_words(record: Evidence) -> set[str]:
    return {stem for term in context_terms(record) for stem in stems(term)}
