"""Memwell: local-first long-term memory for AI agents."""

from memwell.errors import MemwellError

__all__ = ["MemwellError", "__version__"]
__version__ = "0.1.0"
