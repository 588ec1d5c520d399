"""Several processes on one file: nothing is lost, nobody is blind, nobody fails."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from memwell.domain.lens import Lens
from memwell.domain.plan import Unit
from memwell.engine.queries import PoolQuery
from memwell.storage.sqlite import FAULT_POINTS, SqliteStore
from memwell.testing.doubles import ALICE, START, FakeClock, HashEmbedder, make_plan, statement
from tests.storage.conftest import StartChild

EMBEDDER = HashEmbedder()
LATE = Lens(now=START.replace(year=2100))


def _found(store: SqliteStore, words: list[str]) -> list[str]:
    with store.view() as view:
        pool = view.pool(ALICE, Unit.MEMORY, PoolQuery(model="", vector=None, terms=words, lens=LATE, limit=10_000))
    return [entry.record_id for entry in pool]


def _done(child: subprocess.Popen[str]) -> list[str]:
    out, error = child.communicate(timeout=120)
    assert child.returncode == 0, error
    return out.split()


def test_one_long_reader_and_three_writers(path: Path, store: SqliteStore, start_child: StartChild) -> None:
    store.apply(make_plan("p0", *statement("0", "A statement before", EMBEDDER)))
    reader = start_child("read", 3)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "1\n"
    writers = [start_child(f"w{number}", 200) for number in range(3)]
    written = [key for writer in writers for key in _done(writer)]
    assert _done(reader) == []
    assert len(written) == len(set(written)) == 600
    assert sorted(_found(store, ["statement"])) == sorted(["mem_0", *(f"mem_{key}" for key in written)])
    assert store.check() == []


def test_a_warm_cache_sees_what_another_process_wrote(store: SqliteStore, start_child: StartChild) -> None:
    store.apply(make_plan("p0", *statement("0", "Statement of mine", EMBEDDER)))
    vector = EMBEDDER.query("Statement 2 of other")
    for name in ("other", "another"):
        with store.view() as held:
            seen = held.count(ALICE, LATE)
            _done(start_child(name, 5))
            assert "mem_other_2" in _found(store, ["other"])
            # The held view is older than the cache now.
            pool = held.pool(
                ALICE,
                Unit.MEMORY,
                PoolQuery(model=EMBEDDER.model, vector=vector, terms=["statement"], lens=LATE, limit=99),
            )
            assert len(pool) == held.count(ALICE, LATE) == seen
    with store.view() as view:
        pool = view.pool(
            ALICE, Unit.MEMORY, PoolQuery(model=EMBEDDER.model, vector=vector, terms=[], lens=LATE, limit=1)
        )
    assert [entry.record_id for entry in pool] == ["mem_other_2"]


def test_many_processes_create_one_store(path: Path, start_child: StartChild) -> None:
    children = [start_child(f"c{number}", 3) for number in range(6)]
    written = [key for child in children for key in _done(child)]
    store = SqliteStore(path, clock=FakeClock())
    assert sorted(_found(store, ["statement"])) == sorted(f"mem_{key}" for key in written)
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("fault", [point for point in FAULT_POINTS if ".apply." in point])
def test_killed_inside_a_plan(path: Path, start_child: StartChild, fault: str) -> None:
    before = SqliteStore(path, clock=FakeClock())
    before.apply(make_plan("p0", *statement("0", "Statement before", EMBEDDER)))
    before.close()
    child = start_child("w", 3, fault=fault)
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    store = SqliteStore(path, clock=FakeClock())
    expected = ["mem_0", "mem_w_0"] if fault.endswith("committed") else ["mem_0"]
    assert _found(store, ["statement"]) == expected
    assert store.check() == []
    _done(start_child("w", 3))
    assert _found(store, ["statement"]) == ["mem_0", "mem_w_0", "mem_w_1", "mem_w_2"]
    store.close()


@pytest.mark.parametrize("fault", [point for point in FAULT_POINTS if ".migrate." in point])
def test_killed_inside_a_migration(path: Path, start_child: StartChild, fault: str) -> None:
    child = start_child("w", 1, fault=fault)
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    assert _done(start_child("w", 1)) == ["w_0"]


def test_killed_inside_a_rebuild(path: Path, start_child: StartChild) -> None:
    _done(start_child("w", 20))
    child = start_child("rebuild", fault="sqlite.rebuild.before_commit")
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    store = SqliteStore(path, clock=FakeClock())
    assert len(_found(store, ["statement"])) == 20
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_at_any_moment(path: Path, start_child: StartChild, seed: int) -> None:
    chance = random.Random(seed)
    writers = [start_child(f"w{number}", 500) for number in range(4)]
    time.sleep(0.8 + chance.random())
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
    acknowledged = [key for writer in writers for key in writer.communicate(timeout=60)[0].splitlines()]
    store = SqliteStore(path, clock=FakeClock())
    with store.view() as view:
        assert len(view.memories(f"mem_{key}" for key in acknowledged)) == len(acknowledged)
        # Each writer may have committed one plan more than it could still acknowledge.
        assert len(acknowledged) <= view.stats()["memories"] <= len(acknowledged) + len(writers)
        assert view.stats()["ledger"] == 2 * view.stats()["memories"]
    assert store.check() == []
    store.close()
