"""The conformance kit on the stores that ship."""

from __future__ import annotations

from pathlib import Path

from memwell.engine.ports import Store
from memwell.storage.memory import MemoryStore
from memwell.storage.sqlite import SqliteStore
from memwell.testing.conformance import StoreConformance
from memwell.testing.doubles import FakeClock


class TestMemoryStore(StoreConformance):
    def open_store(self, folder: Path, clock: FakeClock, lock_timeout: float) -> Store:
        return MemoryStore(clock=clock, lock_timeout=lock_timeout)


class TestSqliteStore(StoreConformance):
    def open_store(self, folder: Path, clock: FakeClock, lock_timeout: float) -> Store:
        return SqliteStore(folder / "memories.db", clock=clock, lock_timeout=lock_timeout)
