"""Decisions: the actions a judge may choose, where each is allowed, and the answer made executable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from memwell.domain.memory import FormedBy, Kind, Polarity, Source


class Action(StrEnum):
    OVERRIDE = "OVERRIDE"
    CORRECT = "CORRECT"
    NEGATE = "NEGATE"
    SUPPLEMENT = "SUPPLEMENT"
    TEMPORAL = "TEMPORAL"
    HISTORICAL = "HISTORICAL"
    CONFLICT = "CONFLICT"
    SKIP = "SKIP"
    DELETE = "DELETE"
    RAW_ONLY = "RAW_ONLY"
    INVALID = "INVALID"
    NEED_CONTEXT = "NEED_CONTEXT"

    @property
    def retires(self) -> bool:
        """True where the action ends the currency of its target."""
        return self in (Action.OVERRIDE, Action.CORRECT, Action.NEGATE, Action.DELETE)


class Situation(StrEnum):
    """What a candidate is compared with, which decides the allowed actions."""

    TARGET = "target"
    OLDER_SOURCE = "older_source"
    NO_TARGET = "no_target"
    BATCH_TARGET = "batch_target"


_ON_TARGET = frozenset(
    {
        Action.OVERRIDE,
        Action.CORRECT,
        Action.SUPPLEMENT,
        Action.NEGATE,
        Action.CONFLICT,
        Action.SKIP,
        Action.DELETE,
        Action.INVALID,
        Action.NEED_CONTEXT,
    }
)

ALLOWED: Mapping[Situation, frozenset[Action]] = {
    Situation.TARGET: _ON_TARGET,
    Situation.OLDER_SOURCE: frozenset(
        {Action.HISTORICAL, Action.CONFLICT, Action.SKIP, Action.INVALID, Action.NEED_CONTEXT}
    ),
    Situation.NO_TARGET: frozenset(
        {Action.SUPPLEMENT, Action.TEMPORAL, Action.RAW_ONLY, Action.INVALID, Action.NEED_CONTEXT}
    ),
    Situation.BATCH_TARGET: _ON_TARGET - {Action.DELETE},
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """One atomic statement that extraction proposes.

    Attributes:
        sources: the spans of evidence it rests on; at least one.
        content: the text of those spans, for ``stated`` candidates derived by the engine, never rewritten.
        hedged: the speaker was unsure; the hedge stays in ``content``.
        said_at: when its evidence was said.
        occurred_at: the event's date, where the source states one; else ``time_expression`` keeps the phrase.
        valid_from, valid_until: bounds of a limited period the source states.
    """

    sources: tuple[Source, ...]
    content: str
    kind: Kind
    said_at: datetime
    subject: str = "user"
    attribute: str | None = None
    value: str | None = None
    polarity: Polarity = Polarity.POSITIVE
    hedged: bool = False
    confidence: float = 1.0
    formed_by: FormedBy = FormedBy.STATED
    occurred_at: datetime | None = None
    time_expression: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    session_id: str = "default"
    qualifiers: Mapping[str, str] = field(default_factory=dict)

    @property
    def limited(self) -> bool:
        """True where the source states when it stops holding."""
        return self.valid_until is not None


@dataclass(frozen=True, slots=True)
class Decision:
    """A judge's verdict made executable, and what came of it.

    Attributes:
        targets: ids of the memories the action applies to.
        memory_id: the memory formed, or the one whose sources grew (SKIP); ``None`` where nothing was formed.
        content: the candidate's text; read again from the evidence when a result is replayed.
    """

    action: Action
    confidence: float
    reason: str
    sources: tuple[Source, ...]
    content: str
    targets: tuple[str, ...] = ()
    memory_id: str | None = None
    kind: Kind = Kind.FACT

    def to_dict(self) -> dict[str, Any]:
        return {
            "action": self.action.value,
            "targets": list(self.targets),
            "memory_id": self.memory_id,
            "content": self.content,
            "kind": self.kind.value,
            "sources": [source.to_dict() for source in self.sources],
            "confidence": self.confidence,
            "reason": self.reason,
        }
