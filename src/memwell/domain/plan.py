"""Plans: every change to memory as a frozen list of operations with preconditions.

``resolve`` is the meaning of a plan: a pure function from a plan and the records it names to the rows that change.
Stores load the records, call it inside their transaction and write what it returns, so that no rule exists twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from memwell.domain.evidence import Evidence
from memwell.domain.jobs import Job
from memwell.domain.memory import MemoryRecord, Source, State
from memwell.domain.scope import Scope


class Unit(StrEnum):
    """What an index row stands for."""

    MEMORY = "memory"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class AddEvidence:
    """Store one evidence record. Same origin and bytes: the stored one is kept; other bytes are refused."""

    evidence: Evidence


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
    """Embedding of one window of a record's text: little-endian float32, L2-normalised, and its character range."""

    start: int
    end: int
    data: bytes


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """Set a record's vectors for one embedding model; replaces earlier ones of any model."""

    unit: Unit
    record_id: str
    model: str
    vectors: tuple[Vector, ...]


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


Operation = AddEvidence | AddMemory | Retire | Shorten | AddSources | IndexRecord | MarkFormed | AddJob | FinishJob


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
    """

    id: str
    scope: Scope
    at: datetime
    operations: tuple[Operation, ...]
    expected_epoch: int | None = None
    request: Request | None = None
    outcome: Mapping[str, Any] | None = None
    lock: str | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What ``Store.apply`` did.

    Attributes:
        seq: ledger sequence of the plan's last entry.
        epoch: the scope's epoch afterwards; it grows with every change of what is current.
        replayed: nothing was done, since this plan or its request had been applied before.
        evidence: proposed evidence id → id of the stored record (another one where the origin was known).
    """

    plan_id: str
    seq: int
    epoch: int
    replayed: bool
    evidence: Mapping[str, str]
