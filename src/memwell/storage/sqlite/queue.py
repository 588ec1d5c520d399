"""Jobs and their notes in the SQLite file; see ``engine.queue`` and ``domain.jobs``."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from memwell.domain import jobs as rules
from memwell.domain.changes import Changes
from memwell.domain.jobs import Job, JobState
from memwell.domain.scope import Scope
from memwell.engine.calls import Notes
from memwell.engine.ports import Clock
from memwell.engine.queue import Backlog
from memwell.storage.sqlite.connection import Connections
from memwell.storage.sqlite.rows import id_list
from memwell.storage.sqlite.statements import statement
from memwell.storage.values import REQUEST_LIFE, from_micros, to_micros

_COLUMNS = (
    "id, session_id, evidence, created_at, due_at, request_id, input_hash, state, attempts, refunds, owner, token,"
    " lease_until, error"
)
_SELECT = (
    "SELECT s.app_id, s.user_id, s.agent_id, "
    + ", ".join(f"j.{name}" for name in _COLUMNS.split(", "))
    + " FROM jobs j JOIN scopes s ON s.no = j.scope "
)
_UPDATE = (
    "UPDATE jobs SET session_id = ?, request_id = ?, input_hash = ?, due_at = ?, state = ?, attempts = ?, refunds = ?,"
    " owner = ?, token = ?, lease_until = ?, error = ? WHERE id = ?"
)
_EXPIRED_AT_ONCE = 64


def read_jobs(connection: sqlite3.Connection, tail: str, values: tuple[Any, ...] = ()) -> list[Job]:
    """Jobs ``j`` picked and ordered by ``tail``, a WHERE clause and what follows it."""
    return [_job(row) for row in connection.execute(_SELECT + tail, values)]


def named_jobs(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, Job]:
    """Jobs by id; unknown ids are absent."""
    tail = "WHERE j.id IN (SELECT value FROM json_each(?))"
    return {job.id: job for job in read_jobs(connection, tail, (id_list(ids),))}


def named_jobs_of_erasure(connection: sqlite3.Connection, scope: int, lost: Iterable[str]) -> dict[str, Job]:
    """By id, the unfinished jobs of a scope and the finished ones about the evidence ``lost``."""
    about = "EXISTS (SELECT 1 FROM json_each(j.evidence) x WHERE x.value IN (SELECT value FROM json_each(?)))"
    tail = f"WHERE j.scope = ? AND (j.state <> 'done' OR {about}) ORDER BY j.no"
    return {job.id: job for job in read_jobs(connection, tail, (scope, id_list(lost)))}


def write_jobs(
    connection: sqlite3.Connection, scope: int, changes: Changes, known: Iterable[str], now: datetime
) -> None:
    """Write a plan's jobs; notes of those that change go, and so do some that were finished long ago."""
    stored = set(known)
    for job in changes.jobs:
        if job.id in stored:
            _save(connection, job)
            _forget_notes(connection, job.id)
        else:
            marks = ", ".join("?" * (len(_COLUMNS.split(", ")) + 1))
            connection.execute(f"INSERT INTO jobs (scope, {_COLUMNS}) VALUES ({marks})", (scope, *_row(job)))
    if changes.jobs:
        connection.execute(statement("forget_jobs"), (to_micros(now - REQUEST_LIFE), _EXPIRED_AT_ONCE))


class SqliteQueue:
    """See ``queue.Queue``."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock

    def claim(self, owner: str) -> Job | None:
        while True:
            now = self._clock.now()
            moment = (to_micros(now),) * 3
            with self._connections.read() as connection:  # so that idle workers do not take the write lock
                if connection.execute(statement("claimable"), moment).fetchone() is None:
                    return None
            with self._connections.write() as connection:
                row = connection.execute(statement("claimable"), moment).fetchone()
                if row is None:
                    continue
                (job,) = read_jobs(connection, "WHERE j.no = ?", row)
                taken = rules.claimed(job, owner, secrets.token_hex(8), now)
                _save(connection, taken)
            if taken.state is JobState.CLAIMED:
                return taken

    def claim_one(self, job_id: str, owner: str) -> Job | None:
        now = self._clock.now()
        with self._connections.write() as connection:
            job = named_jobs(connection, [job_id]).get(job_id)
            if job is None or job.state is JobState.DONE:
                return None
            if job.state is JobState.CLAIMED and not rules.lapsed(job, now):
                return None
            if job.state is JobState.DEAD:
                _forget_notes(connection, job.id)
                job = rules.revived(job, now)
            taken = rules.claimed(job, owner, secrets.token_hex(8), now)
            _save(connection, taken)
        return taken if taken.state is JobState.CLAIMED else None

    def beat(self, job: Job) -> bool:
        lease = to_micros(self._clock.now() + rules.LEASE)
        with self._connections.write() as connection:
            query = "UPDATE jobs SET lease_until = ? WHERE id = ? AND token = ?"
            return connection.execute(query, (lease, job.id, job.token)).rowcount == 1

    def give_back(self, job: Job, *, until: datetime | None = None, error: str | None = None) -> None:
        now = self._clock.now()
        self._change(job, lambda held: replace(rules.given_back(held, until or now), error=error or held.error))

    def fail(self, job: Job, code: str, *, final: bool) -> None:
        now = self._clock.now()
        self._change(job, lambda held: rules.failed(held, code, final, now))

    def release(self, is_alive: Callable[[str], bool]) -> int:
        with self._connections.read() as connection:
            owners = [owner for (owner,) in connection.execute(statement("job_owners"))]
        dead = [owner for owner in owners if not is_alive(owner)]
        if not dead:
            return 0
        now = self._clock.now()
        with self._connections.write() as connection:
            tail = "WHERE j.state = 'claimed' AND j.owner IN (SELECT value FROM json_each(?))"
            held = read_jobs(connection, tail, (id_list(dead),))
            for job in held:
                _save(connection, rules.orphaned(job, now))
        return len(held)

    def retry(self, job_id: str | None) -> int:
        now = self._clock.now()
        with self._connections.write() as connection:
            dead = read_jobs(connection, "WHERE j.state = 'dead' AND (? IS NULL OR j.id = ?)", (job_id, job_id))
            for job in dead:
                _forget_notes(connection, job.id)
                _save(connection, rules.revived(job, now))
        return len(dead)

    def jobs(self, states: Iterable[JobState], limit: int) -> list[Job]:
        wanted = id_list(state.value for state in states)
        tail = "WHERE j.state IN (SELECT value FROM json_each(?)) ORDER BY j.no LIMIT ?"
        with self._connections.read() as connection:
            return read_jobs(connection, tail, (wanted, limit))

    def job(self, job_id: str) -> Job | None:
        with self._connections.read() as connection:
            return named_jobs(connection, [job_id]).get(job_id)

    def backlog(self) -> Backlog:
        with self._connections.read() as connection:
            rows = connection.execute(statement("backlog")).fetchall()
        oldest = min((made for state, _, made in rows if state != JobState.DEAD), default=None)
        return Backlog({state: count for state, count, _ in rows}, None if oldest is None else from_micros(oldest))

    def next_due(self) -> datetime | None:
        with self._connections.read() as connection:
            due = connection.execute(statement("next_due")).fetchone()[0]
        return None if due is None else from_micros(due)

    def notes(self, job: Job) -> Notes:
        return SqliteNotes(self._connections, job)

    def _change(self, job: Job, change: Callable[[Job], Job]) -> None:
        """Change the job as long as its claim holds."""
        with self._connections.write() as connection:
            for held in read_jobs(connection, "WHERE j.id = ? AND j.token = ?", (job.id, job.token)):
                _save(connection, change(held))


class SqliteNotes:
    """See ``calls.Notes``. What is kept counts as progress of the job; nothing is once its claim is lost."""

    def __init__(self, connections: Connections, job: Job) -> None:
        self._connections = connections
        self._job = job.id
        self._token = job.token

    def answer(self, key: str) -> str | None:
        query = "SELECT n.answer FROM notes n JOIN jobs j ON j.no = n.job WHERE j.id = ? AND n.key = ?"
        with self._connections.read() as connection:
            row = connection.execute(query, (self._job, key)).fetchone()
        return None if row is None else row[0]

    def keep(self, key: str, answer: str) -> None:
        query = "INSERT OR REPLACE INTO notes SELECT no, ?, ? FROM jobs WHERE id = ? AND token = ?"
        with self._connections.write() as connection:
            connection.execute(query, (key, answer, self._job, self._token))
            connection.execute("UPDATE jobs SET refunds = 0 WHERE id = ? AND token = ?", (self._job, self._token))

    def reserve(self, key: str) -> bool:
        query = "INSERT OR IGNORE INTO notes SELECT no, ?, NULL FROM jobs WHERE id = ? AND token = ?"
        with self._connections.write() as connection:
            return connection.execute(query, (key, self._job, self._token)).rowcount == 1

    def release(self, key: str) -> None:
        query = "DELETE FROM notes WHERE key = ? AND answer IS NULL AND job = (SELECT no FROM jobs WHERE id = ?)"
        with self._connections.write() as connection:
            connection.execute(query, (key, self._job))


def _forget_notes(connection: sqlite3.Connection, job_id: str) -> None:
    connection.execute("DELETE FROM notes WHERE job = (SELECT no FROM jobs WHERE id = ?)", (job_id,))


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _row(job: Job) -> tuple[Any, ...]:
    first = (job.id, job.session_id, json.dumps(job.evidence_ids), to_micros(job.created_at), to_micros(job.due_at))
    claim = (job.owner, job.token, _micros(job.lease_until), job.error)
    return (*first, job.request_id, job.input_hash, job.state.value, job.attempts, job.refunds, *claim)


def _job(row: tuple[Any, ...]) -> Job:
    app, user, agent, key, session_id, evidence, created_at, due_at, request_id, input_hash, *rest = row
    state, attempts, refunds, owner, token, lease_until, error = rest
    return Job(
        id=key,
        scope=Scope(user, app, agent),
        session_id=session_id,
        evidence_ids=tuple(json.loads(evidence)),
        created_at=from_micros(created_at),
        due_at=from_micros(due_at),
        request_id=request_id,
        input_hash=input_hash,
        state=JobState(state),
        attempts=attempts,
        refunds=refunds,
        owner=owner,
        token=token,
        lease_until=None if lease_until is None else from_micros(lease_until),
        error=error,
    )


def _save(connection: sqlite3.Connection, job: Job) -> None:
    claim = (job.owner, job.token, _micros(job.lease_until), job.error)
    write = (job.session_id, job.request_id, job.input_hash)
    values = (*write, to_micros(job.due_at), job.state.value, job.attempts, job.refunds, *claim, job.id)
    connection.execute(_UPDATE, values)
