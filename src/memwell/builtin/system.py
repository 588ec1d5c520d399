"""The machine's clock, and ids that sort by the time they were made."""

from __future__ import annotations

import os
import secrets
import threading
import time
from datetime import UTC, datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
_CHARS = 26


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


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
