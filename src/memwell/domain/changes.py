"""The meaning of a plan: which rows it adds or changes, or why it is refused. Pure; the same for every store."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from memwell.domain.evidence import Evidence, EvidenceStatus
from memwell.domain.jobs import Job, JobState
from memwell.domain.memory import TRANSITIONS, Kind, Links, MemoryRecord, Source, State, Transition
from memwell.domain.plan import (
    AddEvidence,
    AddJob,
    AddMemory,
    AddSources,
    FinishJob,
    IndexRecord,
    MarkFormed,
    Operation,
    Plan,
    Retire,
    Shorten,
    Unit,
)
from memwell.errors import EvidenceConflictError, LeaseLostError, PlanRejectedError, PreconditionError

# Each link of a new memory and its mirror on the other end.
MIRRORS: Mapping[str, str] = {
    "supersedes": "superseded_by",
    "superseded_by": "supersedes",
    "corrects": "corrected_by",
    "conflicts_with": "conflicts_with",
}


@dataclass(frozen=True, slots=True)
class Named:
    """The records that a plan names, as the store holds them: by id, and evidence also by origin."""

    memories: Mapping[str, MemoryRecord] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    origins: Mapping[str, Evidence] = field(default_factory=dict)
    jobs: Mapping[str, Job] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """One ledger line: what was done to which record; ``content`` is hashed by the store, never kept."""

    operation: str
    record_id: str
    content: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows that a plan adds or changes.

    Attributes:
        evidence: records to insert; ``aliases`` maps each proposed evidence id to the stored one.
        memories: final rows, new ones (ids in ``created``) and changed ones, sources and links included.
        transitions: one per changed revision of a memory's mutable fields.
        jobs: final rows of jobs, new ones and finished ones.
        moves_epoch: whether what is current in the scope changes.
    """

    evidence: tuple[Evidence, ...]
    aliases: Mapping[str, str]
    memories: Mapping[str, MemoryRecord]
    created: frozenset[str]
    transitions: tuple[Transition, ...]
    vectors: tuple[IndexRecord, ...]
    formed: tuple[str, ...]
    entries: tuple[Entry, ...]
    jobs: tuple[Job, ...] = ()

    @property
    def moves_epoch(self) -> bool:
        return bool(self.memories)


def named_ids(plan: Plan) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Ids of the memories and of the evidence, and the origins, that a store must load for ``resolve``."""
    memories: set[str] = set()
    evidence: set[str] = set()
    origins: set[str] = set()
    for operation in plan.operations:
        match operation:
            case AddEvidence(evidence=record):
                evidence.add(record.id)
                origins.add(record.origin)
            case AddMemory(memory=memory):
                memories.add(memory.id)
                for name in Links.__slots__:
                    memories.update(getattr(memory.links, name))
                evidence.update(source.evidence_id for source in memory.sources)
            case Retire(memory_id=memory_id) | Shorten(memory_id=memory_id):
                memories.add(memory_id)
            case AddSources(memory_id=memory_id, sources=sources):
                memories.add(memory_id)
                evidence.update(source.evidence_id for source in sources)
            case IndexRecord(unit=unit, record_id=record_id):
                (memories if unit is Unit.MEMORY else evidence).add(record_id)
            case MarkFormed(evidence_ids=ids):
                evidence.update(ids)
    return frozenset(memories), frozenset(evidence), frozenset(origins)


def named_jobs(plan: Plan) -> frozenset[str]:
    """Ids of the jobs that a store must load for ``resolve``."""
    added = (operation.job.id for operation in plan.operations if isinstance(operation, AddJob))
    finished = (operation.job_id for operation in plan.operations if isinstance(operation, FinishJob))
    return frozenset((*added, *finished))


def resolve(plan: Plan, named: Named) -> Changes:
    """Work out what ``plan`` changes.

    Args:
        plan: the plan; a host that retries must keep its id.
        named: every record whose id or origin ``named_ids(plan)`` lists and the store holds, of any scope.

    Raises:
        PreconditionError: a record is at another revision than the plan was made against.
        EvidenceConflictError: an origin is known with other content.
        PlanRejectedError: the plan breaks an invariant; the message names the record and the rule.
    """
    draft = _Draft(plan, named)
    for operation in plan.operations:
        draft.take(operation)
    return draft.finish()


class _Draft:
    def __init__(self, plan: Plan, named: Named) -> None:
        self._plan = plan
        self._memories = dict(named.memories)
        self._evidence = dict(named.evidence)
        self._origins = dict(named.origins)
        self._jobs = dict(named.jobs)
        self._moved_jobs: dict[str, None] = {}
        self._new_evidence: list[Evidence] = []
        self._aliases: dict[str, str] = {}
        self._touched: dict[str, None] = {}
        self._created: set[str] = set()
        self._transitions: list[Transition] = []
        self._vectors: list[IndexRecord] = []
        self._formed: dict[str, None] = {}
        self._entries: list[Entry] = []

    def take(self, operation: Operation) -> None:
        match operation:
            case AddEvidence(evidence=record):
                self._add_evidence(record)
            case AddMemory(memory=memory):
                self._add_memory(memory)
            case Retire():
                self._retire(operation)
            case Shorten():
                self._shorten(operation)
            case AddSources():
                self._add_sources(operation)
            case IndexRecord():
                self._index(operation)
            case MarkFormed(evidence_ids=ids):
                for evidence_id in ids:
                    record = self._source_record(evidence_id)
                    self._formed[record.id] = None
            case AddJob(job=job):
                self._add_job(job)
            case FinishJob(job_id=job_id, token=token):
                self._finish_job(job_id, token)

    def finish(self) -> Changes:
        for memory_id in self._created:
            links = self._memories[memory_id].links
            for target in (*links.supersedes, *links.corrects):
                if self._memories[target].state is State.CURRENT:
                    raise self._refusal(f"memory {memory_id} replaces {target}, which stays current")
        return Changes(
            evidence=tuple(self._new_evidence),
            aliases=self._aliases,
            memories={memory_id: self._memories[memory_id] for memory_id in self._touched},
            created=frozenset(self._created),
            transitions=tuple(self._transitions),
            vectors=tuple(self._vectors),
            formed=tuple(self._formed),
            entries=tuple(self._entries),
            jobs=tuple(self._jobs[job_id] for job_id in self._moved_jobs),
        )

    def _refusal(self, message: str) -> PlanRejectedError:
        return PlanRejectedError(
            f"plan {self._plan.id}: {message}", remedy="nothing was written; make the plan again from current records"
        )

    def _log(self, operation: str, record_id: str, content: str = "") -> None:
        self._entries.append(Entry(operation, record_id, content))

    def _memory(self, memory_id: str) -> MemoryRecord:
        memory = self._memories.get(memory_id)
        if memory is None or memory.scope != self._plan.scope:
            raise self._refusal(f"memory {memory_id} is not in this scope")
        return memory

    def _source_record(self, evidence_id: str) -> Evidence:
        record = self._evidence.get(self._aliases.get(evidence_id, evidence_id))
        if record is None or record.scope != self._plan.scope:
            raise self._refusal(f"evidence {evidence_id} is not in this scope")
        return record

    def _at_revision(self, memory_id: str, expected: int) -> MemoryRecord:
        memory = self._memory(memory_id)
        if memory.revision != expected:
            raise PreconditionError(
                f"plan {self._plan.id}: memory {memory_id} is at revision {memory.revision}, not {expected}",
                remedy="read it again and repeat",
            )
        return memory

    def _add_evidence(self, record: Evidence) -> None:
        if record.scope != self._plan.scope:
            raise self._refusal(f"evidence {record.id} belongs to another scope")
        if not record.content:
            raise self._refusal(f"evidence {record.id} is empty")
        known = self._origins.get(record.origin)
        if known is not None and known.scope == record.scope:
            if known.content != record.content or known.speaker is not record.speaker:
                raise EvidenceConflictError(
                    f"source {record.origin!r} was stored before with other content, as {known.id}",
                    remedy="give the changed message a new id, or correct the memory instead",
                )
            self._aliases[record.id] = known.id
            self._evidence[known.id] = known
            return
        if record.id in self._evidence:
            raise self._refusal(f"evidence id {record.id} is taken")
        self._aliases[record.id] = record.id
        self._evidence[record.id] = record
        self._origins[record.origin] = record
        self._new_evidence.append(record)
        self._log("add_evidence", record.id, record.content)

    def _sources(self, memory_id: str, sources: tuple[Source, ...]) -> tuple[Source, ...]:
        resolved = []
        for source in sources:
            record = self._source_record(source.evidence_id)
            if record.status is not EvidenceStatus.ACTIVE or not record.speaker.supports_memories:
                raise self._refusal(f"memory {memory_id} cites {record.id} ({record.speaker}, {record.status})")
            if not 0 <= source.start < source.end <= len(record.content):
                raise self._refusal(f"memory {memory_id} cites characters {source.start}..{source.end} of {record.id}")
            resolved.append(replace(source, evidence_id=record.id))
        return tuple(dict.fromkeys(resolved))

    def _add_memory(self, memory: MemoryRecord) -> None:
        if memory.scope != self._plan.scope:
            raise self._refusal(f"memory {memory.id} belongs to another scope")
        if memory.id in self._memories:
            raise self._refusal(f"memory id {memory.id} is taken")
        if not memory.content.strip() or memory.revision != 1 or memory.state not in (State.CURRENT, State.HISTORICAL):
            raise self._refusal(f"memory {memory.id} is empty or not at the start of its life")
        if memory.valid_until is not None and memory.valid_until < memory.valid_from:
            raise self._refusal(f"memory {memory.id} ends before it begins")
        if not 0.0 <= memory.confidence <= 1.0:
            raise self._refusal(f"memory {memory.id} has confidence {memory.confidence}, outside 0..1")
        if not memory.sources and memory.kind is not Kind.ENTITY:
            raise self._refusal(f"memory {memory.id} cites no evidence")
        if memory.links.superseded_by and memory.state is not State.HISTORICAL:
            raise self._refusal(f"memory {memory.id} is current but superseded")
        if memory.links.superseded_by and memory.links.supersedes:
            raise self._refusal(f"memory {memory.id} both supersedes and is superseded")
        stored = replace(memory, sources=self._sources(memory.id, memory.sources))
        self._memories[memory.id] = stored
        self._created.add(memory.id)
        self._touched[memory.id] = None
        for name, mirror in MIRRORS.items():
            for target_id in getattr(memory.links, name):
                self._mirror(memory.id, self._memory(target_id), mirror)
        for target_id in memory.links.derived_from:
            self._memory(target_id)
        self._note(stored, "add")
        self._log("add_memory", memory.id, memory.content)

    def _mirror(self, memory_id: str, target: MemoryRecord, mirror: str) -> None:
        if target.id == memory_id:
            raise self._refusal(f"memory {memory_id} is linked to itself")
        linked = getattr(target.links, mirror)
        if memory_id not in linked:
            links = replace(target.links, **{mirror: (*linked, memory_id)})
            self._memories[target.id] = replace(target, links=links)
            self._touched[target.id] = None

    def _retire(self, operation: Retire) -> None:
        memory = self._at_revision(operation.memory_id, operation.expected_revision)
        if operation.state not in TRANSITIONS[memory.state]:
            raise self._refusal(f"memory {memory.id} is {memory.state} and cannot become {operation.state}")
        until = memory.valid_until if operation.valid_until is None else operation.valid_until
        if until is not None and until < memory.valid_from:
            raise self._refusal(f"memory {memory.id} would end before it begins")
        back = operation.state is State.CURRENT
        self._revise(
            replace(
                memory,
                state=operation.state,
                valid_until=until,
                retired_at=None if back else memory.retired_at or self._plan.at,
                revision=memory.revision + 1,
            ),
            operation.cause,
        )

    def _shorten(self, operation: Shorten) -> None:
        memory = self._at_revision(operation.memory_id, operation.expected_revision)
        if memory.state is State.CURRENT or not memory.state.was_true:
            raise self._refusal(f"memory {memory.id} is {memory.state}; only a past version is shortened")
        if not memory.valid_from <= operation.valid_until:
            raise self._refusal(f"memory {memory.id} would end before it begins")
        if memory.valid_until is not None and memory.valid_until <= operation.valid_until:
            raise self._refusal(f"memory {memory.id} ends no later than {operation.valid_until.isoformat()} already")
        self._revise(replace(memory, valid_until=operation.valid_until, revision=memory.revision + 1), "shorten")

    def _add_sources(self, operation: AddSources) -> None:
        memory = self._at_revision(operation.memory_id, operation.expected_revision)
        if memory.state is not State.CURRENT:
            raise self._refusal(f"memory {memory.id} is {memory.state}; only a current one gains sources")
        grown = tuple(dict.fromkeys((*memory.sources, *self._sources(memory.id, operation.sources))))
        if grown != memory.sources:
            self._revise(replace(memory, sources=grown, revision=memory.revision + 1), "repeat")

    def _add_job(self, job: Job) -> None:
        if job.id in self._jobs:
            return
        if job.scope != self._plan.scope:
            raise self._refusal(f"job {job.id} belongs to another scope")
        ids = tuple(dict.fromkeys(self._source_record(key).id for key in job.evidence_ids))
        self._jobs[job.id] = replace(job, evidence_ids=ids)
        self._moved_jobs[job.id] = None

    def _finish_job(self, job_id: str, token: str) -> None:
        job = self._jobs.get(job_id)
        if job is None or job.state is not JobState.CLAIMED or job.token != token:
            raise LeaseLostError(
                f"plan {self._plan.id}: job {job_id} is not claimed by its maker any more",
                remedy="nothing was written; whoever has claimed it since will finish it",
            )
        done = replace(job, state=JobState.DONE, owner=None, token=None, lease_until=None, error=None)
        self._jobs[job_id] = done
        self._moved_jobs[job_id] = None

    def _revise(self, memory: MemoryRecord, cause: str) -> None:
        self._memories[memory.id] = memory
        self._touched[memory.id] = None
        self._note(memory, cause)
        self._log(cause, memory.id)

    def _note(self, memory: MemoryRecord, cause: str) -> None:
        self._transitions.append(
            Transition(
                memory_id=memory.id,
                revision=memory.revision,
                state=memory.state,
                valid_until=memory.valid_until,
                muted_at=memory.muted_at,
                at=self._plan.at,
                cause=cause,
                plan_id=self._plan.id,
            )
        )

    def _index(self, operation: IndexRecord) -> None:
        if operation.unit is Unit.MEMORY:
            text = self._memory(operation.record_id).content
            record_id = operation.record_id
        else:
            record = self._source_record(operation.record_id)
            text, record_id = record.content, record.id
        for vector in operation.vectors:
            if not 0 <= vector.start < vector.end <= len(text):
                raise self._refusal(f"vector of {record_id} covers characters {vector.start}..{vector.end}")
            if not vector.data or len(vector.data) % 4 or not all(map(math.isfinite, array("f", vector.data))):
                raise self._refusal(f"vector of {record_id} is empty, torn or not finite")
            if len(vector.data) != len(operation.vectors[0].data):
                raise self._refusal(f"vectors of {record_id} differ in length")
        self._vectors.append(replace(operation, record_id=record_id))
