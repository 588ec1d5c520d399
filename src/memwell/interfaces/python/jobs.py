"""``memory.jobs``: formation that waits, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from memwell.composition import Engine
from memwell.domain.jobs import Job, JobState
from memwell.errors import InputError, NotFoundError

MAX_LIMIT = 10_000


class Jobs:
    """The jobs of one store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def list(self, *, done: bool = False, limit: int = 100) -> Sequence[Job]:
        """Unfinished jobs of the store, oldest first.

        Args:
            done: also those finished in the last seven days.
            limit: 1 to 10,000.
        """
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_LIMIT:
            raise InputError(f"limit is {limit!r}", remedy=f"use a whole number, 1 to {MAX_LIMIT:,}")
        states = [state for state in JobState if done or state is not JobState.DONE]
        return self._engine.store.queue.jobs(states, limit)

    def retry(self, job_id: str | None = None) -> int:
        """Let a dead job, or all of them, be tried again; models are asked anew.

        Args:
            job_id: of the dead job; all where omitted.

        Returns:
            The number of jobs revived.

        Raises:
            NotFoundError: no dead job has that id.
        """
        revived = self._engine.store.queue.retry(job_id)
        if job_id is not None and not revived:
            raise NotFoundError(f"no dead job has the id {job_id}", remedy="see `memwell jobs` for those there are")
        return revived

    def work(self) -> int:
        """Carry out what is due now, in this thread; returns how many jobs were tried."""
        return self._engine.worker.drain()

    def run(self) -> None:
        """Carry out jobs until the memory is closed from another thread, or this one is interrupted."""
        self._engine.worker.run()
