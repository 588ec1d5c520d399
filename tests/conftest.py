from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memwell import Memory
from memwell.builtin.embedder import BundledEmbedder
from memwell.engine.ports import Embedder
from memwell.testing.doubles import FakeClock


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return BundledEmbedder()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def memory(tmp_path: Path, embedder: Embedder, clock: FakeClock) -> Iterator[Memory]:
    with Memory(tmp_path / "memory.db", user_id="alice", embedder=embedder, clock=clock) as opened:
        yield opened
