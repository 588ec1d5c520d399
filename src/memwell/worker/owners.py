"""Who claims jobs on this machine, and whether they still live: each holds an operating-system lock on a file."""

from __future__ import annotations

import secrets
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

_ENTER_SECONDS = 5.0


class Owners:
    """The lock files in ``folder``. The operating system frees a lock when its holder dies, however it dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._guard = Lock()
        self._name: str | None = None
        self._lock: BaseFileLock | None = None

    def name(self) -> str:
        """The name of this owner; the first call takes its lock."""
        with self._guard:
            if self._name is None:
                name = secrets.token_hex(8)
                self._folder.mkdir(parents=True, exist_ok=True)
                self._lock = self._file_lock(name)
                self._lock.acquire(timeout=_ENTER_SECONDS)
                self._name = name
            return self._name

    def is_alive(self, owner: str) -> bool:
        """Whether somebody holds the lock of ``owner``."""
        from filelock import Timeout

        if owner == self._name:
            return True
        if not self._path(owner).exists():
            return False
        lock = self._file_lock(owner)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return True
        lock.release()
        self._path(owner).unlink(missing_ok=True)
        return False

    def leave(self) -> None:
        """Give up the lock and its file; safe to call twice."""
        with self._guard:
            if self._lock is not None and self._name is not None:
                self._lock.release()
                self._path(self._name).unlink(missing_ok=True)
            self._lock = self._name = None

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"

    def _file_lock(self, owner: str) -> BaseFileLock:
        from filelock import FileLock  # late: most runs have no job

        return FileLock(self._path(owner), thread_local=False)
