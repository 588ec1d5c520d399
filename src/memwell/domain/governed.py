"""What the operations of governing do to a draft: permissions, muting, support, erasing, receipts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memwell.domain.changes import Grave
from memwell.domain.draft import Draft, refused_as_erased
from memwell.domain.erasing import blacked_out, erased_evidence, erased_memory, permitted
from memwell.domain.evidence import EvidenceStatus
from memwell.domain.memory import Source, Span, State
from memwell.domain.plan import (
    Bury,
    EraseEvidence,
    EraseMemory,
    KeepReceipt,
    Mute,
    Operation,
    Permit,
    Redact,
    Unit,
    Unsupport,
    Withdraw,
)
from memwell.domain.support import resting_on_rest
from memwell.errors import PreconditionError


class GovernedDraft(Draft):
    """A draft that these operations change."""

    def govern(self, operation: Operation) -> None:
        match operation:
            case KeepReceipt(receipt=receipt):
                self._receipts.append(operation)
                self._log("keep_receipt", receipt.command_id)
            case Mute():
                self._mute(operation)
            case Permit():
                self._permit(operation)
            case Withdraw(evidence_id=evidence_id):
                self._withdraw(evidence_id)
            case Unsupport():
                self._unsupport(operation)
            case EraseMemory():
                self._erase_memory(operation)
            case EraseEvidence() | Redact():
                self._erase_words(operation)
            case Bury(tombstone=tombstone):
                self._buried.append(tombstone)
                self._log("bury", tombstone.record_id)

    def _mute(self, operation: Mute) -> None:
        memory = self._at_revision(operation.memory_id, operation.expected_revision)
        if memory.state is State.ERASED:
            raise refused_as_erased(f"memory {memory.id}")
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

    def _unsupport(self, operation: Unsupport) -> None:
        memory = self._at_revision(operation.memory_id, operation.expected_revision)
        left = resting_on_rest(memory, lambda source: source.evidence_id in operation.lost, self._evidence)
        if left is None:
            raise PreconditionError(
                f"plan {self._plan.id}: nothing that is left says what memory {memory.id} does",
                remedy="read what rests on it again and repeat",
            )
        if left.content != memory.content:
            self._reworded.add(memory.id)
        for key in {source.evidence_id for source in memory.sources}.intersection(operation.lost):
            self._dependencies[key] = (*self._dependencies.get(key, ()), memory.id)
        self._revise(replace(left, revision=memory.revision + 1), "unsupport")

    def _erase_memory(self, operation: EraseMemory) -> None:
        memory = self._at_revision(operation.memory_id, operation.expected_revision)
        if memory.state is State.ERASED:
            raise refused_as_erased(f"memory {memory.id}")
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


def _within(source: Source, spans: Sequence[Span]) -> bool:
    return any(source.start < span.end and span.start < source.end for span in spans)
