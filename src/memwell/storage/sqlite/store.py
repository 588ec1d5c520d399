"""The SQLite store's plan door."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TypeVar

from memwell.domain.changes import Changes, receipt_of
from memwell.domain.plan import AddEvidence, Applied, KeepReceipt, Plan
from memwell.domain.resolve import resolve
from memwell.domain.scope import Scope
from memwell.domain.tombstone import keyed_hash
from memwell.engine.faults import Reach, pass_by
from memwell.engine.ports import Clock, View
from memwell.storage.refusals import busy_scope, moved_epoch, other_input
from memwell.storage.sqlite import check as whole
from memwell.storage.sqlite.connection import Connections
from memwell.storage.sqlite.erase import own_key
from memwell.storage.sqlite.index import CACHE_BYTES, IndexCache
from memwell.storage.sqlite.migrate import prepare
from memwell.storage.sqlite.queue import SqliteQueue, write_jobs
from memwell.storage.sqlite.rows import id_list
from memwell.storage.sqlite.spending import SqliteSpending
from memwell.storage.sqlite.statements import ScopeRow, find_scope, statement
from memwell.storage.sqlite.traces import SqliteTraces
from memwell.storage.sqlite.view import SqliteView
from memwell.storage.sqlite.write import Writer, read_named
from memwell.storage.values import LOCK_LIFE, REQUEST_LIFE, to_json, to_micros

FAULT_POINTS = (
    "sqlite.migrate.begun",
    "sqlite.migrate.before_commit",
    "sqlite.apply.begun",
    "sqlite.apply.resolved",
    "sqlite.apply.records_written",
    "sqlite.apply.indexed",
    "sqlite.apply.before_commit",
    "sqlite.apply.committed",
    "sqlite.rebuild.before_commit",
    "sqlite.clean.merged",
    "sqlite.clean.emptied",
)
T = TypeVar("T")
_POLL_SECONDS = 0.02
_EXPIRED_AT_ONCE = 64


class SqliteStore:
    """A store in one SQLite file; see ``ports.Store``. Any number of threads and processes may share the file.

    Args:
        path: the file; made with its folders where missing.
        clock: for the expiry of requests and locks. Processes that share a file should agree on the time.
        busy_timeout: seconds to wait for the file's write lock.
        lock_timeout: seconds to wait for another planner's scope lock.
        cache_bytes: memory for vectors and visibility columns of the most recently used scopes.
        max_bytes: size the file may grow to; unlimited where omitted.
        reach: called with each of ``FAULT_POINTS`` that is passed; tests stop the process there.

    Raises:
        NotAStoreError, SchemaError: the file is something else, or of an unknown schema; it was not touched.
        StorageError: it cannot be opened or made.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        clock: Clock,
        busy_timeout: float = 10.0,
        lock_timeout: float = 60.0,
        cache_bytes: int = CACHE_BYTES,
        max_bytes: int | None = None,
        reach: Reach = pass_by,
    ) -> None:
        self.path = Path(path).absolute()
        self._clock = clock
        self._lock_timeout = lock_timeout
        self._reach = reach
        prepare(self.path, busy_timeout=busy_timeout, now=clock.now(), reach=reach)
        self._connections = Connections(self.path, busy_timeout=busy_timeout, max_bytes=max_bytes)
        self._cache = IndexCache(cache_bytes)
        self.queue = SqliteQueue(self._connections, clock)
        self.spending = SqliteSpending(self._connections)

    def apply(self, plan: Plan) -> Applied:
        def attempt(connection: sqlite3.Connection, scope: ScopeRow) -> Applied:
            self._reach("sqlite.apply.begun")
            return self._replayed(connection, scope, plan) or self._carry_out(connection, scope, plan)

        applied = self._when_free(plan.scope, plan.lock, attempt)
        self._reach("sqlite.apply.committed")
        return applied

    def scopes(self) -> list[Scope]:
        with self._connections.read() as connection:
            return [Scope(*row) for row in connection.execute(statement("scopes"))]

    @contextmanager
    def view(self) -> Iterator[View]:
        with self._connections.read() as connection:
            yield SqliteView(connection, self._cache, self._clock.now)

    @contextmanager
    def lock_scope(self, scope: Scope) -> Iterator[str]:
        token = secrets.token_hex(16)

        def take(connection: sqlite3.Connection, row: ScopeRow) -> None:
            expires_at = to_micros(self._clock.now() + LOCK_LIFE)
            connection.execute("INSERT OR REPLACE INTO locks VALUES (?, ?, ?)", (row.no, token, expires_at))

        self._when_free(scope, None, take)
        try:
            yield token
        finally:
            with self._connections.write() as connection:
                connection.execute("DELETE FROM locks WHERE token = ?", (token,))

    def clean(self) -> bool:
        with self._connections.write() as connection:
            due: int = connection.execute(statement("cleanup_due")).fetchone()[0]
            if due:
                whole.merge_words(connection)
        if not due:
            return True
        self._reach("sqlite.clean.merged")
        if not self._connections.empty_log():
            return False
        self._reach("sqlite.clean.emptied")
        with self._connections.write() as connection:
            connection.execute(statement("cleanup_done"), (due,))
        return True

    def rebuild(self) -> None:
        with self._connections.write() as connection:
            whole.rebuild(connection)
            self._reach("sqlite.rebuild.before_commit")
        self._cache.clear()

    def check(self) -> list[str]:
        with self._connections.read() as connection:
            return whole.problems(connection)

    def close(self) -> None:
        self._connections.close()
        self._cache.clear()

    def _when_free(self, scope: Scope, token: str | None, action: Callable[[sqlite3.Connection, ScopeRow], T]) -> T:
        """Do ``action`` in a write transaction in which nobody but the owner of ``token`` holds the scope."""
        deadline = time.monotonic() + self._lock_timeout
        while True:
            with self._connections.write() as connection:
                row = _scope_row(connection, scope)
                query = "SELECT token FROM locks WHERE scope = ? AND expires_at > ?"
                holder = connection.execute(query, (row.no, to_micros(self._clock.now()))).fetchone()
                if holder is None or holder[0] == token:
                    return action(connection, row)
            if time.monotonic() >= deadline:
                raise busy_scope(scope, self._lock_timeout)
            time.sleep(_POLL_SECONDS)

    def _replayed(self, connection: sqlite3.Connection, scope: ScopeRow, plan: Plan) -> Applied | None:
        receipt = None
        if plan.command is not None:
            receipt = SqliteTraces(connection, scope.no).answered(plan.command)
        first = plan.id if receipt is None else receipt.plan_id
        if receipt is None and plan.request is not None and not _has_plan(connection, first):
            values = (scope.no, plan.request.id, to_micros(self._clock.now()))
            known = connection.execute(statement("request"), values).fetchone()
            if known is None:
                return None
            input_hash, outcome, plan_id = known
            if input_hash != plan.request.input_hash:
                raise other_input(plan.request.id)
            if outcome is None:
                return None
            first = plan_id
        row = connection.execute("SELECT seq FROM plans WHERE id = ?", (first,)).fetchone()
        if row is None:
            return None
        return Applied(first, row[0], scope.epoch, True, _stored_evidence(connection, scope, plan), receipt)

    def _carry_out(self, connection: sqlite3.Connection, scope: ScopeRow, plan: Plan) -> Applied:
        if plan.expected_epoch is not None and plan.expected_epoch != scope.epoch:
            raise moved_epoch(plan, scope.epoch)
        named = read_named(connection, scope.no, plan)
        changes = resolve(plan, named)
        self._reach("sqlite.apply.resolved")
        writer = Writer(connection, plan, named, scope.no, scope.changes + 1)
        writer.records(changes)
        write_jobs(connection, scope.no, changes, named.jobs, plan.at)
        self._reach("sqlite.apply.records_written")
        writer.words(changes)
        writer.vectors(changes.vectors)
        self._reach("sqlite.apply.indexed")
        seq = writer.ledger(changes.entries)
        connection.execute("INSERT INTO plans VALUES (?, ?)", (plan.id, seq))
        self._journal(connection, scope, plan)
        receipt = receipt_of(plan, changes, seq)
        kept = list(changes.receipts)
        if plan.command is not None and receipt is not None:
            key = own_key(connection)
            kept.append(KeepReceipt(receipt, keyed_hash(plan.command.input, key), key))
        for one in kept:
            SqliteTraces(connection, scope.no).keep(one)
        epoch = scope.epoch + changes.moves_epoch
        if _changes_rows(changes):
            query = "UPDATE scopes SET epoch = ?, changes = changes + 1 WHERE no = ?"
            connection.execute(query, (epoch, scope.no))
        self._reach("sqlite.apply.before_commit")
        return Applied(plan.id, seq, epoch, False, changes.aliases, receipt)

    def _journal(self, connection: sqlite3.Connection, scope: ScopeRow, plan: Plan) -> None:
        """Note the request and its outcome; forget some of those whose time is over."""
        if plan.request is None:
            return
        now = self._clock.now()
        connection.execute(statement("forget_requests"), (to_micros(now), _EXPIRED_AT_ONCE))
        outcome = None if plan.outcome is None else to_json(plan.outcome) or json.dumps({})
        row = (scope.no, plan.request.id, plan.request.input_hash, outcome, plan.id, to_micros(now + REQUEST_LIFE))
        connection.execute("INSERT OR REPLACE INTO requests VALUES (?, ?, ?, ?, ?, ?)", row)


def _scope_row(connection: sqlite3.Connection, scope: Scope) -> ScopeRow:
    row = find_scope(connection, scope)
    if row is not None:
        return row
    insert = "INSERT INTO scopes (user_id, app_id, agent_id) VALUES (?, ?, ?)"
    cursor = connection.execute(insert, (scope.user_id, scope.app_id, scope.agent_id))
    return ScopeRow(int(cursor.lastrowid or 0), 0, 0)


def _has_plan(connection: sqlite3.Connection, plan_id: str) -> bool:
    return connection.execute("SELECT 1 FROM plans WHERE id = ?", (plan_id,)).fetchone() is not None


def _stored_evidence(connection: sqlite3.Connection, scope: ScopeRow, plan: Plan) -> dict[str, str]:
    """Proposed evidence id to the id under which its origin is stored."""
    proposed = [operation.evidence for operation in plan.operations if isinstance(operation, AddEvidence)]
    query = "SELECT origin, id FROM evidence WHERE scope = ? AND origin IN (SELECT value FROM json_each(?))"
    origins = id_list(record.origin for record in proposed)
    stored = dict(connection.execute(query, (scope.no, origins)))
    return {record.id: stored[record.origin] for record in proposed if record.origin in stored}


def _changes_rows(changes: Changes) -> bool:
    return bool(changes.evidence or changes.altered or changes.memories or changes.vectors)
