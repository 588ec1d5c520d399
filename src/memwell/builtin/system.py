"""The machine: its clock, its memory, and ids that sort by the time they were made."""

from __future__ import annotations

import os
import secrets
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

_CACHE_SHARE = 4
_LEAST_CACHE = 512 * 1024 * 1024
# Where Linux says what a container may use; "max" or no such file where there is no limit.
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
_CHARS = 26


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def cache_budget(limit: Path = _CONTAINER_LIMIT) -> int:
    """Bytes that may be kept in memory for the next question: a quarter of what this process can have, at least 512 MB.

    Args:
        limit: file with the container's limit in bytes.
    """
    available = 0
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    text = limit.read_text("ascii").strip() if limit.is_file() else ""
    if text.isdigit():
        available = min(available, int(text))
    return max(available // _CACHE_SHARE, _LEAST_CACHE)


class TimeOrderedIds:
    """Ids ``prefix_`` plus 26 characters: 48 bits of milliseconds and 80 random bits in Crockford base 32, as in ULID.

    Within one process each id is larger than the one before, also where the clock stands still or steps back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._pid = os.getpid()

    def new(self, prefix: str) -> str:
        fresh = (time.time_ns() // 1_000_000 << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            if self._pid != os.getpid():  # a forked child must not continue its parent's sequence
                self._pid, self._last = os.getpid(), 0
            self._last = max(fresh, self._last + 1)
            number = self._last
        shifts = range(5 * (_CHARS - 1), -1, -5)
        return f"{prefix}_{''.join(_ALPHABET[number >> shift & 31] for shift in shifts)}"
