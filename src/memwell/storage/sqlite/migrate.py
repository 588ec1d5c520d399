"""Bring a file to this program's schema, or refuse it untouched."""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from importlib import resources
from pathlib import Path

from memwell.errors import NotAStoreError, SchemaError, StorageError
from memwell.storage.sqlite.connection import connect
from memwell.storage.sqlite.contexts import index_all_contexts
from memwell.storage.sqlite.translate import translated
from memwell.storage.values import to_micros

APPLICATION_ID = 0x4D454D57  # "MEMW", at byte 68 of the file
PAGE_BYTES = 8192  # holds five vectors of 384 dimensions; the default of 4096 holds two and wastes a quarter
# From this migration on the index of contexts holds what it does now: it is filled once all tables are as they are now.
_CONTEXTS = 7
_HEADER = b"SQLite format 3\x00"
_HEADER_BYTES = 100


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step; ``hash`` is SHA-256 of its text and is recorded where it was applied."""

    number: int
    name: str
    sql: str

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@lru_cache(maxsize=1)
def migrations() -> tuple[Migration, ...]:
    """All migrations in order, read from the package's ``migrations/*.sql``."""
    folder = resources.files("memwell.storage.sqlite") / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return tuple(Migration(int(file.name[:4]), file.name, file.read_text("utf-8")) for file in files)


def prepare(path: Path, *, busy_timeout: float, now: datetime, reach: Callable[[str], None]) -> None:
    """Make ``path`` a store of this program's schema: created where missing, migrated where older.

    Raises:
        NotAStoreError: the file is something else; it was not touched.
        SchemaError: a newer program wrote it, or an unknown one; it was not touched.
        StorageError: it cannot be read or made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        header = _header(path)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be opened: {error.strerror}", remedy="name a file in a folder you may write to"
        ) from error
    _refuse_foreign(path, header)
    with translated(path):
        if not header:
            _mark(path, busy_timeout)
        connection = connect(path, busy_timeout)
        try:
            if _applied(path, connection) < len(migrations()):
                _migrate(path, connection, now, reach)
        finally:
            connection.close()


def _header(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(_HEADER_BYTES)


def _refuse_foreign(path: Path, header: bytes) -> None:
    if not header:
        return
    application = int.from_bytes(header[68:72], "big")
    if len(header) < _HEADER_BYTES or not header.startswith(_HEADER) or application != APPLICATION_ID:
        raise NotAStoreError(f"{path} is no Memwell store", remedy="name another file, or move this one away")
    _refuse_newer(path, int.from_bytes(header[60:64], "big"))


def _refuse_newer(path: Path, schema: int) -> None:
    if schema > len(migrations()):
        raise SchemaError(
            f"{path} has schema {schema}; this program knows {len(migrations())}",
            remedy="update memwell; the file was not touched",
        )


def _mark(path: Path, busy_timeout: float) -> None:
    """Give a new file its mark before anything else, so that no other program's view of it lacks one."""
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None)
    try:
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    finally:
        connection.close()


def _applied(path: Path, connection: sqlite3.Connection) -> int:
    """How many migrations the file has; each must be one of ours, unchanged."""
    schema: int = connection.execute("PRAGMA user_version").fetchone()[0]
    _refuse_newer(path, schema)
    if schema:
        recorded = connection.execute("SELECT number, hash FROM schema_migrations ORDER BY number").fetchall()
        if recorded != [(migration.number, migration.hash) for migration in migrations()[:schema]]:
            raise SchemaError(
                f"{path} has a schema that this program does not know",
                remedy="open it with the program that made it; it was not touched",
            )
    return schema


def _migrate(path: Path, connection: sqlite3.Connection, now: datetime, reach: Callable[[str], None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        reach("sqlite.migrate.begun")
        applied = _applied(path, connection)  # again: another process may have been first
        if applied == 0:
            connection.execute(
                "CREATE TABLE schema_migrations"
                " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL, applied_at INTEGER NOT NULL)"
            )
        for migration in migrations()[applied:]:
            for statement in statements(migration.sql):
                connection.execute(statement)
            row = (migration.number, migration.name, migration.hash, to_micros(now))
            connection.execute("INSERT INTO schema_migrations VALUES (?, ?, ?, ?)", row)
            connection.execute(f"PRAGMA user_version = {migration.number}")
        if 0 < applied < _CONTEXTS:
            index_all_contexts(connection)
        if applied == 0:
            identity = [("device", secrets.token_hex(8)), ("hash_key", secrets.token_bytes(32))]
            connection.executemany("INSERT INTO meta VALUES (?, ?)", identity)
        reach("sqlite.migrate.before_commit")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # so that the file's header shows the schema at once


def statements(script: str) -> Iterator[str]:
    """The statements of an SQL script, one by one, so that they can run inside a transaction."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending
