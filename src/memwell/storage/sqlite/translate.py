"""The one place where SQLite's errors become Memwell's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memwell.errors import NotAStoreError, PlanRejectedError, StorageError, StoreBusyError, StoreFullError

_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_NO_STORE = frozenset({sqlite3.SQLITE_NOTADB})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT})
_NO_RIGHTS = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH})
# Where the disk is full, SQLite fails to grow its shared memory with an input/output error.
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE})


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise every ``sqlite3`` error inside as the ``MemwellError`` that says what to do about it."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(path, error) from error
    except UnicodeEncodeError as error:
        raise PlanRejectedError(
            f"a text has a lone surrogate at character {error.start}", remedy="decode it as UTF-8 before storing it"
        ) from error


def _translation(path: Path, error: sqlite3.Error) -> StorageError:
    code = getattr(error, "sqlite_errorcode", 0)
    kinds = {code, code & 0xFF}
    if kinds & _BUSY:
        return StoreBusyError(f"{path} stayed locked by another writer", remedy="repeat the call")
    if kinds & _FULL:
        return StoreFullError(f"{path} cannot grow: {error}", remedy="free some disk space; nothing was half written")
    if kinds & _NO_STORE:
        return NotAStoreError(f"{path} is no Memwell store", remedy="name another file")
    if kinds & _DAMAGED:
        return StorageError(f"{path} is damaged: {error}", remedy="restore it from a backup or an exported bundle")
    if kinds & _NO_RIGHTS:
        return StorageError(f"{path} cannot be opened for writing: {error}", remedy="check the rights of its folder")
    return StorageError(f"{path}: {error}", remedy="check the disk, then repeat the call")
