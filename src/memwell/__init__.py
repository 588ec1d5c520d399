"""Memwell: local-first long-term memory for AI agents.

>>> from memwell import Memory
>>> memory = Memory()
"""

from memwell.errors import MemwellError
from memwell.interfaces.python.memory import Memory

__all__ = ["Memory", "MemwellError", "__version__"]
__version__ = "0.1.0"
