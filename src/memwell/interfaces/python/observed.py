"""Every call of a public method as an operation that telemetry and the debug log tell of."""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar

from memwell.engine.results import SearchResult, WriteResult
from memwell.errors import MemwellError
from memwell.telemetry import Spot, under_way

LOG = logging.getLogger("memwell.calls")
K = TypeVar("K", bound=type)


def observed(*left_out: str) -> Callable[[K], K]:
    """A decorator of a class whose public methods, but for those left out, are operations of their names."""

    def decorate(kind: K) -> K:
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if not name.startswith("_") and name not in left_out:
                setattr(kind, name, _told(name, method))
        return kind

    return decorate


def _told(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        with under_way(name) as spot:
            try:
                result = method(*args, **kwargs)
                _describe(spot, result)
            except MemwellError as error:
                _log(name, error.code, began)
                raise
            _log(name, "done", began)
            return result

    return call


def _log(name: str, outcome: str, began: float) -> None:
    if LOG.isEnabledFor(logging.DEBUG):
        ms = round((time.perf_counter() - began) * 1000, 1)
        LOG.debug("call", extra={"fields": {"use_case": name, "outcome": outcome, "ms": ms}})


def _describe(spot: Spot, result: Any) -> None:
    if isinstance(result, WriteResult):
        spot.set(status=result.status, evidence=len(result.evidence_ids), memories=len(result.memory_ids))
        spot.set(job=result.job_id, **{f"seconds.{step}": seconds for step, seconds in result.timings.items()})
    elif isinstance(result, SearchResult):
        spot.set(memories=len(result.memories), raw=len(result.raw), degraded=result.degraded)
