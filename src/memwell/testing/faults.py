"""Fault points: places where a process can be made to die, to show that no half-done work stays behind.

Production code calls an injected ``reach(name)`` at each point. Pass ``armed()`` as ``reach`` in a child process that
was started with ``MEMWELL_FAULT`` set to the name of the point to die at.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

VARIABLE = "MEMWELL_FAULT"


def armed(at: str | None = None) -> Callable[[str], None]:
    """A hook that kills this process, as a power cut would, when it is called with ``at``.

    Args:
        at: name of the point; read from ``MEMWELL_FAULT`` where omitted. With neither, the hook does nothing.
    """
    name = os.environ.get(VARIABLE) if at is None else at

    def reach(point: str) -> None:
        if point == name:
            os.kill(os.getpid(), signal.SIGKILL)

    return reach
