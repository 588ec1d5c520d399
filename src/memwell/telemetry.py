"""Spans and figures for OpenTelemetry, where the program has loaded it; ids, codes and counts, never words.

Nothing is imported and nothing is sent from here: a program that wants to see what Memwell does sets OpenTelemetry up,
and until it has, each of these calls costs one look into a table.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from memwell.errors import MemwellError

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter, Histogram, Observation
    from opentelemetry.trace import Span, Tracer

Value = str | bool | int | float
_NAME = "memwell"
_DONE = "done"
_FAULT = "internal"


@dataclass(frozen=True, slots=True)
class _Instruments:
    tracer: Tracer
    seconds: Histogram
    tokens: Counter


class Queued(NamedTuple):
    """How full a queue of jobs is.

    Attributes:
        waiting: jobs that wait or are under way.
        failed: jobs that are not tried again by themselves.
        oldest_seconds: since the oldest of those that wait was made.
    """

    waiting: int
    failed: int
    oldest_seconds: float


class Watched:
    """A queue that figures tell of, until it is ended or nobody holds this any more.

    Args:
        measure: called by whoever reads the figures, in a thread of theirs.
    """

    def __init__(self, measure: Callable[[], Queued]) -> None:
        self.measure = measure
        with _GUARD:
            _QUEUES.add(self)
        _instruments()  # figures of a queue are there before anything is called

    def end(self) -> None:
        """Measure no more, and wait for the measuring under way; safe to call twice."""
        with _GUARD:
            _QUEUES.discard(self)


_GUARD = threading.Lock()
_QUEUES: WeakSet[Watched] = WeakSet()
# Unit, words, and how one figure is made of all queues of the process.
_GAUGES: Mapping[str, tuple[str, str, Callable[[list[Queued]], float]]] = {
    "waiting": ("{job}", "Jobs that wait or are under way.", lambda found: sum(one.waiting for one in found)),
    "failed": ("{job}", "Jobs that are not tried again.", lambda found: sum(one.failed for one in found)),
    "oldest": ("s", "Age of the oldest job that waits.", lambda found: max(one.oldest_seconds for one in found)),
}


class Spot:
    """What is under way; attributes may be set while it is."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span
        self.outcome = _DONE

    def set(self, **attributes: Value | None) -> None:
        """Tell more of it; ``None`` is left out."""
        if self._span is not None:
            for name, value in attributes.items():
                if value is not None:
                    self._span.set_attribute(f"{_NAME}.{name}", value)


@contextmanager
def under_way(operation: str, carrier: Mapping[str, str] | None = None, **attributes: Value | None) -> Iterator[Spot]:
    """A span ``memwell.OPERATION`` and its duration, with the code of the error that ended it.

    Args:
        carrier: headers of a request, which may name the span of another process that this one belongs to.
    """
    instruments = _instruments()
    if instruments is None:
        yield Spot()
        return
    from opentelemetry import propagate
    from opentelemetry.trace import SpanKind, StatusCode

    parent = None if carrier is None else propagate.extract(carrier)
    kind = SpanKind.INTERNAL if carrier is None else SpanKind.SERVER
    began = time.perf_counter()
    # An exception is not recorded as it is: its words may be a user's.
    with instruments.tracer.start_as_current_span(
        f"{_NAME}.{operation}", parent, kind, record_exception=False, set_status_on_exception=False
    ) as span:
        spot = Spot(span)
        spot.set(**attributes)
        ended = False
        try:
            yield spot
            ended = True
        except MemwellError as error:
            spot.outcome, ended = error.code, True
            raise
        finally:
            spot.outcome = spot.outcome if ended else _FAULT
            if spot.outcome != _DONE:
                span.set_status(StatusCode.ERROR, spot.outcome)
            labels = {f"{_NAME}.operation": operation, f"{_NAME}.outcome": spot.outcome}
            instruments.seconds.record(time.perf_counter() - began, labels)


def tokens_spent(model: str, tokens_in: int, tokens_out: int) -> None:
    """Count tokens of a model endpoint."""
    instruments = _instruments()
    if instruments is not None:
        for direction, count in (("in", tokens_in), ("out", tokens_out)):
            instruments.tokens.add(count, {f"{_NAME}.model": model, f"{_NAME}.direction": direction})


def trace_id() -> str | None:
    """Id of the trace under way, as logs name it; ``None`` where there is none."""
    if _instruments() is None:
        return None
    from opentelemetry.trace import format_trace_id, get_current_span

    context = get_current_span().get_span_context()
    return format_trace_id(context.trace_id) if context.is_valid else None


def _instruments() -> _Instruments | None:
    # Whoever sets OpenTelemetry up has imported it; importing it here would cost a tenth of a second for nothing.
    return _made() if "opentelemetry.trace" in sys.modules and "opentelemetry.metrics" in sys.modules else None


@cache
def _made() -> _Instruments:
    from opentelemetry import metrics, trace

    meter: Any = metrics.get_meter(_NAME)
    for name, (unit, words, told) in _GAUGES.items():
        meter.create_observable_gauge(f"{_NAME}.jobs.{name}", [_reading(told)], unit, words)
    return _Instruments(
        trace.get_tracer(_NAME),
        meter.create_histogram(f"{_NAME}.operation.duration", "s", "How long operations took."),
        meter.create_counter(f"{_NAME}.model.tokens", "{token}", "Tokens of model endpoints."),
    )


def _reading(told: Callable[[list[Queued]], float]) -> Callable[[Any], Iterable[Observation]]:
    """A gauge's reading: one figure for all queues of this process."""

    def read(_: Any) -> Iterable[Observation]:
        from opentelemetry.metrics import Observation

        with _GUARD:
            found = [queue.measure() for queue in _QUEUES]
        return [Observation(told(found))] if found else []

    return read
