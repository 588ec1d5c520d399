"""What a search finds: memories with their quotes and relations, and raw evidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memwell.domain.evidence import Evidence
from memwell.domain.memory import Kind, MemoryRecord, State


@dataclass(frozen=True, slots=True)
class Quote:
    """The words of one source that a memory rests on."""

    evidence_id: str
    message_id: str | None
    session_id: str
    speaker: str
    name: str | None
    said_at: datetime
    start: int
    end: int
    text: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "evidence_id": self.evidence_id,
            "message_id": self.message_id,
            "session_id": self.session_id,
            "speaker": self.speaker,
            "name": self.name,
            "said_at": self.said_at.isoformat(),
            "start": self.start,
            "end": self.end,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class PendingCorrection:
    """Words that correct something and have not taken effect yet.

    Attributes:
        reason: ``forming`` where they wait for their memory to be formed, else see ``waiting.Waiting``.
        correction_status: ``pending``, or ``ambiguous`` where it is not certain which memory they correct.
        memory_ids: what they correct; what they may correct where that is ambiguous.
        preceding: the words before them that they correct, where those are certain.
    """

    evidence_id: str
    session_id: str
    said_at: datetime
    text: str
    reason: str
    correction_status: str
    memory_ids: tuple[str, ...]
    preceding: Quote | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "evidence_id": self.evidence_id,
            "session_id": self.session_id,
            "said_at": self.said_at.isoformat(),
            "text": self.text,
            "reason": self.reason,
            "correction_status": self.correction_status,
            "memory_ids": list(self.memory_ids),
            "preceding": self.preceding and self.preceding.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One found memory with its provenance and one hop of relations.

    Attributes:
        score: rank score within its group, 0..1; not comparable across groups.
        previous: what it superseded, and older reports behind it.
        conflicts: other standing memories that contradict it.
        correction_status: ``pending`` or ``ambiguous`` where ``SearchResult.pending`` holds what may correct it.
    """

    memory: MemoryRecord
    score: float
    quotes: tuple[Quote, ...]
    previous: tuple[MemoryRecord, ...] = ()
    conflicts: tuple[MemoryRecord, ...] = ()
    correction_status: str | None = None

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def content(self) -> str:
        return self.memory.content

    @property
    def kind(self) -> Kind:
        return self.memory.kind

    @property
    def state(self) -> State:
        return self.memory.state

    @property
    def evidence_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source.evidence_id for source in self.memory.sources))

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.memory.to_dict(),
            "score": round(self.score, 6),
            "quotes": [quote.to_dict() for quote in self.quotes],
            "previous": [memory.to_dict() for memory in self.previous],
            "conflicts": [memory.to_dict() for memory in self.conflicts],
            "correction_status": self.correction_status,
        }


@dataclass(frozen=True, slots=True)
class RawItem:
    """One verbatim evidence record found, and the window of it that matched best."""

    evidence: Evidence
    score: float
    start: int
    end: int

    @property
    def id(self) -> str:
        return self.evidence.id

    @property
    def content(self) -> str:
        return self.evidence.content[self.start : self.end]

    def to_dict(self) -> dict[str, Any]:
        return {**self.evidence.to_dict(), "score": round(self.score, 6), "start": self.start, "end": self.end}
