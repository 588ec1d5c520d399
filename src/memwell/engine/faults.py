"""The hook at fault points: places where tests make a process die, to show that no half-done work stays behind."""

from __future__ import annotations

from collections.abc import Callable

# Called with the name of each fault point that is passed.
Reach = Callable[[str], None]


def pass_by(point: str) -> None:
    """What production code does at a fault point: nothing."""
