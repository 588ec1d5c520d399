"""Jobs of the reference store; see ``engine.queue`` and ``domain.jobs``."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol, TypeVar

from memwell.domain import jobs as rules
from memwell.domain.jobs import Job, JobState
from memwell.engine.calls import Notes, PassingNotes
from memwell.engine.ports import Clock
from memwell.engine.queue import Backlog

T = TypeVar("T")
Jobs = dict[str, Job]


class _Change(Protocol):
    def __call__(self, change: Callable[[Jobs], T]) -> T:
        """Do ``change`` to the jobs, alone."""


class MemoryQueue:
    """See ``queue.Queue``."""

    def __init__(
        self, change: _Change, read: Callable[[], Mapping[str, Job]], notes: dict[str, PassingNotes], clock: Clock
    ) -> None:
        self._change = change
        self._read = read
        self._notes = notes
        self._clock = clock

    def claim(self, owner: str) -> Job | None:
        now = self._clock.now()

        def take(jobs: Jobs) -> Job | None:
            busy = {job.scope for job in jobs.values() if _under_way(job, now)}
            for job in list(jobs.values()):
                if job.scope not in busy and _ready(job, now):
                    jobs[job.id] = rules.claimed(job, owner, secrets.token_hex(8), now)
                    if jobs[job.id].state is JobState.CLAIMED:
                        return jobs[job.id]
            return None

        return self._change(take)

    def claim_one(self, job_id: str, owner: str) -> Job | None:
        now = self._clock.now()

        def take(jobs: Jobs) -> Job | None:
            job = jobs.get(job_id)
            if job is None or job.state is JobState.DONE or _under_way(job, now):
                return None
            if job.state is JobState.DEAD:
                self._notes.pop(job_id, None)
                job = rules.revived(job, now)
            jobs[job_id] = rules.claimed(job, owner, secrets.token_hex(8), now)
            return jobs[job_id] if jobs[job_id].state is JobState.CLAIMED else None

        return self._change(take)

    def beat(self, job: Job) -> bool:
        lease_until = self._clock.now() + rules.LEASE
        return self._while_held(job, lambda held: replace(held, lease_until=lease_until))

    def give_back(self, job: Job, *, until: datetime | None = None, error: str | None = None) -> None:
        now = self._clock.now()
        self._while_held(job, lambda held: replace(rules.given_back(held, until or now), error=error or held.error))

    def fail(self, job: Job, code: str, *, final: bool) -> None:
        now = self._clock.now()
        self._while_held(job, lambda held: rules.failed(held, code, final, now))

    def release(self, is_alive: Callable[[str], bool]) -> int:
        now = self._clock.now()

        def free(jobs: Jobs) -> int:
            held = [job for job in jobs.values() if job.state is JobState.CLAIMED and not is_alive(job.owner or "")]
            jobs.update((job.id, rules.orphaned(job, now)) for job in held)
            return len(held)

        return self._change(free)

    def retry(self, job_id: str | None) -> int:
        now = self._clock.now()

        def revive(jobs: Jobs) -> int:
            dead = [job for job in jobs.values() if job.state is JobState.DEAD and job_id in (None, job.id)]
            for job in dead:
                self._notes.pop(job.id, None)
                jobs[job.id] = rules.revived(job, now)
            return len(dead)

        return self._change(revive)

    def jobs(self, states: Iterable[JobState], limit: int) -> list[Job]:
        wanted = set(states)
        return [job for job in self._read().values() if job.state in wanted][:limit]

    def job(self, job_id: str) -> Job | None:
        return self._read().get(job_id)

    def backlog(self) -> Backlog:
        jobs = [job for job in self._read().values() if job.state is not JobState.DONE]
        oldest = min((job.created_at for job in jobs if job.state is not JobState.DEAD), default=None)
        return Backlog(Counter(job.state.value for job in jobs), oldest)

    def next_due(self) -> datetime | None:
        return min((job.due_at for job in self._read().values() if job.state is JobState.WAITING), default=None)

    def notes(self, job: Job) -> Notes:
        return self._notes.setdefault(job.id, _JobNotes(lambda: self._progress(job.id)))

    def _progress(self, job_id: str) -> None:
        def reset(jobs: Jobs) -> None:
            if job_id in jobs:
                jobs[job_id] = replace(jobs[job_id], refunds=0)

        self._change(reset)

    def _while_held(self, job: Job, change: Callable[[Job], Job]) -> bool:
        def apply(jobs: Jobs) -> bool:
            held = jobs.get(job.id)
            if held is None or held.token is None or held.token != job.token:
                return False
            jobs[job.id] = change(held)
            return True

        return self._change(apply)


class _JobNotes(PassingNotes):
    """Notes whose keeping is progress of the job."""

    def __init__(self, progress: Callable[[], Any]) -> None:
        super().__init__()
        self._progress = progress

    def keep(self, key: str, answer: str) -> None:
        super().keep(key, answer)
        self._progress()


def _under_way(job: Job, now: datetime) -> bool:
    return job.state is JobState.CLAIMED and not rules.lapsed(job, now)


def _ready(job: Job, now: datetime) -> bool:
    return (job.state is JobState.WAITING and job.due_at <= now) or rules.lapsed(job, now)
