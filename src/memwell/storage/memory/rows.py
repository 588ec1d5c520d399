"""Everything a reference store holds at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memwell.domain.changes import Entry
from memwell.domain.evidence import Evidence, EvidenceStatus
from memwell.domain.jobs import Job, JobState
from memwell.domain.memory import MemoryRecord, State, Transition
from memwell.domain.named import Named, erases, losing_words, named_ids, named_jobs
from memwell.domain.plan import AddEvidence, AddMemory, IndexRecord, KeepReceipt, Plan, Unit
from memwell.domain.scope import Scope
from memwell.domain.tombstone import Tombstone, source_hashes
from memwell.storage.stems import stems
from memwell.storage.values import evidence_terms, memory_terms


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A journalled request; ``outcome`` is ``None`` while it is unfinished."""

    input_hash: str
    plan_id: str
    outcome: Mapping[str, Any] | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows. A change makes a copy, so that whoever holds the old one keeps a snapshot.

    Attributes:
        plans: ledger sequence of each plan's last entry.
        words: stems by record.
        vectors: the vectors of each record; all of one model.
        dimensions: by model.
        dependencies: what an evidence record was made from, by its id.
        tombstones: by id of the erased record.
        receipts: by command.
    """

    evidence: dict[str, Evidence] = field(default_factory=dict)
    origins: dict[tuple[Scope, str], str] = field(default_factory=dict)
    memories: dict[str, MemoryRecord] = field(default_factory=dict)
    transitions: dict[str, tuple[Transition, ...]] = field(default_factory=dict)
    formed: set[str] = field(default_factory=set)
    epochs: dict[Scope, int] = field(default_factory=dict)
    plans: dict[str, int] = field(default_factory=dict)
    requests: dict[tuple[Scope, str], RequestRow] = field(default_factory=dict)
    ledger: list[Entry] = field(default_factory=list)
    words: dict[Unit, dict[str, list[str]]] = field(default_factory=lambda: {unit: {} for unit in Unit})
    vectors: dict[Unit, dict[str, IndexRecord]] = field(default_factory=lambda: {unit: {} for unit in Unit})
    dimensions: dict[str, int] = field(default_factory=dict)
    dependencies: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tombstones: dict[str, tuple[Scope, Tombstone]] = field(default_factory=dict)
    receipts: dict[tuple[Scope, str], KeepReceipt] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)

    def copy(self) -> Rows:
        return replace(
            self,
            **{
                name: type(value)(value)
                for name in self.__slots__
                if name not in ("words", "vectors")
                for value in [getattr(self, name)]
            },
            words={unit: dict(rows) for unit, rows in self.words.items()},
            vectors={unit: dict(rows) for unit, rows in self.vectors.items()},
        )

    def named(self, plan: Plan) -> Named:
        """The records that ``plan`` names, for ``changes.resolve``."""
        memory_ids, evidence_ids, origins = named_ids(plan)
        lost = losing_words(plan)
        citing = {
            key: frozenset(m.id for m in self.memories.values() if any(s.evidence_id == key for s in m.sources))
            for key in lost
        }
        memory_ids = memory_ids.union(*citing.values())
        jobs = self._jobs(plan)
        evidence_ids = evidence_ids.union(*(job.evidence_ids for job in jobs.values()))
        known = {origin: self.origins[key] for origin in origins if (key := (plan.scope, origin)) in self.origins}
        return Named(
            memories={key: self.memories[key] for key in memory_ids & self.memories.keys()},
            evidence={key: self.evidence[key] for key in evidence_ids & self.evidence.keys()},
            origins={origin: self.evidence[evidence_id] for origin, evidence_id in known.items()},
            buried=self._buried(plan),
            citing=citing,
            jobs=jobs,
        )

    def _jobs(self, plan: Plan) -> dict[str, Job]:
        ids = set(named_jobs(plan) & self.jobs.keys())
        if erases(plan):
            lost = losing_words(plan)
            mine = (job for job in self.jobs.values() if job.scope == plan.scope)
            ids.update(j.id for j in mine if j.state is not JobState.DONE or not lost.isdisjoint(j.evidence_ids))
        return {key: job for key, job in self.jobs.items() if key in ids}

    def _buried(self, plan: Plan) -> frozenset[str]:
        records = [operation.evidence for operation in plan.operations if isinstance(operation, AddEvidence)]
        ids = {record.id for record in records}
        ids |= {operation.memory.id for operation in plan.operations if isinstance(operation, AddMemory)}
        found = ids & self.tombstones.keys()
        for scope, stone in self.tombstones.values():
            if scope == plan.scope and stone.hash_key is not None:
                known = {stone.origin_hash, stone.replay_hash}
                found |= {record.id for record in records if known & {*source_hashes(record, stone.hash_key)}}
        return frozenset(found)

    def index_words(self) -> None:
        """Make the words of every record again."""
        alive = {key: memory for key, memory in self.memories.items() if memory.state is not State.ERASED}
        self.words[Unit.MEMORY] = {key: memory_words(memory) for key, memory in alive.items()}
        indexed = [record for record in self.evidence.values() if is_indexed(record)]
        self.words[Unit.EVIDENCE] = {record.id: evidence_words(record) for record in indexed}


def is_indexed(record: Evidence) -> bool:
    """Whether the keyword index has the words of ``record``."""
    return record.speaker.supports_memories and record.status is not EvidenceStatus.ERASED


def memory_words(memory: MemoryRecord) -> list[str]:
    return [stem for term in memory_terms(memory) for stem in stems(term)]


def evidence_words(evidence: Evidence) -> list[str]:
    return [stem for term in evidence_terms(evidence) for stem in stems(term)]
