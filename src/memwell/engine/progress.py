"""Progress of long work: how a use case tells whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable

# Called with steps done, steps in all and what is done next.
Progress = Callable[[int, int, str], None]


def no_progress(done: int, total: int, step: str) -> None:
    """Show nothing."""
