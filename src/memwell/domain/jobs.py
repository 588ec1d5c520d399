"""Jobs: formation that is waiting to be done, who does it, and what becomes of it. Pure rules; stores keep the rows."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from memwell.domain.scope import Scope

# How long a claim holds without a sign of life, and how often its owner gives one.
LEASE = timedelta(seconds=300)
HEARTBEAT = timedelta(seconds=60)
# Attempts before a job is dead, and the wait after each failure.
ATTEMPTS = 4
BACK_OFF = (timedelta(seconds=5), timedelta(seconds=30), timedelta(seconds=300))
# An attempt that its owner did not survive is refunded this often; then the job may be what kills them.
REFUNDS = 25


class JobState(StrEnum):
    WAITING = "waiting"
    CLAIMED = "claimed"
    DONE = "done"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class Job:
    """Memories to be formed from evidence that is stored already.

    Attributes:
        evidence_ids: the messages of one write, in order.
        request_id, input_hash: of the write's request, if it has one; finishing the job finishes the request.
        due_at: not to be claimed before.
        owner, token, lease_until: who has claimed it, proof of that claim, and until when it holds.
        refunds: attempts given back since the last progress, because their owner died.
        error: code of the last failure.
    """

    id: str
    scope: Scope
    session_id: str
    evidence_ids: tuple[str, ...]
    created_at: datetime
    due_at: datetime
    request_id: str | None = None
    input_hash: str | None = None
    state: JobState = JobState.WAITING
    attempts: int = 0
    refunds: int = 0
    owner: str | None = None
    token: str | None = None
    lease_until: datetime | None = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "scope": self.scope.to_dict(),
            "session_id": self.session_id,
            "evidence_ids": list(self.evidence_ids),
            "state": self.state.value,
            "attempts": self.attempts,
            "error": self.error,
            "created_at": self.created_at.isoformat(),
            "due_at": self.due_at.isoformat(),
            "request_id": self.request_id,
        }


def lapsed(job: Job, now: datetime) -> bool:
    """Whether the job is claimed by somebody who has given no sign of life for too long."""
    return job.state is JobState.CLAIMED and job.lease_until is not None and job.lease_until <= now


def claimed(job: Job, owner: str, token: str, now: datetime) -> Job:
    """The job in the hands of ``owner``; dead where a lapsed claim was its last attempt."""
    if lapsed(job, now) and job.attempts >= ATTEMPTS:
        return _dead(job, job.error or "lease_lapsed")
    return replace(
        job,
        state=JobState.CLAIMED,
        attempts=job.attempts + 1,
        owner=owner,
        token=token,
        lease_until=now + LEASE,
    )


def failed(job: Job, code: str, final: bool, now: datetime) -> Job:
    """The job after a failed attempt: waiting for the next one, or dead."""
    if final or job.attempts >= ATTEMPTS:
        return _dead(job, code)
    wait = BACK_OFF[min(job.attempts, len(BACK_OFF)) - 1]
    return _free(job, due_at=now + wait, error=code)


def given_back(job: Job, now: datetime) -> Job:
    """The job after its owner stopped of its own will: the attempt does not count."""
    return _free(job, due_at=now, attempts=max(0, job.attempts - 1))


def orphaned(job: Job, now: datetime) -> Job:
    """The job after its owner died: the attempt does not count, unless that happens again and again."""
    if job.refunds < REFUNDS:
        return _free(job, due_at=now, attempts=max(0, job.attempts - 1), refunds=job.refunds + 1)
    return failed(job, "owner_died", False, now)


def revived(job: Job, now: datetime) -> Job:
    """A dead job that is to be tried again from the start."""
    return _free(job, due_at=now, attempts=0, refunds=0, error=None)


def after_erasure(job: Job, lost: AbstractSet[str], gone: bool, now: datetime) -> Job:
    """The job after words of its scope were erased: whoever works at it has read some of them, so the claim is void.

    Args:
        lost: ids of evidence that lost words; of a write that had any, not even a hash of its input is kept.
        gone: nothing is left of what the job is about, so there is nothing to do.
    """
    if not lost.isdisjoint(job.evidence_ids):
        job = replace(job, request_id=None, input_hash=None)
    if gone:
        done = replace(job, state=JobState.DONE, owner=None, token=None, lease_until=None, error=None)
        return replace(done, session_id="erased")
    return given_back(job, now) if job.state is JobState.CLAIMED else job


def _free(job: Job, **changes: Any) -> Job:
    return replace(job, state=JobState.WAITING, owner=None, token=None, lease_until=None, **changes)


def _dead(job: Job, code: str) -> Job:
    return replace(job, state=JobState.DEAD, owner=None, token=None, lease_until=None, error=code)
