"""Cases about words: which are found, and how matches compare."""

from __future__ import annotations

import pytest

from memwell.domain.evidence import Speaker
from memwell.domain.indexed import SPEAKER
from memwell.domain.memory import State
from memwell.domain.plan import AddEvidence, AddMemory, Retire, Unit
from memwell.domain.text import query_terms
from memwell.engine.ports import Store
from memwell.engine.queries import PoolEntry, PoolQuery
from memwell.testing.conformance.cases import EMBEDDER, NOW, StoreCases, entries, found, say
from memwell.testing.doubles import (
    ALICE,
    BOB,
    make_evidence,
    make_memory,
    make_plan,
    statement,
)


class WordCases(StoreCases):
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("我住在上海，喜欢喝绿茶", "绿茶"),
            ("我住在上海，喜欢喝绿茶", "茶"),
            ("我住在上海，喜欢喝绿茶", "他住哪里在上海"),
            ("東京タワーに行った", "タワー"),
            ("저는 서울에 살아요", "서울"),
            ("We use Go at work", "go"),
            ("Un café à Orléans", "CAFE orleans"),
            ("ＡＢＣ１２３ is the code", "abc123"),
            ("She runs every morning", "running"),
            ("My flat has 3 rooms", "3"),
            ("C'est l'été", "ete"),
        ],
    )
    def test_words_are_found(self, store: Store, content: str, words: str) -> None:
        say(store, content, "Something else entirely", "完全不同的事")
        assert found(store, words)[:1] == ["mem_1"]
        assert found(store, words, unit=Unit.EVIDENCE)[:1] == ["ev_1"]

    @pytest.mark.parametrize(
        "words",
        ['"', "'", "lyon OR", 'lyon" OR "rome', "NEAR(lyon rome)", "lyon*", "words:lyon", "-lyon", "(", "a^b", "1"],
    )
    def test_query_syntax_is_harmless(self, store: Store, words: str) -> None:
        say(store, "I live in Lyon")
        assert found(store, words) == (["mem_1"] if "lyon" in words else [])
        with store.view() as view:
            pool = view.pool(ALICE, Unit.MEMORY, PoolQuery(model="", vector=None, terms=[words], lens=NOW, limit=5))
        assert [entry.record_id for entry in pool] in ([], ["mem_1"])

    def test_many_terms(self, store: Store) -> None:
        say(store, "I live in Lyon")
        assert found(store, " ".join(f"word{number}" for number in range(3000)) + " lyon") == ["mem_1"]

    def test_better_matches_score_higher(self, store: Store) -> None:
        say(store, "green tea in Lyon", "green walls", "a red door", "a blue car", "an old hat")
        scores = {entry.record_id: entry.keyword for entry in entries(store, "green tea", "zzz")}
        assert scores["mem_1"] > scores["mem_2"] > 0
        assert scores["mem_3"] == scores["mem_4"] == 0

    def test_what_is_hidden_moves_no_score(self, store: Store) -> None:
        say(store, "green tea in Lyon", "green walls", "a red door")
        before = entries(store, "green tea door", "tea")
        for number in range(10, 15):
            operations = statement(str(number), "green tea and a green door", EMBEDDER)
            store.apply(make_plan(f"p{number}", *operations))
            store.apply(make_plan(f"q{number}", Retire(f"mem_{number}", 1, State.ARCHIVED, "delete")))
        bobs = statement("20", "green green doors", EMBEDDER, scope=BOB)
        store.apply(make_plan("p20", *bobs, scope=BOB))
        assert entries(store, "green tea door", "tea") == before

    @pytest.mark.parametrize("others", [0, 500])
    def test_a_term_that_too_many_hold_does_not_count(self, store: Store, others: int) -> None:
        bobs = [operation for n in range(others) for operation in statement(f"b{n}", "tea", EMBEDDER, scope=BOB)]
        store.apply(make_plan("p0", *bobs, scope=BOB))
        hidden = ["tea and cars and rain"] * 30
        contents = [*hidden, *["tea and cars"] * 12, "cars", *["rain"] * 107]
        said = [part for number, content in enumerate(contents) for part in statement(str(number), content, EMBEDDER)]
        store.apply(make_plan("p1", *said))
        retired = (Retire(f"mem_{number}", 1, State.ARCHIVED, "delete") for number in range(len(hidden)))
        store.apply(make_plan("p2", *retired))
        # Twelve of the 120 that are visible is a tenth; thirteen are more.
        tea = {f"mem_{number}" for number in range(30, 42)}
        assert {entry.record_id for entry in _matching(store, "tea cars")} == tea
        assert {entry.record_id for entry in _matching(store, "tea rain")} == tea
        assert {entry.record_id for entry in _matching(store, "cars rain")} == tea | {"mem_42"}
        assert len(_matching(store, "rain")) == 107

    @pytest.mark.parametrize("others", [0, 60])
    def test_of_many_terms_the_rarest_visible_ones_count(self, store: Store, others: int) -> None:
        words = [f"w{number}" for number in range(20)]
        bobs = [operation for n in range(others) for operation in statement(f"b{n}", "w19 w18", EMBEDDER, scope=BOB)]
        store.apply(make_plan("p0", *bobs, scope=BOB))
        say(store, *words, *words[:3])
        matching = {entry.record_id for entry in _matching(store, " ".join(words))}
        assert matching == {f"mem_{number}" for number in range(4, 20)}

    def test_what_assistants_and_tools_said_has_no_words(self, store: Store) -> None:
        for number, speaker in enumerate(Speaker):
            record = make_evidence(f"ev_{number}", "secret lyon", speaker=speaker)
            store.apply(make_plan(f"p{number}", AddEvidence(record)))
        assert found(store, "secret", unit=Unit.EVIDENCE) == ["ev_0", "ev_3", "ev_4"]

    def test_names_are_words_too(self, store: Store) -> None:
        evidence = make_evidence("ev_1", "I live in Lyon", name="Zoë")
        record = make_memory("mem_1", evidence, subject="Amélie", qualifiers={SPEAKER: "Zoë"})
        store.apply(make_plan("p1", AddEvidence(evidence), AddMemory(record)))
        assert found(store, "zoe", unit=Unit.EVIDENCE) == ["ev_1"]
        assert found(store, "amelie") == found(store, "zoe") == ["mem_1"]
        assert found(store, "user") == []


def _matching(store: Store, words: str) -> list[PoolEntry]:
    """Alice's memories whose words count for a question of ``words``."""
    with store.view() as view:
        query = PoolQuery(lens=NOW, limit=500, terms=query_terms(words))
        return [entry for entry in view.pool(ALICE, Unit.MEMORY, query) if entry.keyword > 0]
