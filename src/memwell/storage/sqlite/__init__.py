"""The default store: one SQLite file."""

from memwell.storage.sqlite.store import FAULT_POINTS, SqliteStore

__all__ = ["FAULT_POINTS", "SqliteStore"]
