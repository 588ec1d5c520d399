"""Cases about the pool: what is hidden is not there, what is there is found by meaning and by words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from memwell.domain.evidence import Permissions, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Kind, Links, Source, State
from memwell.domain.plan import AddEvidence, AddMemory, AddSources, EraseEvidence, Retire, Unit
from memwell.engine.ports import Store
from memwell.engine.queries import PoolQuery
from memwell.errors import InputError
from memwell.testing.conformance.cases import EMBEDDER, NOW, StoreCases, entries, found, memory, say
from memwell.testing.doubles import (
    ALICE,
    BOB,
    START,
    HashEmbedder,
    make_evidence,
    make_index,
    make_memory,
    make_plan,
    statement,
)

DAY = timedelta(days=1)
CLOUD = Lens(now=START, target=Target.CLOUD)


def _words(store: Store, model: str = EMBEDDER.model, *ids: str) -> dict[str, bytes]:
    with store.view() as view:
        return view.words(ids or ("ev_1",), model)


class SearchingCases(StoreCases):
    def test_entries_tell_where_they_are_from(self, store: Store) -> None:
        for number in (1, 2):
            evidence = make_evidence(f"ev_{number}", session_id=f"s{number}", occurred_at=START + DAY * number)
            record = make_memory(f"mem_{number}", evidence)
            plan = make_plan(
                f"p{number}",
                AddEvidence(evidence),
                AddMemory(record),
                make_index(evidence, EMBEDDER),
                make_index(record, EMBEDDER),
            )
            store.apply(plan)
        for unit in Unit:
            first, second = entries(store, "lyon", "I live in Lyon.", unit)
            assert (first.session_id, second.session_id) == ("s1", "s2")
            assert first.position < second.position
            assert (first.said_at, second.said_at) == ((START + DAY).timestamp(), (START + 2 * DAY).timestamp())
            assert first.similarity == pytest.approx(1, abs=1e-5)

    def test_the_best_window_counts(self, store: Store) -> None:
        evidence = make_evidence("ev_1", "green tea and then blue cars")
        record = make_memory("mem_1", evidence)
        windows = make_index(record, EMBEDDER, (0, 9), (19, 28))
        store.apply(make_plan("p1", AddEvidence(evidence), AddMemory(record), windows))
        for text in ("green tea", "blue cars"):
            assert entries(store, "", text)[0].similarity == pytest.approx(1, abs=1e-5)
        store.apply(make_plan("p2", make_index(record, EMBEDDER, (0, 9))))
        assert entries(store, "", "green tea")[0].similarity == pytest.approx(1, abs=1e-5)
        assert entries(store, "", "blue cars")[0].similarity < 0.9

    def test_vectors_of_other_models_are_not_compared(self, store: Store) -> None:
        say(store, "I live in Lyon", "I work in Rome")
        other = HashEmbedder(16, model="hash-2")
        store.apply(make_plan("p9", make_index(memory(store, "mem_2"), other)))
        assert found(store, like="Rome") == ["mem_1"]
        with store.view() as view:
            vector = other.query("I work in Rome")
            pool = view.pool(
                ALICE, Unit.MEMORY, PoolQuery(model="hash-2", vector=vector, terms=["lyon"], lens=NOW, limit=9)
            )
            assert [(entry.record_id, entry.similarity > 0.9) for entry in pool] == [("mem_1", False), ("mem_2", True)]
            unknown = view.pool(
                ALICE, Unit.MEMORY, PoolQuery(model="hash-3", vector=vector, terms=["lyon"], lens=NOW, limit=9)
            )
            assert [(entry.record_id, entry.similarity) for entry in unknown] == [("mem_1", 0)]
            with pytest.raises(InputError, match="32 dimensions"):
                view.pool(ALICE, Unit.MEMORY, PoolQuery(model="hash-1", vector=vector, terms=[], lens=NOW, limit=9))

    def test_words_are_kept_of_evidence_by_the_model_of_its_vectors(self, store: Store) -> None:
        evidence = make_evidence("ev_1", "green tea and then blue cars")
        made = make_index(evidence, EMBEDDER, (0, 9), (19, 28))
        first, second = made.vectors
        worded = replace(made, vectors=(replace(first, words=b"\x01"), replace(second, words=b"\x02\x03")))
        store.apply(make_plan("p1", AddEvidence(evidence), worded))
        assert _words(store) == {"ev_1": b"\x01\x02\x03"}
        assert _words(store, "hash-2") == {}
        assert _words(store, EMBEDDER.model, "ev_2") == {}
        store.apply(make_plan("p2", replace(made, vectors=(replace(first, words=b""),))))
        assert _words(store) == {"ev_1": b""}
        store.apply(make_plan("p3", made))
        assert _words(store) == {}

    def test_words_go_with_their_evidence(self, store: Store) -> None:
        evidence = make_evidence("ev_1", "green tea")
        made = make_index(evidence, EMBEDDER)
        worded = replace(made, vectors=(replace(made.vectors[0], words=b"\x01"),))
        store.apply(make_plan("p1", AddEvidence(evidence), worded))
        store.apply(make_plan("p2", EraseEvidence("ev_1")))
        assert _words(store) == {}
        assert store.check() == []

    def test_the_limit_counts_what_is_visible(self, store: Store) -> None:
        say(store, *["I live in Lyon"] * 30)
        for number in range(1, 28):
            store.apply(make_plan(f"q{number}", Retire(f"mem_{number}", 1, State.ARCHIVED, "delete")))
        assert found(store, "lyon", limit=2) == found(store, like="Lyon", limit=2) == ["mem_28", "mem_29"]
        assert found(store, "lyon", limit=0) == []

    def test_both_rankings_are_united(self, store: Store) -> None:
        say(store, "green tea", "blue cars", "red doors")
        assert found(store, "blue", like="green tea", limit=1) == ["mem_1", "mem_2"]
        assert found(store, "", limit=5) == []

    def test_what_is_past_is_reached_only_when_asked(self, store: Store) -> None:
        say(store, "I live in Lyon")
        at = START + DAY
        rome = statement("2", "I live in Rome", EMBEDDER, links=Links(supersedes=("mem_1",)), valid_from=at)
        store.apply(make_plan("p2", *rome, Retire("mem_1", 1, State.SUPERSEDED, "override", at), at=at))
        later = START + 2 * DAY
        for words, like in (("live", None), ("", "live")):
            assert found(store, words, like=like, lens=Lens(later)) == ["mem_2"]
            assert found(store, words, like=like, lens=Lens(later, include_past=True)) == ["mem_1", "mem_2"]
            assert found(store, words, like=like, lens=Lens(later, as_of=START + DAY / 2)) == ["mem_1"]
            assert found(store, words, like=like, lens=Lens(later, as_of=at)) == ["mem_2"]
            assert found(store, words, like=like, lens=Lens(later, as_of=START - DAY)) == []

    def test_what_was_known_stays_as_it_was(self, store: Store) -> None:
        moments = [START, START + DAY, START + 2 * DAY]
        for number, at in enumerate(moments):
            evidence = make_evidence(f"ev_{number}", "I live in Lyon", recorded_at=at)
            retire = [Retire(f"mem_{number - 1}", 1, State.RETRACTED, "retract")] if number else []
            plan = make_plan(
                f"p{number}", AddEvidence(evidence), AddMemory(make_memory(f"mem_{number}", evidence)), *retire
            )
            store.apply(make_plan(f"p{number}", *plan.operations, at=at))
        for number, at in enumerate(moments):
            assert found(store, "lyon", lens=Lens(START, known_at=at)) == [f"mem_{number}"]
        assert found(store, "lyon", lens=Lens(START, known_at=START - DAY)) == []
        assert found(store, "lyon", lens=Lens(START, known_at=START), unit=Unit.EVIDENCE) == ["ev_0"]

    def test_what_has_ended_is_hidden(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I stay in Lyon", EMBEDDER, valid_until=START + DAY)))
        assert found(store, "lyon", lens=Lens(START + DAY - timedelta(microseconds=1))) == ["mem_1"]
        assert found(store, "lyon", like="lyon", lens=Lens(START + DAY)) == []

    def test_kinds(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I moved to Lyon", EMBEDDER, kind=Kind.EVENT)))
        assert found(store, "lyon", lens=Lens(START, kinds=frozenset({Kind.EVENT, Kind.FACT}))) == ["mem_1"]
        assert found(store, "lyon", lens=Lens(START, kinds=frozenset({Kind.FACT}))) == []

    def test_one_unreadable_source_hides_a_memory(self, store: Store) -> None:
        say(store, "I live in Lyon")
        assert found(store, "lyon", lens=CLOUD) == ["mem_1"]
        local = make_evidence("ev_2", "I live in Lyon", permissions=Permissions(cloud=False))
        store.apply(make_plan("p2", AddEvidence(local), AddSources("mem_1", 1, (Source("ev_2", 0, 6, START),))))
        assert found(store, "lyon", like="lyon", lens=CLOUD) == []
        assert found(store, "lyon", lens=CLOUD, unit=Unit.EVIDENCE) == ["ev_1"]
        assert found(store, "lyon", lens=NOW) == ["mem_1"]

    def test_other_scopes_are_out_of_reach(self, store: Store) -> None:
        say(store, "I live in Lyon")
        store.apply(make_plan("p2", *statement("2", "I live in Lyon", EMBEDDER, scope=BOB), scope=BOB))
        for unit, key in ((Unit.MEMORY, "mem_"), (Unit.EVIDENCE, "ev_")):
            assert found(store, "lyon", like="lyon", unit=unit) == [key + "1"]
            assert found(store, "lyon", like="lyon", unit=unit, scope=BOB) == [key + "2"]

    def test_a_turn_with_a_retired_memory_is_not_intact(self, store: Store) -> None:
        turn = make_evidence("ev_1", "I live in Lyon. I like tea.")
        home, taste = make_memory("mem_1", turn, kind=Kind.STATE), make_memory("mem_2", turn, kind=Kind.PREFERENCE)
        store.apply(make_plan("p1", AddEvidence(turn), AddMemory(home), AddMemory(taste)))
        say(store, "I like coffee", first=3)
        tastes = Lens(now=START, kinds=frozenset({Kind.PREFERENCE}))
        with store.view() as view:
            before = view.pool(ALICE, Unit.MEMORY, PoolQuery(tastes, 9, terms=["tea"]))
        store.apply(make_plan("p9", Retire("mem_1", 1, State.ARCHIVED, "delete")))
        with store.view() as view:
            after = view.pool(ALICE, Unit.MEMORY, PoolQuery(tastes, 9, terms=["tea"]))
        assert [(entry.record_id, entry.intact) for entry in before] == [("mem_2", True)]
        assert [(entry.record_id, entry.intact) for entry in after] == [("mem_2", False)]

    def test_a_memory_without_sources_has_no_place(self, store: Store) -> None:
        record = make_memory(
            "mem_1", make_evidence("ev_1"), kind=Kind.ENTITY, sources=(), content="Ann", session_id="s"
        )
        store.apply(make_plan("p1", AddMemory(record), make_index(record, EMBEDDER)))
        assert [(entry.session_id, entry.position, entry.said_at) for entry in entries(store, "ann", "Ann")] == [
            ("s", 0, START.timestamp())
        ]

    def test_a_rebuilt_store_is_equal(self, store: Store) -> None:
        say(store, "I live in Lyon", "我喜欢绿茶", "She runs")
        store.apply(make_plan("p9", Retire("mem_3", 1, State.ARCHIVED, "delete")))
        before = [entries(store, words, "Lyon", unit) for words in ("lyon", "绿茶", "run") for unit in Unit]
        store.rebuild()
        assert [entries(store, words, "Lyon", unit) for words in ("lyon", "绿茶", "run") for unit in Unit] == before

    def test_a_view_does_not_see_later_writes(self, store: Store) -> None:
        say(store, "I live in Lyon", "I like Lyon")
        vector = EMBEDDER.query("Lyon")
        with store.view() as view:
            say(store, "I left Lyon", first=3)
            store.apply(make_plan("p4", Retire("mem_1", 1, State.ARCHIVED, "delete")))
            store.apply(make_plan("p5", make_index(memory(store, "mem_2"), EMBEDDER, (0, 1))))
            late = found(store, "lyon", like="Lyon")
            pool = view.pool(
                ALICE, Unit.MEMORY, PoolQuery(model=EMBEDDER.model, vector=vector, terms=["lyon"], lens=NOW, limit=9)
            )
            counted = view.count(ALICE, NOW)
        assert late == ["mem_2", "mem_3"]
        assert [entry.record_id for entry in pool] == ["mem_1", "mem_2"]
        assert counted == 2
        for entry, content in zip(pool, ("I live in Lyon", "I like Lyon"), strict=True):
            assert entry.similarity == pytest.approx(float(np.dot(EMBEDDER.query(content), vector)), abs=1e-5)
