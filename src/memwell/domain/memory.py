"""Memory: one immutable version, its states, and which transitions are legal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from memwell.domain.scope import Boundary, Scope
from memwell.errors import InputError


class Layer(StrEnum):
    FACT = "L1_FACT"
    PROFILE = "L2_PROFILE"
    DERIVED = "L3_DERIVED"


class Kind(StrEnum):
    FACT = "fact"
    EVENT = "event"
    PREFERENCE = "preference"
    STATE = "state"
    IDENTITY = "identity"
    RELATIONSHIP = "relationship"
    INTENTION = "intention"
    PROCEDURE = "procedure"
    ENTITY = "entity"
    ASSESSMENT = "assessment"
    SCHEMA = "schema"
    CORE_SCHEMA = "core_schema"
    PERSONA = "persona"
    SUMMARY = "summary"

    @property
    def layer(self) -> Layer:
        if self in (Kind.PREFERENCE, Kind.STATE, Kind.IDENTITY, Kind.RELATIONSHIP):
            return Layer.PROFILE
        if self in (Kind.SCHEMA, Kind.CORE_SCHEMA, Kind.PERSONA, Kind.SUMMARY):
            return Layer.DERIVED
        return Layer.FACT


class Polarity(StrEnum):
    POSITIVE = "positive"
    NEGATIVE = "negative"


class FormedBy(StrEnum):
    STATED = "stated"
    CONFIRMED = "confirmed"
    OBSERVED = "observed"
    DERIVED = "derived"
    IMPORTED = "imported"


class State(StrEnum):
    """``current`` is what search returns by default; all others are left by a transition or set at birth."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    HISTORICAL = "historical"
    ENDED = "ended"
    RETRACTED = "retracted"
    ARCHIVED = "archived"
    ERASED = "erased"

    @property
    def was_true(self) -> bool:
        """True where the statement held for some period, so ``as_of`` may return it."""
        return self in (State.CURRENT, State.SUPERSEDED, State.HISTORICAL, State.ENDED)


TRANSITIONS: Mapping[State, frozenset[State]] = {
    State.CURRENT: frozenset({State.SUPERSEDED, State.ENDED, State.RETRACTED, State.ARCHIVED, State.ERASED}),
    State.SUPERSEDED: frozenset({State.RETRACTED, State.ERASED}),
    State.HISTORICAL: frozenset({State.RETRACTED, State.ARCHIVED, State.ERASED}),
    State.ENDED: frozenset({State.SUPERSEDED, State.RETRACTED, State.ARCHIVED, State.ERASED}),
    State.RETRACTED: frozenset({State.ERASED}),
    State.ARCHIVED: frozenset({State.CURRENT, State.RETRACTED, State.ERASED}),
    State.ERASED: frozenset(),
}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open character range ``[start, end)`` of a text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise InputError(f"span {self.start}..{self.end} is empty or negative", remedy="give 0 <= start < end")

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Source:
    """The part of one evidence record that a memory rests on, with the time it was said."""

    evidence_id: str
    start: int
    end: int
    said_at: datetime

    def to_dict(self) -> dict[str, Any]:
        return {
            "evidence_id": self.evidence_id,
            "start": self.start,
            "end": self.end,
            "said_at": self.said_at.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class Links:
    """Ids of related memories. ``supersedes``/``superseded_by`` and the like are mutual."""

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    corrects: tuple[str, ...] = ()
    corrected_by: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, list[str]]:
        return {name: list(getattr(self, name)) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Formation:
    """How a memory came to be: which decision, by which extractor and judge (name and version)."""

    action: str
    reason: str
    confidence: float
    extractor: str
    judge: str
    targets: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "action": self.action,
            "reason": self.reason,
            "confidence": self.confidence,
            "extractor": self.extractor,
            "judge": self.judge,
            "targets": list(self.targets),
        }


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """One version of one memory.

    Attributes:
        subject: ``"user"`` only where the user spoke of themself; otherwise the name or role of who it is about.
        memory_at: when it was said or happened.
        occurred_at: event time, only where the source states one unambiguous date; else ``time_expression``
            holds the source's own phrase.
        valid_from, valid_until: half-open validity, UTC.
        recorded_at, retired_at: transaction time: when the store learnt it, when it stopped being current.
        revision: grows by one with every change of this row; plans name the revision they were made against.
    """

    id: str
    scope: Scope
    kind: Kind
    content: str
    memory_at: datetime
    valid_from: datetime
    recorded_at: datetime
    sources: tuple[Source, ...]
    formation: Formation
    subject: str = "user"
    attribute: str | None = None
    value: str | None = None
    polarity: Polarity = Polarity.POSITIVE
    qualifiers: Mapping[str, str] = field(default_factory=dict)
    occurred_at: datetime | None = None
    time_expression: str | None = None
    valid_until: datetime | None = None
    retired_at: datetime | None = None
    muted_at: datetime | None = None
    state: State = State.CURRENT
    revision: int = 1
    formed_by: FormedBy = FormedBy.STATED
    boundary: Boundary = Boundary()
    session_id: str = "default"
    links: Links = Links()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def layer(self) -> Layer:
        return self.kind.layer

    @property
    def confidence(self) -> float:
        return self.formation.confidence

    @property
    def last_said_at(self) -> datetime:
        """The latest time any source said it: what decides which of two statements is newer."""
        return max((source.said_at for source in self.sources), default=self.memory_at)

    def to_dict(self) -> dict[str, Any]:
        def iso(moment: datetime | None) -> str | None:
            return moment.isoformat() if moment else None

        return {
            "id": self.id,
            "scope": self.scope.to_dict(),
            "session_id": self.session_id,
            "layer": self.layer.value,
            "kind": self.kind.value,
            "content": self.content,
            "subject": self.subject,
            "attribute": self.attribute,
            "value": self.value,
            "polarity": self.polarity.value,
            "qualifiers": dict(self.qualifiers),
            "memory_at": iso(self.memory_at),
            "occurred_at": iso(self.occurred_at),
            "time_expression": self.time_expression,
            "valid_from": iso(self.valid_from),
            "valid_until": iso(self.valid_until),
            "recorded_at": iso(self.recorded_at),
            "retired_at": iso(self.retired_at),
            "muted_at": iso(self.muted_at),
            "state": self.state.value,
            "revision": self.revision,
            "formed_by": self.formed_by.value,
            "confidence": self.confidence,
            "boundary": self.boundary.to_dict(),
            "sources": [source.to_dict() for source in self.sources],
            "links": self.links.to_dict(),
            "formation": self.formation.to_dict(),
            "extra": dict(self.extra),
        }


@dataclass(frozen=True, slots=True)
class Transition:
    """What the mutable fields of a memory became with one revision; the log behind ``known_at``."""

    memory_id: str
    revision: int
    state: State
    valid_until: datetime | None
    muted_at: datetime | None
    at: datetime
    cause: str
    plan_id: str
