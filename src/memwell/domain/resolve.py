"""The meaning of a plan: which rows it adds or changes, or why it is refused. Pure; the same for every store."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import replace

from memwell.domain.changes import MIRRORS, Changes, Entry, Grave
from memwell.domain.erasing import blacked_out, erased_evidence, erased_memory, permitted
from memwell.domain.evidence import Evidence, EvidenceStatus
from memwell.domain.memory import TRANSITIONS, Kind, MemoryRecord, Source, Span, State, Transition
from memwell.domain.named import Named
from memwell.domain.plan import (
    AddEvidence,
    AddMemory,
    AddSources,
    Bury,
    EraseEvidence,
    EraseMemory,
    IndexRecord,
    MarkFormed,
    Mute,
    Operation,
    Permit,
    Plan,
    Redact,
    Retire,
    Shorten,
    Unit,
    Withdraw,
)
from memwell.domain.tombstone import Tombstone
from memwell.errors import ErasedSourceError, EvidenceConflictError, PlanRejectedError, PreconditionError


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
        self._named = named
        self._memories = dict(named.memories)
        self._evidence = dict(named.evidence)
        self._origins = dict(named.origins)
        self._new_evidence: list[Evidence] = []
        self._dependencies: dict[str, tuple[str, ...]] = {}
        self._altered: dict[str, None] = {}
        self._erased: set[str] = set()
        self._graves: list[Grave] = []
        self._buried: list[Tombstone] = []
        self._aliases: dict[str, str] = {}
        self._touched: dict[str, None] = {}
        self._created: set[str] = set()
        self._transitions: list[Transition] = []
        self._vectors: list[IndexRecord] = []
        self._formed: dict[str, None] = {}
        self._entries: list[Entry] = []

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
            case _:
                self._govern(operation)

    def _govern(self, operation: Operation) -> None:
        match operation:
            case Mute():
                self._mute(operation)
            case Permit():
                self._permit(operation)
            case Withdraw(evidence_id=evidence_id):
                self._withdraw(evidence_id)
            case EraseMemory():
                self._erase_memory(operation)
            case EraseEvidence() | Redact():
                self._erase_words(operation)
            case Bury(tombstone=tombstone):
                self._buried.append(tombstone)
                self._log("bury", tombstone.record_id)

    def finish(self) -> Changes:
        for grave in self._graves:
            self._check_grave(grave)
        for memory_id in self._created:
            links = self._memories[memory_id].links
            for target in (*links.supersedes, *links.corrects):
                if self._memories[target].state is State.CURRENT:
                    raise self._refusal(f"memory {memory_id} replaces {target}, which stays current")
        return Changes(
            evidence=tuple(self._new_evidence),
            dependencies=self._dependencies,
            aliases=self._aliases,
            altered={evidence_id: self._evidence[evidence_id] for evidence_id in self._altered},
            memories={memory_id: self._memories[memory_id] for memory_id in self._touched},
            created=frozenset(self._created),
            erased=frozenset(self._erased),
            transitions=tuple(self._transitions),
            vectors=tuple(self._vectors),
            formed=tuple(self._formed),
            graves=tuple(self._graves),
            buried=tuple(self._buried),
            entries=tuple(self._entries),
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
        if record.status is EvidenceStatus.ERASED:
            raise _erased(f"evidence {evidence_id}")
        return record

    def _at_revision(self, memory_id: str, expected: int) -> MemoryRecord:
        memory = self._memory(memory_id)
        if memory.revision != expected:
            raise PreconditionError(
                f"plan {self._plan.id}: memory {memory_id} is at revision {memory.revision}, not {expected}",
                remedy="read it again and repeat",
            )
        return memory

    def _add_evidence(self, operation: AddEvidence) -> None:
        record = operation.evidence
        if record.scope != self._plan.scope:
            raise self._refusal(f"evidence {record.id} belongs to another scope")
        if not record.content:
            raise self._refusal(f"evidence {record.id} is empty")
        if record.id in self._named.buried:
            raise _erased(f"message {record.message_id}" if record.message_id else f"source {record.origin!r}")
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
            raise _erased(f"{key}, on which {record.message_id or record.origin} depends,")

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
        if memory.id in self._memories or memory.id in self._named.buried:
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

    def _mute(self, operation: Mute) -> None:
        memory = self._at_revision(operation.memory_id, operation.expected_revision)
        if memory.state is State.ERASED:
            raise _erased(f"memory {memory.id}")
        if (memory.muted_at is not None) != operation.muted:
            muted_at = self._plan.at if operation.muted else None
            cause = "mute" if operation.muted else "unmute"
            self._revise(replace(memory, muted_at=muted_at, revision=memory.revision + 1), cause)

    def _permit(self, operation: Permit) -> None:
        record = self._source_record(operation.evidence_id)
        if record.permissions != operation.expected:
            raise PreconditionError(
                f"plan {self._plan.id}: the permissions of {record.id} have changed", remedy="read it again and repeat"
            )
        changed = permitted(record, operation.permissions, self._plan.at)
        if changed.permissions != record.permissions:
            self._alter(changed, "permit")

    def _withdraw(self, evidence_id: str) -> None:
        record = self._source_record(evidence_id)
        if record.status is EvidenceStatus.ACTIVE:
            self._alter(replace(record, status=EvidenceStatus.WITHDRAWN), "withdraw")

    def _erase_memory(self, operation: EraseMemory) -> None:
        memory = self._at_revision(operation.memory_id, operation.expected_revision)
        if memory.state is State.ERASED:
            raise _erased(f"memory {memory.id}")
        self._erased.add(memory.id)
        self._graves.append(Grave(memory.id, Unit.MEMORY, self._plan.at, None, None))
        self._revise(erased_memory(memory, self._plan.at), "erase")

    def _erase_words(self, operation: EraseEvidence | Redact) -> None:
        record = self._source_record(operation.evidence_id)
        if isinstance(operation, EraseEvidence):
            self._graves.append(Grave(record.id, Unit.EVIDENCE, self._plan.at, None, record))
            self._alter(erased_evidence(record), "erase")
            return
        if any(span.end > len(record.content) for span in operation.spans):
            raise self._refusal(f"evidence {record.id} has no characters up to {operation.spans[-1].end}")
        preceding = None if operation.preceding else record.preceding
        content = blacked_out(record.content, operation.spans)
        self._graves.append(Grave(record.id, Unit.EVIDENCE, self._plan.at, operation.spans, record))
        self._alter(replace(record, content=content, preceding=preceding), "redact")

    def _check_grave(self, grave: Grave) -> None:
        """No memory stays that rests on words which go."""
        for memory_id in self._named.citing.get(grave.record_id, ()):
            cited = [source for source in self._memories[memory_id].sources if source.evidence_id == grave.record_id]
            if any(grave.spans is None or _within(source, grave.spans) for source in cited):
                raise PreconditionError(
                    f"plan {self._plan.id}: memory {memory_id} rests on words of {grave.record_id} that go",
                    remedy="read what rests on it again and repeat",
                )

    def _alter(self, record: Evidence, cause: str) -> None:
        self._evidence[record.id] = record
        self._altered[record.id] = None
        self._log(cause, record.id)

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


def _within(source: Source, spans: Sequence[Span]) -> bool:
    return any(source.start < span.end and span.start < source.end for span in spans)


def _erased(what: str) -> ErasedSourceError:
    return ErasedSourceError(f"{what} was erased", remedy="leave it out; what was erased never comes back")
