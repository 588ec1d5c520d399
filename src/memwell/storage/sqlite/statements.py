"""The statements of the ``.sql`` files by name, and the one that almost every call begins with."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from memwell.domain.scope import Scope

_NAME = "-- name: "


@lru_cache(maxsize=1)
def _statements() -> dict[str, str]:
    folder = resources.files("memwell.storage.sqlite")
    text = "\n".join((folder / name).read_text("utf-8") for name in ("statements.sql", "jobs.sql"))
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(_NAME):
            name = line.removeprefix(_NAME)
            found[name] = []
        elif name and not line.startswith("--"):
            found[name].append(line)
    return {name: "\n".join(lines).strip() for name, lines in found.items()}


def statement(name: str) -> str:
    """The SQL of that name."""
    return _statements()[name]


class ScopeRow(NamedTuple):
    """A scope's row: its number, epoch and change counter."""

    no: int
    epoch: int
    changes: int


def find_scope(connection: sqlite3.Connection, scope: Scope) -> ScopeRow | None:
    """The scope's row, or ``None`` before anything was written to it."""
    row = connection.execute(
        "SELECT no, epoch, changes FROM scopes WHERE user_id = ? AND app_id = ? AND agent_id = ?",
        (scope.user_id, scope.app_id, scope.agent_id),
    ).fetchone()
    return None if row is None else ScopeRow(*row)
