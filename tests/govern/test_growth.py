"""What forgetting costs depends on what goes, not on what else is stored; counted in steps of SQLite, not in time."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memwell import Memory
from memwell.interfaces.bench.parts import KeepAll, WholeTurns
from memwell.interfaces.bench.statements import statements
from memwell.testing.doubles import FakeClock, HashEmbedder


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list whose only entry grows with the work that SQLite does, in tens of steps of its virtual machine."""
    count = [0]
    connect = sqlite3.connect

    def tick() -> int:
        count[0] += 1
        return 0

    def counted(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_progress_handler(tick, 10)
        return connection

    monkeypatch.setattr(sqlite3, "connect", counted)
    return count


def work(path: Path, others: int, users: int, batch: int, steps: list[int]) -> int:
    """Steps that erasing ``batch`` memories takes beside ``others`` of as many ``users``, cleanup apart."""
    source = statements()
    clock = FakeClock()
    with Memory(path, embedder=HashEmbedder(8), extractor=WholeTurns(), judge=KeepAll(), clock=clock) as mem:
        ids = mem.add([said(next(source)) for _ in range(batch)], user_id="user-0").memory_ids
        for number in range(users):
            mem.add([said(next(source)) for _ in range(others // users)], user_id=f"user-{number}")
        clock.advance(timedelta(hours=1))  # of what was said just now it is looked whether it is being formed
        preview = mem.preview_forget(ids, user_id="user-0")
        marks: list[int] = []
        mem.forget(preview.token, progress=lambda done, total, step: marks.append(steps[0]))
    return marks[1] - marks[0]


def said(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


@pytest.mark.parametrize("batch", [1, 32])
def test_erasing_does_not_grow_with_what_else_is_stored(tmp_path: Path, steps: list[int], batch: int) -> None:
    few = work(tmp_path / "few.db", 100, 1, batch, steps)
    many = work(tmp_path / "many.db", 1_900, 1, batch, steps)
    elsewhere = work(tmp_path / "elsewhere.db", 1_900, 19, batch, steps)
    assert 0 < many < 1.5 * few + 50
    assert 0 < elsewhere < 1.5 * few + 50
