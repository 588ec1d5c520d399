"""Proof of erasure: random histories on two stores, kills at fault points, and a thousand memories."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memwell
from memwell.builtin import naming
from memwell.domain.command import Receipt, read_receipt
from memwell.domain.plan import Mute
from memwell.domain.scope import Scope
from memwell.engine.cascade import Selection
from memwell.engine.forgetting import Forgetting
from memwell.engine.portable import Portable
from memwell.engine.ports import Store
from memwell.errors import BundleError, ErasedSourceError, PlanRejectedError
from memwell.storage.memory import MemoryStore
from memwell.storage.sqlite import SqliteStore
from memwell.testing.doubles import ALICE, BOB, START, FakeClock, HashEmbedder, SequentialIds, make_plan, statement

EMBEDDER = HashEmbedder(8)
CHILD = Path(__file__).with_name("child.py")


def text_of(number: int) -> str:
    return f"Qx{number:04d}z is the name of boat {number}."


def vector(text: str) -> bytes:
    return EMBEDDER.query(text).astype("<f4").tobytes()


def bytes_of(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir() if file.name.startswith(path.name))


def told(store: Store, number: int, scope: Scope = ALICE, plan: str = "") -> None:
    operations = statement(f"{number:04d}", text_of(number), EMBEDDER, scope=scope)
    store.apply(make_plan(plan or f"p{number}", *operations, scope=scope))


def forgetting(store: Store, mark: str = "") -> Forgetting:
    clock = FakeClock(START + timedelta(days=1), step=timedelta(seconds=1))
    return Forgetting(store, EMBEDDER, clock, SequentialIds(mark), naming)


def forget(store: Store, *ids: str, mark: str = "", command_id: str | None = None) -> None:
    use = forgetting(store, mark)
    use.forget(use.preview(ALICE, Selection(ids)).token, command_id, ALICE, ("default", "default"))


def alive(store: Store, scope: Scope = ALICE) -> dict[str, object]:
    with store.view() as view:
        traces = view.traces(scope)
        memories = {memory.id: memory for memory in traces.memories()}
        return {**memories, **{record.id: record for record in traces.evidence()}}


STEPS = st.lists(
    st.tuples(st.sampled_from(("tell", "tell", "forget")), st.integers(0, 7)),
    min_size=3,
    max_size=14,
)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
def test_erased_stays_erased_whatever_happens(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("erasure") / "memory.db"
    stores: tuple[Store, Store] = (SqliteStore(path, clock=FakeClock()), MemoryStore(clock=FakeClock()))
    gone: set[int] = set()
    for position, (what, number) in enumerate(steps):
        expected: dict[str, object] | None = None
        for store in stores:
            before = alive(store)
            key = f"mem_{number:04d}"
            if what == "tell":
                with suppress(PlanRejectedError, ErasedSourceError):  # told before, or forgotten
                    told(store, number, plan=f"p{position}")
            elif what == "forget" and key in before:
                forget(store, key, mark=f"{position}_")
                gone.add(number)
            after = alive(store)
            for key, record in after.items():
                assert before.get(key, record) == record
            assert not any(key.endswith(f"_{lost:04d}") for key in after for lost in gone)
            assert expected is None or expected == after
            expected = after
    data = bytes_of(path)
    for number in gone:
        assert text_of(number)[:10].encode() not in data
        assert f"qx{number:04d}z".encode() not in data
        assert vector(text_of(number)) not in data
    for store in stores:
        assert store.check() == []
        store.close()


MOVES = st.lists(
    st.tuples(st.sampled_from(("tell", "tell", "mute", "forget", "send")), st.integers(0, 5), st.integers(0, 1)),
    min_size=4,
    max_size=20,
)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(moves=MOVES)
def test_what_one_store_forgot_the_other_forgets_with_the_next_bundle(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, int, int]]
) -> None:
    path = tmp_path_factory.mktemp("bundles") / "memory.db"
    stores: tuple[Store, Store] = (SqliteStore(path, clock=FakeClock()), MemoryStore(clock=FakeClock()))
    gone: tuple[set[int], set[int]] = (set(), set())
    for position, (what, number, which) in enumerate(moves):
        store, key = stores[which], f"mem_{number:04d}"
        others = {k: v for k, v in alive(store).items() if not k.endswith(f"_{number:04d}")}
        if what == "tell":
            with suppress(PlanRejectedError, ErasedSourceError):  # told before, or forgotten
                told(store, number, plan=f"p{position}")
        elif what == "forget" and key in alive(store):
            forget(store, key, mark=f"{position}_", command_id=f"c{position}")
            gone[which].add(number)
        elif what == "mute" and key in alive(store):
            store.apply(make_plan(f"m{position}", Mute(key, revision(store, key), True)))
        elif what == "send":
            here, there = portable(store, f"{position}a_"), portable(stores[1 - which], f"{position}b_")
            with suppress(BundleError):  # one of both muted it meanwhile
                there.apply(there.plan(here.export(ALICE), None, ("default", "default")))
                gone[1 - which].update(gone[which])
        if what != "send":
            assert {k: v for k, v in alive(store).items() if not k.endswith(f"_{number:04d}")} == others
        for one, lost in zip(stores, gone, strict=True):
            assert not any(key.endswith(f"_{n:04d}") for key in alive(one) for n in lost)
    data = bytes_of(path)
    for number in gone[0]:
        assert text_of(number)[:10].encode() not in data
        assert f"qx{number:04d}z".encode() not in data
    for store in stores:
        assert store.check() == []
        for kept in receipts(store):
            assert read_receipt(kept.to_dict()) == kept
        store.close()


def portable(store: Store, mark: str) -> Portable:
    return Portable(store, EMBEDDER, FakeClock(START + timedelta(days=2)), SequentialIds(mark))


def revision(store: Store, key: str) -> int:
    with store.view() as view:
        return view.memories([key])[key].revision


def receipts(store: Store) -> list[Receipt]:
    with store.view() as view:
        return [kept.receipt for kept in view.traces(ALICE).receipts()]


def test_a_thousand_memories_of_which_a_hundred_go(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path, clock=FakeClock())
    for start in range(0, 1000, 50):
        numbers = range(start, start + 50)
        told_at_once = [op for n in numbers for op in statement(f"{n:04d}", text_of(n), EMBEDDER)]
        store.apply(make_plan(f"p{start}", *told_at_once))
    told(store, 5000, BOB)
    before, bobs = alive(store), alive(store, BOB)
    lost = list(range(0, 1000, 10))
    for number in lost[:36]:
        forget(store, f"mem_{number:04d}", mark=f"{number}_")
    for batch in (lost[36:68], lost[68:]):
        forget(store, *(f"mem_{number:04d}" for number in batch), mark=f"b{batch[0]}_")
    after = alive(store)
    assert len(after) == 1800
    assert after == {key: record for key, record in before.items() if key in after}
    assert alive(store, BOB) == bobs
    data = bytes_of(path)
    for number in lost:
        for trace in (text_of(number).encode(), text_of(number)[:10].encode(), vector(text_of(number))):
            assert trace not in data
        assert f"qx{number:04d}".encode() not in data.lower()
    for number in (1, 555, 999):
        assert text_of(number).encode() in data
        assert vector(text_of(number)) in data
    assert store.check() == []
    with store.view() as view:
        assert sum(kept.receipt.details["memories"] for kept in view.traces(ALICE).receipts()) == 100
        ledger = view.stats()["ledger"]
    store.rebuild()
    with store.view() as view:
        assert view.stats()["ledger"] == ledger
    assert alive(store) == after
    store.close()


@pytest.mark.parametrize(
    "fault",
    [
        "sqlite.apply.resolved",
        "sqlite.apply.records_written",
        "sqlite.apply.before_commit",
        "sqlite.apply.committed",
        "sqlite.clean.merged",
        "sqlite.clean.emptied",
    ],
)
def test_killed_while_forgetting(tmp_path: Path, fault: str) -> None:
    path = tmp_path / "memory.db"
    store = SqliteStore(path, clock=FakeClock())
    for number in range(5):
        told(store, number)
    before = alive(store)
    store.close()
    environment = {**os.environ, "PYTHONPATH": str(Path(memwell.__file__).parents[1]), "MEMWELL_FAULT": fault}
    child = subprocess.run([sys.executable, str(CHILD), str(path), "mem_0003"], env=environment, check=False)
    assert child.returncode == -signal.SIGKILL
    store = SqliteStore(path, clock=FakeClock())
    assert store.check() == []
    left = alive(store)
    committed = fault == "sqlite.apply.committed" or ".clean." in fault
    assert left == ({k: v for k, v in before.items() if not k.endswith("_0003")} if committed else before)
    if not committed:
        forget(store, "mem_0003", command_id="c")
    assert store.clean()
    assert b"Qx0003z" not in bytes_of(path)
    assert b"qx0003z" not in bytes_of(path)
    store.close()
