"""Paid calls: on whose account a model endpoint is asked, which answers are there already, and what each call cost.

A use case says on whose behalf it works (``on_behalf``); whatever calls an endpoint meanwhile finds that errand here,
so that extractors, judges and embedders need not hand it through.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Protocol, runtime_checkable

from memwell.domain.evidence import Target
from memwell.domain.scope import Scope

# Codes of errors that say nothing about what was asked: the endpoint gave no answer.
OUTAGES = frozenset(
    {"endpoint_unreachable", "endpoint_timeout", "endpoint_busy", "endpoint_failed", "endpoint_refused"}
)


@runtime_checkable
class Placed(Protocol):
    """A part that sends what it is given somewhere. Parts without a ``target`` send nothing."""

    target: Target


def target_of(part: object) -> Target:
    """Whether what ``part`` is given leaves this machine."""
    return part.target if isinstance(part, Placed) else Target.LOCAL


class Notes(Protocol):
    """Answers that an errand already has, by the digest of what was asked. Safe for threads."""

    def answer(self, key: str) -> str | None:
        """The kept answer, if there is one."""

    def keep(self, key: str, answer: str) -> None:
        """Keep an answer before it is used."""

    def reserve(self, key: str) -> bool:
        """Take the right to ask this once; ``False`` where it was taken before. Durable where the errand is."""

    def release(self, key: str) -> None:
        """Give the right back: the endpoint gave no answer."""


class PassingNotes:
    """Notes that end with the errand."""

    def __init__(self) -> None:
        self._answers: dict[str, str] = {}
        self._reserved: set[str] = set()
        self._guard = Lock()

    def answer(self, key: str) -> str | None:
        return self._answers.get(key)

    def keep(self, key: str, answer: str) -> None:
        self._answers[key] = answer

    def reserve(self, key: str) -> bool:
        with self._guard:
            free = key not in self._reserved
            self._reserved.add(key)
            return free

    def release(self, key: str) -> None:
        self._reserved.discard(key)


@dataclass(frozen=True, slots=True)
class Errand:
    """Work done for a scope; what it asks of endpoints is on that scope's account."""

    scope: Scope
    notes: Notes = field(default_factory=PassingNotes)


_errand: ContextVar[Errand | None] = ContextVar("errand", default=None)


@contextmanager
def on_behalf(errand: Errand) -> Iterator[None]:
    """Let calls inside the block be made for ``errand``. Threads started inside need a copy of the context."""
    token = _errand.set(errand)
    try:
        yield
    finally:
        _errand.reset(token)


def current_errand() -> Errand | None:
    """The errand of this thread's work, if any."""
    return _errand.get()


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model endpoint.

    Attributes:
        scope: on whose account; ``None`` for calls that belong to no user, such as the doctor's.
        purpose: ``"extraction"``, ``"judge"`` or ``"embedding"``.
        tokens_in, tokens_out: as the endpoint counted them, or an estimate where it did not say.
        outcome: ``"answered"``, ``"open"`` while it is under way, or the code of the error.
    """

    scope: Scope | None
    purpose: str
    model: str
    at: datetime
    tokens_in: int
    tokens_out: int = 0
    seconds: float = 0.0
    outcome: str = "open"


class Spending(Protocol):
    """The account book of calls. Safe for threads; several processes may share it."""

    def begin(self, call: Call, limit: int | None) -> int:
        """Note a call that is about to be made, with its estimate, and return its number.

        Args:
            limit: tokens that its scope may spend on the (UTC) day of ``call.at``; ``None``: any number.

        Raises:
            BudgetError: with this call the scope would spend more; nothing was noted.
        """

    def end(self, number: int, call: Call) -> None:
        """Put what came of the call in place of its estimate."""

    def totals(self) -> dict[str, dict[str, float]]:
        """For each model: ``calls``, ``failed``, ``tokens_in``, ``tokens_out`` and ``seconds``."""
