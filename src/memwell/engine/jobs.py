"""Carry out jobs: form what a write left to be formed, under a claim that is kept alive meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from memwell.domain.jobs import HEARTBEAT, Job
from memwell.domain.plan import Request
from memwell.engine.forming import Forming, Material
from memwell.engine.ports import Clock, Store
from memwell.engine.queue import Queue
from memwell.engine.results import WriteResult
from memwell.engine.watch import Watch
from memwell.errors import (
    BudgetError,
    DecisionContextError,
    DecisionContractError,
    LeaseLostError,
    MemwellError,
    StorageError,
)

# Another attempt would be answered the same: the answers are kept, or the model stops where it stopped.
_FINAL = frozenset(
    {"json_parse_failed", "wrong_schema", "extraction_invalid", "answer_cut", "answer_refused", "empty_response"}
)


@dataclass(frozen=True, slots=True)
class Jobs:
    """The use case of workers, and of writes that wait for their own job.

    Args:
        owner: gives the name under which this process claims.
        is_alive: whether the owner of that name still lives.
    """

    store: Store
    forming: Forming
    clock: Clock
    owner: Callable[[], str]
    is_alive: Callable[[str], bool]

    def release(self) -> int:
        """Free the jobs of owners that died; returns how many."""
        return self.store.queue.release(self.is_alive)

    def carry_out(self, job: Job, watch: Watch | None = None) -> WriteResult:
        """Form what the claimed ``job`` is about, and finish it in the same plan.

        Raises:
            LeaseLostError: somebody else has taken it over.
            MemwellError: it failed, which is noted; the job waits for its next attempt, or is dead.
        """
        queue = self.store.queue
        with self.store.view() as view:
            stored = view.evidence(job.evidence_ids)
        evidence = [stored[key] for key in job.evidence_ids if key in stored]
        request = Request(job.request_id, job.input_hash or "") if job.request_id is not None else None
        try:
            with _kept_alive(queue, job):
                return self.forming.form(Material(job.scope, job.session_id, evidence, request, job), watch)
        except LeaseLostError:
            raise
        except BudgetError as error:
            queue.give_back(job, until=_next_day(self.clock.now()), error=error.code)
            raise
        except MemwellError as error:
            final = error.code in _FINAL or isinstance(error, (DecisionContractError, DecisionContextError))
            queue.fail(job, error.code, final=final)
            raise


def _next_day(now: datetime) -> datetime:
    return datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)


@contextmanager
def _kept_alive(queue: Queue, job: Job) -> Iterator[None]:
    """Give signs of life for the claim, until the block ends or the claim is lost."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(HEARTBEAT.total_seconds()):
            try:
                if not queue.beat(job):
                    return
            except StorageError:
                return  # the lease lapses, and the plan is refused where somebody else has taken over

    thread = threading.Thread(target=beat, name=f"heartbeat of {job.id}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
