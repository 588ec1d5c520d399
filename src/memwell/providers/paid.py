"""The one way in which endpoints are called: never twice for an answer that is there, never beyond the budget."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memwell.engine.calls import Call, Errand, PassingNotes, Spending, current_errand
from memwell.engine.faults import Reach, pass_by
from memwell.engine.ports import Clock
from memwell.errors import MemwellError
from memwell.telemetry import tokens_spent, under_way

FAULT_POINTS = ("paid.before_call", "paid.answered", "paid.kept")
# Bytes of a request for each token, at least, so that the estimate is rather too high.
_BYTES_PER_TOKEN = 3
# What an answer is expected to cost until the endpoint has counted it.
_ANSWER_TOKENS = 500
# Endpoints that give no answer for these reasons charge nothing.
_FREE = frozenset({"endpoint_unreachable", "endpoint_busy", "endpoint_refused", "not_asked"})


@dataclass(frozen=True, slots=True)
class Answered:
    """What an endpoint answered, and the tokens it counted; ``None`` where it did not say."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None


class SpentError(Exception):
    """The right to ask this once was taken before, and the answer was lost."""


class Paid:
    """Makes calls on the account of the current errand.

    Args:
        tokens_per_day: what each scope may spend on a (UTC) day; ``None``: any number.
        reach: called with each of ``FAULT_POINTS`` that is passed; tests stop the process there.
    """

    def __init__(
        self,
        spending: Spending,
        clock: Clock,
        tokens_per_day: int | None = None,
        reach: Reach = pass_by,
    ) -> None:
        self._spending = spending
        self._clock = clock
        self._limit = tokens_per_day
        self._reach = reach

    def ask(
        self,
        purpose: str,
        model: str,
        request: Mapping[str, Any],
        call: Callable[[], Answered],
        *,
        once: bool = False,
        answer_tokens: int = _ANSWER_TOKENS,
    ) -> str:
        """The answer to ``request``: the one that the errand already has, or else what ``call`` gives.

        Args:
            request: all that the answer depends on; equal requests of one errand are asked once.
            once: take the right to ask durably before asking; it is never asked again, even if the answer gets lost.

        Raises:
            BudgetError: the budget of the day does not suffice; nothing was asked.
            SpentError: ``once``, and it was asked before.
            MemwellError: what ``call`` raises.
        """
        errand = current_errand()
        notes = errand.notes if errand is not None else PassingNotes()
        asked = json.dumps([purpose, model, request], ensure_ascii=False, sort_keys=True).encode()
        key = hashlib.sha256(asked).hexdigest()
        known = notes.answer(key)
        if known is not None:
            return known
        begun = self._begin(errand, purpose, model, len(asked) // _BYTES_PER_TOKEN + 1, answer_tokens)
        if once and not notes.reserve(key):
            begun.end(self._spending, "not_asked", 0, 0)
            raise SpentError
        try:
            self._reach("paid.before_call")
            with under_way("model", model=model, purpose=purpose) as spot:
                answered = call()
                spot.set(tokens_in=answered.tokens_in, tokens_out=answered.tokens_out)
        except MemwellError as error:
            begun.failed(self._spending, error.code)
            if once:
                notes.release(key)
            raise
        self._reach("paid.answered")
        notes.keep(key, answered.text)
        self._reach("paid.kept")
        begun.end(self._spending, "answered", answered.tokens_in, answered.tokens_out)
        return answered.text

    def _begin(self, errand: Errand | None, purpose: str, model: str, tokens_in: int, tokens_out: int) -> _Begun:
        scope = errand.scope if errand is not None else None
        call = Call(scope, purpose, model, self._clock.now(), tokens_in, tokens_out)
        number = self._spending.begin(call, self._limit if scope is not None else None)
        return _Begun(call, number, time.perf_counter())


@dataclass(frozen=True, slots=True)
class _Begun:
    """A call under way, its number in the account book, and when it began."""

    call: Call
    number: int
    since: float

    def end(self, spending: Spending, outcome: str, tokens_in: int | None, tokens_out: int | None) -> None:
        """Note what it came to; where the endpoint did not count, the estimate stays."""
        done = replace(
            self.call,
            tokens_in=self.call.tokens_in if tokens_in is None else tokens_in,
            tokens_out=self.call.tokens_out if tokens_out is None else tokens_out,
            seconds=time.perf_counter() - self.since,
            outcome=outcome,
        )
        spending.end(self.number, done)
        tokens_spent(done.model, done.tokens_in, done.tokens_out)

    def failed(self, spending: Spending, code: str) -> None:
        free = code in _FREE
        self.end(spending, code, 0 if free else None, 0 if free else None)
