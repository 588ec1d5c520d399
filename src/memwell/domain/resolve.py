"""The meaning of a plan: which rows it adds or changes, or why it is refused. Pure; the same for every store."""

from __future__ import annotations

from dataclasses import replace

from memwell.domain.changes import BOTH_WAYS, MIRRORS, Changes
from memwell.domain.draft import refused_as_erased
from memwell.domain.evidence import Evidence, EvidenceStatus
from memwell.domain.governed import GovernedDraft
from memwell.domain.jobs import Job, JobState, after_erasure
from memwell.domain.memory import TRANSITIONS, Links, MemoryRecord, Source, State
from memwell.domain.named import Named
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
    RestoreMemory,
    Retire,
    Shorten,
    Unit,
)
from memwell.domain.shapes import fault_of_new, fault_of_restored, fault_of_vectors
from memwell.errors import EvidenceConflictError, LeaseLostError


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
    draft = _Resolution(plan, named)
    for operation in plan.operations:
        draft.take(operation)
    return draft.finish()


class _Resolution(GovernedDraft):
    def take(self, operation: Operation) -> None:
        match operation:
            case AddEvidence():
                self._add_evidence(operation)
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
            case RestoreMemory():
                self._restore(operation)
            case _:
                self.govern(operation)

    def finish(self) -> Changes:
        for grave in self._graves:
            self._check_grave(grave)
        if self._graves:
            self._free_jobs()
        for memory_id in self._restored:
            self._check_restored(self._memories[memory_id])
        for memory_id in self._created - self._restored:
            links = self._memories[memory_id].links
            for target in (*links.supersedes, *links.corrects):
                if self._memories[target].state is State.CURRENT:
                    raise self._refusal(f"memory {memory_id} replaces {target}, which stays current")
        return Changes(
            evidence=tuple(self._new_evidence),
            dependencies={
                key: made_of
                for key, made_of in self._dependencies.items()
                if self._evidence[key].status is not EvidenceStatus.ERASED
            },
            aliases=self._aliases,
            altered={evidence_id: self._evidence[evidence_id] for evidence_id in self._altered},
            memories={memory_id: self._memories[memory_id] for memory_id in self._touched},
            created=frozenset(self._created),
            reworded=frozenset(self._reworded),
            erased=frozenset(self._erased),
            transitions=tuple(self._transitions),
            vectors=tuple(self._vectors),
            formed=tuple(self._formed),
            graves=tuple(self._graves),
            buried=tuple(self._buried),
            receipts=tuple(self._receipts),
            entries=tuple(self._entries),
            jobs=tuple(self._jobs[job_id] for job_id in self._moved_jobs),
        )

    def _add_evidence(self, operation: AddEvidence) -> None:
        record = operation.evidence
        if record.scope != self._plan.scope:
            raise self._refusal(f"evidence {record.id} belongs to another scope")
        if not record.content:
            raise self._refusal(f"evidence {record.id} is empty")
        if record.id in self._named.buried:
            raise refused_as_erased(
                f"message {record.message_id}" if record.message_id else f"source {record.origin!r}"
            )
        known = self._origins.get(record.origin)
        if known is not None and known.scope == record.scope:
            self._send_again(record, self._evidence.get(known.id, known))
            return
        if record.id in self._evidence:
            raise self._refusal(f"evidence id {record.id} is taken")
        for key in operation.dependencies:
            self._depend(record, key)
        self._aliases[record.id] = record.id
        self._evidence[record.id] = record
        self._origins[record.origin] = record
        self._new_evidence.append(record)
        if operation.dependencies:
            self._dependencies[record.id] = operation.dependencies
        self._log("add_evidence", record.id, record.content)

    def _send_again(self, record: Evidence, known: Evidence) -> None:
        """The same source once more: the tighter permissions hold, and what was missing about it is filled in."""
        if known.content != record.content or known.speaker is not record.speaker:
            raise EvidenceConflictError(
                f"source {record.origin!r} was stored before with other content, as {known.id}",
                remedy="give the changed message a new id, or correct the memory instead",
            )
        self._aliases[record.id] = known.id
        self._evidence[known.id] = known
        fuller = replace(
            known,
            permissions=known.permissions.tightened(record.permissions),
            preceding=known.preceding or record.preceding,
        )
        if fuller != known:
            self._alter(fuller, "fill_in")

    def _depend(self, record: Evidence, key: str) -> None:
        memory, evidence = self._memories.get(key), self._evidence.get(key)
        found = memory or evidence
        if found is None or found.scope != self._plan.scope:
            raise self._refusal(f"evidence {record.id} depends on {key}, which is not in this scope")
        if (memory and memory.state is State.ERASED) or (evidence and evidence.status is EvidenceStatus.ERASED):
            raise refused_as_erased(f"{key}, on which {record.message_id or record.origin} depends,")

    def _sources(self, memory_id: str, sources: tuple[Source, ...], *, restored: bool = False) -> tuple[Source, ...]:
        resolved = []
        for source in sources:
            record = self._source_record(source.evidence_id)
            active = record.status is EvidenceStatus.ACTIVE or restored
            if not active or not record.speaker.supports_memories:
                raise self._refusal(f"memory {memory_id} cites {record.id} ({record.speaker}, {record.status})")
            if not 0 <= source.start < source.end <= len(record.content):
                raise self._refusal(f"memory {memory_id} cites characters {source.start}..{source.end} of {record.id}")
            resolved.append(replace(source, evidence_id=record.id))
        return tuple(dict.fromkeys(resolved))

    def _add_memory(self, memory: MemoryRecord) -> None:
        if memory.scope != self._plan.scope:
            raise self._refusal(f"memory {memory.id} belongs to another scope")
        if memory.id in self._memories or memory.id in self._named.buried:
            raise self._refusal(f"memory id {memory.id} is taken")
        fault = fault_of_new(memory)
        if fault is not None:
            raise self._refusal(f"memory {memory.id} {fault}")
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
        self._jobs[job_id] = replace(job, state=JobState.DONE, owner=None, token=None, lease_until=None, error=None)
        self._moved_jobs[job_id] = None

    def _free_jobs(self) -> None:
        lost = {grave.record_id for grave in self._graves}
        for job in self._named.jobs.values():
            about = [self._evidence[key] for key in job.evidence_ids if key in self._evidence]
            gone = all(record.status is EvidenceStatus.ERASED for record in about)
            self._jobs[job.id] = after_erasure(job, lost, gone, self._plan.at)
            self._moved_jobs[job.id] = None

    def _restore(self, operation: RestoreMemory) -> None:
        memory = operation.memory
        if memory.scope != self._plan.scope or memory.id in self._memories or memory.id in self._named.buried:
            raise self._refusal(f"memory id {memory.id} is taken, erased or of another scope")
        fault = fault_of_restored(memory, operation.transitions)
        if fault is not None:
            raise self._refusal(f"memory {memory.id} {fault}")
        stored = replace(memory, sources=self._sources(memory.id, memory.sources, restored=True))
        self._memories[memory.id] = stored
        self._created.add(memory.id)
        self._restored.add(memory.id)
        self._touched[memory.id] = None
        self._transitions.extend(operation.transitions)
        self._log("restore_memory", memory.id, memory.content)

    def _check_restored(self, memory: MemoryRecord) -> None:
        """Both ends of every link of a restored memory must say so."""
        for name in Links.__slots__:
            for other_id in getattr(memory.links, name):
                other = self._memory(other_id)
                if name in BOTH_WAYS and memory.id not in getattr(other.links, BOTH_WAYS[name]):
                    raise self._refusal(f"memory {memory.id} {name} {other_id}, which does not say so")

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

    def _index(self, operation: IndexRecord) -> None:
        if operation.unit is Unit.MEMORY:
            text = self._memory(operation.record_id).content
            record_id = operation.record_id
        else:
            record = self._source_record(operation.record_id)
            text, record_id = record.content, record.id
        fault = fault_of_vectors(operation, text)
        if fault is not None:
            raise self._refusal(f"a vector of {record_id} {fault}")
        self._vectors.append(replace(operation, record_id=record_id))
