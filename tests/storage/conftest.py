"""Stores on real files, and child processes that use them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import memwell
from memwell.storage.sqlite import SqliteStore
from memwell.testing.doubles import FakeClock

CHILD = Path(__file__).with_name("child.py")
SOURCE = Path(memwell.__file__).parents[1]

StartChild = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memories.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(path, clock=FakeClock())
    yield store
    store.close()


@pytest.fixture
def start_child(path: Path) -> Iterator[StartChild]:
    """Start ``child.py`` on the test's store; ``fault`` arms a fault point. What still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object, fault: str = "") -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, str(CHILD), str(path), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE), "MEMWELL_FAULT": fault},
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()
