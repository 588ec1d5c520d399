"""Port: what governing needs to know about one scope, within a ``View``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from memwell.domain.command import Command, Receipt
from memwell.domain.evidence import Evidence
from memwell.domain.memory import MemoryRecord
from memwell.domain.plan import KeepReceipt
from memwell.domain.tombstone import Tombstone
from memwell.engine.queries import EvidenceQuery


class Traces(Protocol):
    """Where the words of one scope's records have gone, and what was done to them. Erased records are left out."""

    def evidence(self, session_id: str | None = None) -> list[Evidence]:
        """All evidence of the scope, or of one session, in the order it was stored."""

    def page(self, query: EvidenceQuery) -> list[Evidence]:
        """Up to ``query.limit`` sources in order."""

    def memories(self) -> list[MemoryRecord]:
        """All memories of the scope, in the order they were stored."""

    def originating(self, prefix: str) -> list[Evidence]:
        """Evidence whose origin begins with ``prefix``, withdrawn evidence too."""

    def citing(self, evidence_ids: Iterable[str]) -> list[MemoryRecord]:
        """Memories that rest on any of this evidence."""

    def derived(self, memory_ids: Iterable[str]) -> list[MemoryRecord]:
        """Memories derived from any of these."""

    def dependents(self, ids: Iterable[str]) -> list[Evidence]:
        """Evidence that was declared to be made from any of these memories or evidence records."""

    def dependencies(self) -> Mapping[str, tuple[str, ...]]:
        """What each evidence record was declared to be made from, where anything."""

    def copies(self, clauses: Sequence[str]) -> list[Evidence]:
        """Words of assistants, and evidence that keeps some, that hold one of ``clauses``, made by ``clauses.plain``.

        In the order they were stored.
        """

    def replies(self, terms: Sequence[str]) -> list[Evidence]:
        """Words of assistants whose index has all ``terms``, as made by ``text.terms``."""

    def mentioning(self, terms: Sequence[str]) -> tuple[list[MemoryRecord], list[Evidence]]:
        """Memories and evidence whose index has all ``terms``, as made by ``text.terms``."""

    def forming(self, since: datetime) -> list[str]:
        """Ids of evidence stored at or after ``since`` from which memories may be formed and have not been.

        What a job that nobody has claimed is about is left out: it has not been read yet.
        """

    def formed(self) -> frozenset[str]:
        """Ids of the evidence from which memories have been formed."""

    def tombstones(self) -> list[Tombstone]:
        """What was erased, by id of the record."""

    def receipt(self, command_id: str) -> Receipt | None:
        """The receipt of that command, its hash checked.

        Raises:
            ReceiptError: the stored receipt does not match its hash.
        """

    def receipts(self) -> list[KeepReceipt]:
        """All receipts by command id, each as another store would keep it."""

    def answered(self, command: Command) -> Receipt | None:
        """The receipt of a command that was carried out before.

        Raises:
            CommandConflictError: its id was used for another command.
        """
