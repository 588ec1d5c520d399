"""The reference store: plain Python, kept in memory, obviously right, not fast."""

from memwell.storage.memory.store import MemoryStore

__all__ = ["MemoryStore"]
