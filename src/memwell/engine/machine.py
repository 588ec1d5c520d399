"""What this process may use of the machine."""

from __future__ import annotations

import os


def cores() -> int:
    """Processor cores that this process may use, at least one."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
