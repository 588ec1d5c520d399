"""Connections to one file: one for writing, as many as there are views for reading, none that outlives a fork."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from weakref import WeakSet

from memwell.errors import StorageError, StoreBusyError
from memwell.storage.sqlite.translate import translated

_IDLE_READERS = 8
_LOG_WAIT_MS = 500  # for readers of an older state to end, before emptying the log is put off
_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA secure_delete = ON",
)


def connect(path: Path, busy_timeout: float) -> sqlite3.Connection:
    """Open ``path``, made where missing, with the settings that durability rests on."""
    connection = sqlite3.connect(
        path, timeout=busy_timeout, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        for setting in _SETTINGS:
            connection.execute(setting)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


class Connections:
    """The open connections to one file.

    Args:
        path: the file.
        busy_timeout: seconds to wait for the file's write lock.
        max_bytes: size the file may grow to, or ``None``.
    """

    def __init__(self, path: Path, *, busy_timeout: float, max_bytes: int | None) -> None:
        self.path = path
        self._busy_timeout = busy_timeout
        self._max_bytes = max_bytes
        self._closed = False
        self._abandoned: list[sqlite3.Connection] = []
        self._start()
        _LIVE.add(self)

    def _start(self) -> None:
        self._guard = Lock()
        self._writing = Lock()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._reading: set[sqlite3.Connection] = set()

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: committed at the end, rolled back on any error. One at a time in a process.

        Raises:
            StorageError: see ``translated``.
        """
        if not self._writing.acquire(timeout=self._busy_timeout):
            raise StoreBusyError(f"{self.path} stayed locked by another thread", remedy="repeat the call")
        try:
            with translated(self.path):
                connection = self._open_writer()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        finally:
            self._writing.release()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A read transaction whose snapshot is taken now."""
        with translated(self.path):
            connection = self._take_reader()
            try:
                connection.execute("BEGIN")
                connection.execute("SELECT 1 FROM meta LIMIT 1").fetchone()
                yield connection
            finally:
                self._give_back(connection)

    def empty_log(self) -> bool:
        """Move the write-ahead log into the file and empty it; ``False`` where a reader still needs it."""
        if not self._writing.acquire(timeout=self._busy_timeout):
            return False
        try:
            with translated(self.path):
                connection = self._open_writer()
                connection.execute(f"PRAGMA busy_timeout = {_LOG_WAIT_MS}")
                busy: int = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                connection.execute(f"PRAGMA busy_timeout = {round(self._busy_timeout * 1000)}")
                return not busy
        finally:
            self._writing.release()

    def close(self) -> None:
        """Close all connections; those in use when their transaction ends."""
        with self._writing, translated(self.path):
            self._closed = True
            self._close_idle()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise StorageError(f"{self.path} is closed", remedy="open it again")

    def _open_writer(self) -> sqlite3.Connection:
        self._refuse_if_closed()
        if self._writer is None:
            self._writer = connect(self.path, self._busy_timeout)
            if self._max_bytes is not None:
                page_size = self._writer.execute("PRAGMA page_size").fetchone()[0]
                self._writer.execute(f"PRAGMA max_page_count = {max(self._max_bytes // page_size, 1)}")
        return self._writer

    def _take_reader(self) -> sqlite3.Connection:
        with self._guard:
            self._refuse_if_closed()
            connection = self._idle.pop() if self._idle else connect(self.path, self._busy_timeout)
            self._reading.add(connection)
            return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._guard:
            if connection not in self._reading:
                return  # opened before a fork: it belongs to the parent
            self._reading.remove(connection)
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if self._closed or len(self._idle) >= _IDLE_READERS:
                connection.close()
            else:
                self._idle.append(connection)

    def _close_idle(self) -> None:
        with self._guard:
            while self._idle:
                self._idle.pop().close()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    # SQLite must not carry an open file over a fork: before one, what is idle is closed; what is in use stays with
    # the parent, and the child neither uses nor closes it, since closing would tidy away files the parent needs.

    def before_fork(self) -> None:
        self._writing.acquire()
        with suppress(sqlite3.Error):
            self._close_idle()
        self._guard.acquire()

    def after_fork_in_parent(self) -> None:
        self._guard.release()
        self._writing.release()

    def after_fork_in_child(self) -> None:
        self._abandoned.extend(self._reading)
        self._start()


_LIVE: WeakSet[Connections] = WeakSet()


def _before_fork() -> None:
    for connections in _LIVE:
        connections.before_fork()


def _after_fork_in_parent() -> None:
    for connections in _LIVE:
        connections.after_fork_in_parent()


def _after_fork_in_child() -> None:
    for connections in _LIVE:
        connections.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
