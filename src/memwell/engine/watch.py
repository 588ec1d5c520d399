"""How long the steps of a use case take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Watch:
    """Seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start
