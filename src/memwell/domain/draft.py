"""A plan on the way to its changes: the records as its operations have left them so far, and what is to be written."""

from __future__ import annotations

from memwell.domain.changes import Entry, Grave
from memwell.domain.evidence import Evidence, EvidenceStatus
from memwell.domain.memory import MemoryRecord, Transition
from memwell.domain.named import Named
from memwell.domain.plan import IndexRecord, KeepReceipt, Plan
from memwell.domain.tombstone import Tombstone
from memwell.errors import ErasedSourceError, PlanRejectedError, PreconditionError


class Draft:
    """What every operation reads and writes; ``resolve`` adds the operations."""

    def __init__(self, plan: Plan, named: Named) -> None:
        self._plan = plan
        self._named = named
        self._memories = dict(named.memories)
        self._evidence = dict(named.evidence)
        self._origins = dict(named.origins)
        self._jobs = dict(named.jobs)
        self._moved_jobs: dict[str, None] = {}
        self._new_evidence: list[Evidence] = []
        self._dependencies: dict[str, tuple[str, ...]] = {}
        self._altered: dict[str, None] = {}
        self._erased: set[str] = set()
        self._graves: list[Grave] = []
        self._buried: list[Tombstone] = []
        self._aliases: dict[str, str] = {}
        self._touched: dict[str, None] = {}
        self._created: set[str] = set()
        self._restored: set[str] = set()
        self._receipts: list[KeepReceipt] = []
        self._transitions: list[Transition] = []
        self._vectors: list[IndexRecord] = []
        self._reworded: set[str] = set()
        self._formed: dict[str, None] = {}
        self._entries: list[Entry] = []

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
            raise refused_as_erased(f"evidence {evidence_id}")
        return record

    def _at_revision(self, memory_id: str, expected: int) -> MemoryRecord:
        memory = self._memory(memory_id)
        if memory.revision != expected:
            raise PreconditionError(
                f"plan {self._plan.id}: memory {memory_id} is at revision {memory.revision}, not {expected}",
                remedy="read it again and repeat",
            )
        return memory

    def _revise(self, memory: MemoryRecord, cause: str) -> None:
        self._memories[memory.id] = memory
        self._touched[memory.id] = None
        self._note(memory, cause)
        self._log(cause, memory.id)

    def _alter(self, record: Evidence, cause: str) -> None:
        self._evidence[record.id] = record
        self._altered[record.id] = None
        self._log(cause, record.id)

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


def refused_as_erased(what: str) -> ErasedSourceError:
    return ErasedSourceError(f"{what} was erased", remedy="leave it out; what was erased never comes back")
