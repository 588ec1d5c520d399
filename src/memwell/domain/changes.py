"""What a plan changes: rows added, changed and erased, the lines of the ledger, and the receipt. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from memwell.domain.command import Outcome, Receipt
from memwell.domain.evidence import Evidence
from memwell.domain.jobs import Job
from memwell.domain.memory import MemoryRecord, Span, Transition
from memwell.domain.plan import IndexRecord, KeepReceipt, Plan, Unit
from memwell.domain.tombstone import Tombstone, source_hashes

# Each link of a new memory and its mirror on the other end.
MIRRORS: Mapping[str, str] = {
    "supersedes": "superseded_by",
    "superseded_by": "supersedes",
    "corrects": "corrected_by",
    "conflicts_with": "conflicts_with",
}


# The same for every link that has a mirror, from either end.
BOTH_WAYS: Mapping[str, str] = {**MIRRORS, "corrected_by": "corrects"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One ledger line: what was done to which record; ``content`` is hashed by the store, never kept."""

    operation: str
    record_id: str
    content: str


@dataclass(frozen=True, slots=True)
class Grave:
    """A record that loses words: the store keeps a tombstone of it with keyed hashes of ``source``.

    Attributes:
        spans: what is blacked out of a source that stays; ``None`` where the record goes altogether.
        source: the evidence as it was, or ``None`` for a memory.
    """

    record_id: str
    unit: Unit
    at: datetime
    spans: tuple[Span, ...] | None
    source: Evidence | None

    def tombstone(self, key: bytes) -> Tombstone:
        """What is kept of it, with hashes made with ``key``."""
        if self.source is None:
            return Tombstone(self.record_id, self.unit, self.at, self.spans)
        return Tombstone(self.record_id, self.unit, self.at, self.spans, *source_hashes(self.source, key), key)


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows that a plan adds or changes.

    Attributes:
        evidence: records to insert; ``aliases`` maps each proposed evidence id to the stored one.
        dependencies: what evidence is made from besides what it was made from before, by its id.
        altered: final rows of stored evidence that changes; what cites it must be seen anew.
        memories: final rows, new ones (ids in ``created``) and changed ones, sources and links included.
        reworded: ids among ``memories`` whose old words leave the keyword index, the vectors and the file.
        erased: ids among ``memories`` whose sources, and states in all earlier transitions, go.
        transitions: one per changed revision of a memory's mutable fields.
        graves: records whose old words leave the keyword index, the vectors, the journal of requests and the file.
        buried: tombstones of another store to keep; ``receipts`` likewise.
        jobs: final rows of jobs, new ones and finished ones.
        moves_epoch: whether what is current in the scope, or what may be read of it, changes.
    """

    evidence: tuple[Evidence, ...]
    dependencies: Mapping[str, tuple[str, ...]]
    aliases: Mapping[str, str]
    altered: Mapping[str, Evidence]
    memories: Mapping[str, MemoryRecord]
    created: frozenset[str]
    reworded: frozenset[str]
    erased: frozenset[str]
    transitions: tuple[Transition, ...]
    vectors: tuple[IndexRecord, ...]
    formed: tuple[str, ...]
    graves: tuple[Grave, ...]
    buried: tuple[Tombstone, ...]
    receipts: tuple[KeepReceipt, ...]
    entries: tuple[Entry, ...]
    jobs: tuple[Job, ...] = ()

    @property
    def moves_epoch(self) -> bool:
        return bool(self.memories or self.altered)


def receipt_of(plan: Plan, changes: Changes, seq: int) -> Receipt | None:
    """The receipt of the command that ``plan`` carries out, if any; ``seq`` is its last line in the ledger."""
    command = plan.command
    if command is None:
        return None
    changed: dict[str, list[str]] = {}
    for entry in changes.entries:
        changed.setdefault(entry.operation, []).append(entry.record_id)
    return Receipt(
        command_id=command.id,
        scope=plan.scope,
        actor=command.actor,
        operation=command.operation,
        outcome=Outcome.APPLIED if changes.entries else Outcome.NO_CHANGE,
        submitted_at=plan.at,
        plan_id=plan.id,
        seq=seq,
        targets=command.targets,
        changed={name: tuple(dict.fromkeys(ids)) for name, ids in changed.items()},
        details=command.details,
    )
