"""What a store keeps in memory for its next question is never stale: whoever wrote, whatever the clock says."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from memwell.domain.evidence import Permissions, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Kind, Links, Source, State
from memwell.domain.plan import AddEvidence, AddMemory, AddSources, Retire, Unit
from memwell.domain.text import query_terms
from memwell.engine.ports import View
from memwell.engine.queries import PageQuery, PoolEntry, PoolQuery
from memwell.storage.sqlite import SqliteStore
from memwell.testing.doubles import (
    ALICE,
    START,
    FakeClock,
    HashEmbedder,
    make_evidence,
    make_index,
    make_memory,
    make_plan,
    statement,
)

HOUR = timedelta(hours=1)
NOW = Lens(now=START)
CLOUD = replace(NOW, target=Target.CLOUD)
EMBEDDER = HashEmbedder()


@pytest.fixture
def other(path: Path, store: SqliteStore) -> Iterator[SqliteStore]:
    """The same file, opened a second time: its connections and what it keeps are its own, as in another process."""
    other = SqliteStore(path, clock=FakeClock())
    yield other
    other.close()


def _pool(view: View, lens: Lens, unit: Unit = Unit.MEMORY, words: str = "Lyon") -> list[PoolEntry]:
    query = PoolQuery(
        lens=lens, limit=500, model=EMBEDDER.model, vector=EMBEDDER.query(words), terms=query_terms(words.lower())
    )
    return list(view.pool(ALICE, unit, query))


def _ids(store: SqliteStore, lens: Lens = NOW, unit: Unit = Unit.MEMORY) -> list[str]:
    with store.view() as view:
        return [entry.record_id for entry in _pool(view, lens, unit)]


def _say(store: SqliteStore, *keys: str) -> None:
    for key in keys:
        store.apply(make_plan(f"p{key}", *statement(key, f"I like Lyon {key}", EMBEDDER)))


def test_what_another_process_stores_and_retires_is_seen(store: SqliteStore, other: SqliteStore) -> None:
    _say(store, "1")
    for reader in (store, other):
        assert _ids(reader) == ["mem_1"]
        assert _ids(reader, unit=Unit.EVIDENCE) == ["ev_1"]
    _say(other, "2")
    assert _ids(store) == ["mem_1", "mem_2"]
    assert _ids(store, unit=Unit.EVIDENCE) == ["ev_1", "ev_2"]
    store.apply(make_plan("q", Retire("mem_1", 1, State.ARCHIVED, "delete")))
    assert _ids(other) == _ids(store) == ["mem_2"]
    assert _ids(other, replace(NOW, include_past=True)) == ["mem_2"]


def test_a_superseded_memory_leaves_the_present_and_stays_in_the_past(store: SqliteStore, other: SqliteStore) -> None:
    _say(store, "1")
    past = replace(NOW, include_past=True)
    assert _ids(store) == _ids(store, past) == _ids(other) == _ids(other, past) == ["mem_1"]
    newer = statement("2", "I like Lyon less", EMBEDDER, links=Links(supersedes=("mem_1",)))
    other.apply(make_plan("p2", *newer, Retire("mem_1", 1, State.SUPERSEDED, "override", START)))
    for reader in (store, other):
        assert _ids(reader) == ["mem_2"]
        assert _ids(reader, past) == ["mem_1", "mem_2"]


def test_a_source_that_may_not_be_sent_hides_its_memory_from_the_cloud(store: SqliteStore, other: SqliteStore) -> None:
    _say(store, "1", "2")
    assert _ids(store) == _ids(store, CLOUD) == ["mem_1", "mem_2"]
    private = make_evidence("ev_3", "I like Lyon a lot", permissions=Permissions(cloud=False))
    sources = (Source("ev_3", 0, 11, START),)
    other.apply(make_plan("p3", AddEvidence(private), AddSources("mem_1", 1, sources), make_index(private, EMBEDDER)))
    assert _ids(store) == ["mem_1", "mem_2"]
    assert _ids(store, CLOUD) == ["mem_2"]
    assert _ids(store, unit=Unit.EVIDENCE) == ["ev_1", "ev_2", "ev_3"]
    assert _ids(store, CLOUD, Unit.EVIDENCE) == ["ev_1", "ev_2"]


def test_a_validity_ends_as_the_clock_moves_and_begins_again_if_it_is_set_back(store: SqliteStore) -> None:
    for hours in (2, 1, 3):
        operations = statement(f"{hours}", "I stay in Lyon", EMBEDDER, valid_until=START + hours * HOUR)
        store.apply(make_plan(f"p{hours}", *operations))
    tick = timedelta(microseconds=1)
    moments = {
        START: ["mem_2", "mem_1", "mem_3"],
        START + HOUR - tick: ["mem_2", "mem_1", "mem_3"],
        START + HOUR: ["mem_2", "mem_3"],
        START + 2 * HOUR - tick: ["mem_2", "mem_3"],
        START + 2 * HOUR: ["mem_3"],
        START + 9 * HOUR: [],
    }
    for moment in (*moments, *reversed(moments)):
        assert _ids(store, Lens(now=moment)) == moments[moment]


def test_moments_asked_for_are_not_mixed_up_with_the_present(store: SqliteStore) -> None:
    _say(store, "1")
    later = START + HOUR
    store.apply(make_plan("q", Retire("mem_1", 1, State.ENDED, "end", later), at=later))
    store.apply(make_plan("p2", *statement("2", "I like Lyon", EMBEDDER, valid_from=later), at=later))
    end = Lens(now=START + 2 * HOUR)
    for _ in range(2):
        assert _ids(store, end) == ["mem_2"]
        assert _ids(store, replace(end, as_of=START)) == ["mem_1"]
        assert _ids(store, replace(end, as_of=later)) == ["mem_2"]
        assert _ids(store, replace(end, known_at=START - HOUR)) == []
        assert _ids(store, replace(end, as_of=START, include_past=True)) == ["mem_1"]
        assert _ids(store, replace(end, include_past=True)) == ["mem_1", "mem_2"]


def test_more_lenses_than_are_kept(store: SqliteStore) -> None:
    kinds = (Kind.FACT, Kind.EVENT, Kind.PREFERENCE, Kind.STATE, Kind.IDENTITY)
    for number, kind in enumerate(kinds):
        store.apply(make_plan(f"p{number}", *statement(str(number), "I like Lyon", EMBEDDER, kind=kind)))
    for _ in range(3):
        for number, kind in enumerate(kinds):
            assert _ids(store, replace(NOW, kinds=frozenset({kind}))) == [f"mem_{number}"]
        for first, second in ((0, 1), (3, 4)):
            pair = frozenset({kinds[first], kinds[second]})
            assert _ids(store, replace(NOW, kinds=pair)) == [f"mem_{first}", f"mem_{second}"]


def test_new_vectors_count_at_once(store: SqliteStore, other: SqliteStore) -> None:
    evidence = make_evidence("ev_1", "green tea and then blue cars")
    record = make_memory("mem_1", evidence)
    store.apply(make_plan("p1", AddEvidence(evidence), AddMemory(record), make_index(record, EMBEDDER)))

    def likeness(words: str) -> float:
        with store.view() as view:
            return _pool(view, NOW, words=words)[0].similarity

    before = likeness("blue cars")
    other.apply(make_plan("p2", make_index(record, EMBEDDER, (0, 9), (19, 28))))
    assert likeness("blue cars") == pytest.approx(1, abs=1e-5) != pytest.approx(before, abs=1e-2)
    other.apply(make_plan("p3", make_index(record, EMBEDDER, (0, 9))))
    assert likeness("green tea") == pytest.approx(1, abs=1e-5)
    assert likeness("blue cars") < 0.9
    other.apply(make_plan("p4", make_index(record, HashEmbedder(16, model="hash-2"))))
    assert likeness("green tea") == 0


def test_two_questions_do_not_share_an_answer(store: SqliteStore) -> None:
    store.apply(make_plan("p1", *statement("1", "green tea", EMBEDDER), *statement("2", "blue cars", EMBEDDER)))
    vector = EMBEDDER.query("green tea")
    query = PoolQuery(lens=NOW, limit=1, model=EMBEDDER.model, vector=vector)
    with store.view() as view:
        assert [entry.record_id for entry in view.pool(ALICE, Unit.MEMORY, query)] == ["mem_1"]
        vector[:] = EMBEDDER.query("blue cars")
        assert [entry.record_id for entry in view.pool(ALICE, Unit.MEMORY, query)] == ["mem_2"]


def test_a_rebuilt_index_answers_the_same(store: SqliteStore, other: SqliteStore) -> None:
    _say(store, "1", "2")
    other.apply(make_plan("q", Retire("mem_1", 1, State.ARCHIVED, "delete")))
    with store.view() as view:
        before = _pool(view, NOW), _pool(view, NOW, Unit.EVIDENCE)
    other.rebuild()
    for reader in (store, other):
        with reader.view() as view:
            assert (_pool(view, NOW), _pool(view, NOW, Unit.EVIDENCE)) == before
    _say(other, "3")
    assert _ids(store) == _ids(other) == ["mem_2", "mem_3"]


def test_a_small_budget_changes_nothing(path: Path, store: SqliteStore) -> None:
    _say(store, "1", "2")
    thrifty = SqliteStore(path, clock=FakeClock(), cache_bytes=1)
    for reader in (thrifty, store, thrifty):
        assert _ids(reader) == ["mem_1", "mem_2"]
        assert _ids(reader, unit=Unit.EVIDENCE) == ["ev_1", "ev_2"]
    thrifty.close()


def test_each_of_many_threads_is_shown_its_own_snapshot(store: SqliteStore, other: SqliteStore) -> None:
    """Readers of one cache at once, while two connections store and retire; the rows themselves are the measure."""
    current = PageQuery(ALICE, 500, frozenset({State.CURRENT}))
    was_true = replace(current, states=frozenset(state for state in State if state.was_true))

    def write(number: int) -> None:
        writer = (store, other)[number % 2]
        _say(writer, str(number))
        if number % 3 == 0:
            writer.apply(make_plan(f"q{number}", Retire(f"mem_{number}", 1, State.ENDED, "end", START)))

    def read(number: int) -> int:
        past = number % 2 == 0
        with store.view() as view:
            listed = {memory.id for memory in view.page(was_true if past else current)}
            pool = _pool(view, replace(NOW, include_past=past))
        assert {entry.record_id for entry in pool} == listed
        assert all(np.isfinite(entry.similarity) and entry.similarity != 0 for entry in pool)
        return len(pool)

    with ThreadPoolExecutor(1) as writing, ThreadPoolExecutor(4) as reading:
        written = writing.map(write, range(60))
        sizes = list(reading.map(read, range(240)))
        list(written)
    assert max(sizes) <= 60
    assert len(_ids(store)) == 40
