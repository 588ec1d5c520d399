"""Memwell: local-first long-term memory for AI agents.

>>> from memwell import Memory
>>> memory = Memory()
"""

from typing import TYPE_CHECKING, Any

from memwell.errors import MemwellError

if TYPE_CHECKING:
    from memwell.interfaces.python.asynchronous import AsyncMemory
    from memwell.interfaces.python.memory import Memory

__all__ = ["AsyncMemory", "Memory", "MemwellError", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # The engine brings numpy, which alone takes longer to import than all else: it is loaded when it is first used.
    if name == "Memory":
        from memwell.interfaces.python.memory import Memory

        return Memory
    if name == "AsyncMemory":
        from memwell.interfaces.python.asynchronous import AsyncMemory

        return AsyncMemory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
