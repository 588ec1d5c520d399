"""Plans: every change to memory as a frozen list of operations with preconditions.

``resolve`` is the meaning of a plan: a pure function from a plan and the records it names to the rows that change.
Stores load the records, call it inside their transaction and write what it returns, so that no rule exists twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memwell.domain.command import Command, Receipt
from memwell.domain.evidence import Evidence, Permissions
from memwell.domain.jobs import Job
from memwell.domain.memory import MemoryRecord, Source, Span, State, Transition
from memwell.domain.scope import Scope
from memwell.domain.tombstone import Tombstone
from memwell.domain.unit import Unit as Unit  # plans speak of units, so they hand the word on


@dataclass(frozen=True, slots=True)
class AddEvidence:
    """Store one evidence record. Same origin and bytes: the stored one is kept; other bytes are refused.

    Attributes:
        dependencies: ids of the memories and evidence that it was made from, for a reply of an assistant; what is
            erased takes the replies made from it along.
    """

    evidence: Evidence
    dependencies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AddMemory:
    """Store one new version; what its links supersede or correct must be retired by this plan or an earlier one."""

    memory: MemoryRecord


@dataclass(frozen=True, slots=True)
class Retire:
    """Take a memory out of the current view, at the revision the plan was made against.

    Attributes:
        valid_until: new end of validity, or ``None`` to leave it.
        cause: content-free word for the log: ``"override"``, ``"negate"``, ``"delete"`` …
    """

    memory_id: str
    expected_revision: int
    state: State
    cause: str
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Shorten:
    """End the validity of a past version earlier: a report arrived that stands between it and the next version."""

    memory_id: str
    expected_revision: int
    valid_until: datetime


@dataclass(frozen=True, slots=True)
class AddSources:
    """Grow the source list of a current memory: the same thing was said again."""

    memory_id: str
    expected_revision: int
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Vector:
    """Embedding of one window of a record's text: little-endian float32, L2-normalised, and its character range.

    Attributes:
        words: codes of the window's telling words, see ``ports.WordEmbedder``; ``None`` where the embedder makes none.
    """

    start: int
    end: int
    data: bytes
    words: bytes | None = None


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """Set a record's vectors for one embedding model; replaces earlier ones of any model."""

    unit: Unit
    record_id: str
    model: str
    vectors: tuple[Vector, ...]

    @property
    def words(self) -> bytes | None:
        """The codes of the words of all windows, end to end; ``None`` where a window has none made."""
        made = [vector.words for vector in self.vectors if vector.words is not None]
        return b"".join(made) if len(made) == len(self.vectors) else None


@dataclass(frozen=True, slots=True)
class MarkFormed:
    """Note that memories have been formed from these evidence records, so a re-sent source forms nothing twice."""

    evidence_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddJob:
    """Have memories formed from evidence later. A job whose id is known is kept as it is."""

    job: Job


@dataclass(frozen=True, slots=True)
class FinishJob:
    """The job is done by this plan; refused where the claim that ``token`` proves is lost."""

    job_id: str
    token: str


@dataclass(frozen=True, slots=True)
class Permit:
    """Set what may be done with evidence, if it is permitted as the plan was made against.

    A permission set earlier than the one in force changes nothing; of two set at one moment the tighter of each holds.
    """

    evidence_id: str
    permissions: Permissions
    expected: Permissions


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Take evidence back: what still rests on it is read no more. Its words stay until they are erased."""

    evidence_id: str


@dataclass(frozen=True, slots=True)
class Mute:
    """Keep a memory from being recalled, or let it be recalled again; it stays as current as it is."""

    memory_id: str
    expected_revision: int
    muted: bool


@dataclass(frozen=True, slots=True)
class Unsupport:
    """Take messages from the sources of a memory that goes on in the words of others: see ``support.resting_on_rest``.

    What is not erased by the same plan is kept as made from the memory, so that forgetting the memory still takes it.

    Attributes:
        lost, left: ids of the evidence that it cites; ``lost`` goes.
    """

    memory_id: str
    expected_revision: int
    lost: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EraseMemory:
    """Remove every word of a memory for good; its id stays as a tombstone."""

    memory_id: str
    expected_revision: int


@dataclass(frozen=True, slots=True)
class EraseEvidence:
    """Remove every word of a source for good; its id and keyed hashes of where it came from stay as a tombstone."""

    evidence_id: str


@dataclass(frozen=True, slots=True)
class Redact:
    """Black out parts of a source for good, since other memories rest on the rest of it.

    Attributes:
        spans: characters to black out; the text keeps its length, so other sources stay where they are.
        preceding: also drop the assistant turn kept with it.
    """

    evidence_id: str
    spans: tuple[Span, ...] = ()
    preceding: bool = False


@dataclass(frozen=True, slots=True)
class Bury:
    """Take over a tombstone of another store: what it names can never come in here."""

    tombstone: Tombstone


@dataclass(frozen=True, slots=True)
class RestoreMemory:
    """Take over a memory of another store as it is, with the transitions of its life; its links must fit."""

    memory: MemoryRecord
    transitions: tuple[Transition, ...]


@dataclass(frozen=True, slots=True)
class KeepReceipt:
    """Take over a receipt of another store; ``input_hash`` was made with ``hash_key``."""

    receipt: Receipt
    input_hash: bytes
    hash_key: bytes


Operation = (
    AddEvidence
    | AddMemory
    | Retire
    | Shorten
    | AddSources
    | IndexRecord
    | MarkFormed
    | AddJob
    | FinishJob
    | Permit
    | Withdraw
    | Mute
    | Unsupport
    | EraseMemory
    | EraseEvidence
    | Redact
    | Bury
    | RestoreMemory
    | KeepReceipt
)


@dataclass(frozen=True, slots=True)
class Request:
    """A caller's idempotency key and a digest of what was asked under it."""

    id: str
    input_hash: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A frozen list of operations with preconditions; ``Store.apply`` is the only way to carry one out.

    Attributes:
        id: unique; applying the same id twice equals applying it once.
        at: transaction time (UTC) of everything the plan changes.
        expected_epoch: epoch of the scope the plan was made against, or ``None`` where the plan does not
            depend on what else is there.
        request: with it, the plan is also idempotent by the caller's own id.
        outcome: JSON-able answer to journal for ``request``; ids and numbers only, no user text.
        lock: token of the scope lock the planner holds, if any.
        command: the act of a person or host that it carries out; the store keeps a receipt of it.
    """

    id: str
    scope: Scope
    at: datetime
    operations: tuple[Operation, ...]
    expected_epoch: int | None = None
    request: Request | None = None
    outcome: Mapping[str, Any] | None = None
    lock: str | None = None
    command: Command | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What ``Store.apply`` did.

    Attributes:
        seq: ledger sequence of the plan's last entry.
        epoch: the scope's epoch afterwards; it grows with every change of what is current.
        replayed: nothing was done, since this plan or its request had been applied before.
        evidence: proposed evidence id → id of the stored record (another one where the origin was known).
        receipt: of ``Plan.command``; the first one where it is replayed.
    """

    plan_id: str
    seq: int
    epoch: int
    replayed: bool
    evidence: Mapping[str, str]
    receipt: Receipt | None = None
