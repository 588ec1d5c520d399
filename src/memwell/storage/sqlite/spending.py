"""The account book of model calls in the SQLite file; see ``calls.Spending``."""

from __future__ import annotations

import sqlite3

from memwell.domain.scope import Scope
from memwell.engine.calls import Call
from memwell.storage.refusals import over_budget
from memwell.storage.sqlite.connection import Connections
from memwell.storage.sqlite.statements import find_scope, statement
from memwell.storage.values import to_micros

_DAY_MICROS = 86_400_000_000
_INSERT = (
    "INSERT INTO calls (scope, day, at, purpose, model, tokens_in, tokens_out, seconds, outcome)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class SqliteSpending:
    """See ``calls.Spending``."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def begin(self, call: Call, limit: int | None) -> int:
        at = to_micros(call.at)
        day = at // _DAY_MICROS
        with self._connections.write() as connection:
            scope = _number(connection, call.scope)
            if limit is not None and scope is not None:
                spent = connection.execute(statement("spent"), (scope, day)).fetchone()[0]
                if spent + call.tokens_in + call.tokens_out > limit:
                    raise over_budget(call, spent, limit)
            about = (call.purpose, call.model, call.tokens_in, call.tokens_out, call.seconds, call.outcome)
            return int(connection.execute(_INSERT, (scope, day, at, *about)).lastrowid or 0)

    def end(self, number: int, call: Call) -> None:
        query = "UPDATE calls SET tokens_in = ?, tokens_out = ?, seconds = ?, outcome = ? WHERE no = ?"
        with self._connections.write() as connection:
            connection.execute(query, (call.tokens_in, call.tokens_out, call.seconds, call.outcome, number))

    def totals(self) -> dict[str, dict[str, float]]:
        with self._connections.read() as connection:
            rows = list(connection.execute(statement("call_totals")))
        names = ("calls", "failed", "tokens_in", "tokens_out", "seconds")
        return {model: dict(zip(names, figures, strict=True)) for model, *figures in rows}


def _number(connection: sqlite3.Connection, scope: Scope | None) -> int | None:
    row = None if scope is None else find_scope(connection, scope)
    return None if row is None else row.no
