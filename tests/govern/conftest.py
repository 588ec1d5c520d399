"""A memory with a fast embedder on a real file, and a look into every byte of that file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memwell import Memory
from memwell.testing.doubles import FakeClock, HashEmbedder, SequentialIds

Scan = Callable[[bytes], bool]


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def mem(store_path: Path, clock: FakeClock) -> Iterator[Memory]:
    with Memory(store_path, user_id="alice", embedder=HashEmbedder(), clock=clock, ids=SequentialIds()) as opened:
        yield opened


@pytest.fixture
def holds(store_path: Path) -> Scan:
    """Whether these bytes stand in any file of the store: the database, its log or its shared memory."""

    def scan(wanted: bytes) -> bool:
        files = [
            path for path in store_path.parent.iterdir() if path.is_file() and path.name.startswith(store_path.name)
        ]
        return any(wanted in path.read_bytes() for path in files)

    return scan
