"""The queue of jobs as use cases see it. Claiming changes no memory, so it needs no plan; finishing is part of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memwell.domain.jobs import Job, JobState
from memwell.engine.calls import Notes


@dataclass(frozen=True, slots=True)
class Backlog:
    """Jobs that are not done.

    Attributes:
        counts: how many there are in each state.
        oldest: when the oldest of those was made that are not dead either.
    """

    counts: Mapping[str, int]
    oldest: datetime | None

    def waits_for(self, now: datetime) -> float:
        """Seconds since the oldest was made; 0 where none waits."""
        return 0.0 if self.oldest is None else max(0.0, (now - self.oldest).total_seconds())


class Queue(Protocol):
    """Claims on the jobs of one store. Safe for threads; several processes may share it. See ``domain.jobs``."""

    def claim(self, owner: str) -> Job | None:
        """Claim the oldest job that is due, of a scope in which no other is claimed."""

    def claim_one(self, job_id: str, owner: str) -> Job | None:
        """Claim that job, due or not, dead or not; ``None`` where it is done or somebody works at it."""

    def beat(self, job: Job) -> bool:
        """Lengthen the lease; ``False`` where the claim is lost."""

    def give_back(self, job: Job, *, until: datetime | None = None, error: str | None = None) -> None:
        """Free the job, its attempt refunded. Nothing happens where the claim is lost.

        Args:
            until: not to be claimed before; at once where omitted.
            error: code of what stands against it until then.
        """

    def fail(self, job: Job, code: str, *, final: bool) -> None:
        """Note a failed attempt. Nothing happens where the claim is lost.

        Args:
            final: another attempt would come to the same.
        """

    def release(self, is_alive: Callable[[str], bool]) -> int:
        """Free the jobs whose owner is dead; returns how many."""

    def retry(self, job_id: str | None) -> int:
        """Let a dead job, or all of them, be tried again, without the answers that it has; returns how many."""

    def jobs(self, states: Iterable[JobState], limit: int) -> list[Job]:
        """Up to ``limit`` jobs in ``states``, oldest first."""

    def job(self, job_id: str) -> Job | None:
        """The job of that id, if there is one."""

    def backlog(self) -> Backlog:
        """What is not done."""

    def next_due(self) -> datetime | None:
        """When the next waiting job is due."""

    def notes(self, job: Job) -> Notes:
        """The durable notes of a job; they go when it is done."""
