from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell import Memory
from memwell.builtin.question import BuiltinQuestionReader
from memwell.builtin.ranking import load_weights
from memwell.domain.memory import State
from memwell.domain.validity import Validity
from memwell.engine.ports import Question
from memwell.engine.queries import NO_POOL, Pool, PoolEntry
from memwell.engine.ranking import (
    answered,
    date_nearness,
    memory_scores,
    narrowness,
    one_of_each_turn_first,
    ranked,
    remaining,
    turn_scores,
)
from memwell.errors import InputError
from memwell.testing.doubles import FakeClock

JAN = datetime(2025, 1, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
WEIGHTS = load_weights()
NARROW = Question("", ("which", "blue", "harbour", "lantern"))


def entry(name: str, similarity: float = 0.0, keyword: float = 0.0, **more: object) -> PoolEntry:
    made = PoolEntry(name, similarity, keyword, "s", 0, JAN.timestamp())
    return made._replace(**more)  # type: ignore[arg-type]


entries = st.lists(
    st.builds(
        PoolEntry,
        st.uuids().map(str),
        st.floats(-1, 1),
        st.floats(0, 2),
        st.just("s"),
        st.integers(0, 5),
        st.floats(1.6e9, 1.8e9),
        st.integers(0, 3),
        st.booleans(),
        st.booleans(),
    ),
    max_size=12,
)


@given(entries)
def test_ranking_is_a_permutation_and_does_not_depend_on_the_order_of_the_pool(pool: list[PoolEntry]) -> None:
    def names(entries: list[PoolEntry]) -> list[str]:
        scores = turn_scores(Pool.of(entries), NARROW, WEIGHTS)
        return [entries[i].record_id for i in ranked(Pool.of(entries), scores)]

    assert names(pool) == names(pool[::-1])
    order = ranked(Pool.of(pool), turn_scores(Pool.of(pool), NARROW, WEIGHTS))
    assert sorted(one_of_each_turn_first(Pool.of(pool), order)) == list(range(len(pool)))


@given(entries)
def test_a_pool_gives_its_entries_back(pool: list[PoolEntry]) -> None:
    assert list(Pool.of(pool)) == pool


def test_equal_scores_are_ranked_by_id() -> None:
    pool = Pool.of([entry(name, 0.25) for name in ("c", "a", "d", "b")])
    assert ranked(pool, pool.similarity) == [1, 3, 0, 2]


@given(entries, entries, st.booleans())
def test_columns_score_as_entry_by_entry(turns: list[PoolEntry], memories: list[PoolEntry], about_owner: bool) -> None:
    def own(entry: PoolEntry) -> float:
        return WEIGHTS.similarity * entry.similarity + WEIGHTS.keyword * entry.keyword

    episodes = {entry.episode: max(own(o) for o in turns if o.episode == entry.episode) for entry in turns}
    wanted = [own(entry) + WEIGHTS.episode * remaining(1.0, WEIGHTS) * episodes[entry.episode] for entry in turns]
    found = turn_scores(Pool.of(turns), NARROW, WEIGHTS)
    assert found.tolist() == wanted
    turns = [entry._replace(position=place) for place, entry in enumerate(turns)]
    by_position = dict(enumerate(wanted))
    for entry, score in zip(
        memories,
        memory_scores(Pool.of(memories), Pool.of(turns), found, WEIGHTS, about_owner=about_owner).tolist(),
        strict=True,
    ):
        of_turn = by_position.get(entry.position, own(entry)) if entry.intact else own(entry)
        whole = own(entry) + WEIGHTS.turn * of_turn
        assert score == (whole * WEIGHTS.other if about_owner and not entry.about_user and whole > 0 else whole)


def test_words_dates_and_episodes_count_beside_similarity() -> None:
    pool = Pool.of([entry("a", 0.3, episode=1), entry("b", 0.3, 0.5, episode=2), entry("c", 0.3, episode=2)])
    scores = turn_scores(pool, NARROW, WEIGHTS)
    assert scores[1] > scores[2] > scores[0]
    period = Validity(JAN - DAY, JAN + DAY)
    near = date_nearness(Pool.of([entry("a"), entry("b", said_at=(JAN + 8 * DAY).timestamp())]), [period], 7.0)
    assert near[0] == 1
    assert 0.3 < near[1] < 0.4


@pytest.mark.parametrize(
    ("text", "narrow"),
    [
        ("What has Ana painted?", 0.0),
        ("What are Ana's and Ben’s hobbies?", 0.0),
        ("Which painting did Ana show to her teacher in the old harbour?", 1.0),
        ("小林会什么乐器？", 0.0),
        ("去年夏天和同事一起爬山的时候丢了什么东西？", 1.0),
    ],
)
def test_a_question_is_narrow_where_its_words_tell_much(text: str, narrow: float) -> None:
    question = BuiltinQuestionReader().read(text, JAN)
    found = narrowness(question, WEIGHTS)
    assert (found < 0.5) is (narrow < 0.5)
    assert 0 <= found <= 1


@given(st.lists(st.sampled_from(("ana", "tea", "harbour", "blue", "喝茶", "海边")), max_size=8))
def test_more_words_never_make_a_question_broader(words: list[str]) -> None:
    shorter = narrowness(Question("", tuple(words), names=("Ana",)), WEIGHTS)
    assert shorter <= narrowness(Question("", (*words, "more"), names=("Ana",)), WEIGHTS)
    assert shorter == narrowness(Question("", (*words, "ana"), names=("Ana's",)), WEIGHTS)


def test_who_said_it_counts_more_in_broad_questions() -> None:
    pool = Pool.of([entry("a", 0.3, speaker="Ben", episode=1), entry("b", 0.3, speaker="Ana Silva", episode=2)])
    broad = turn_scores(pool, Question("", ("ana", "painted"), names=("Ana's",)), WEIGHTS)
    narrow = turn_scores(pool, replace(NARROW, names=("Ana",)), WEIGHTS)
    assert broad[1] - broad[0] > narrow[1] - narrow[0] > 0
    alone = turn_scores(pool, replace(NARROW, names=("Ana",)), replace(WEIGHTS, named=0.0))
    assert alone[1] == alone[0]


def test_nothing_answers_where_all_is_far_away() -> None:
    weights = replace(WEIGHTS, least_keyword=0.5, few=2)
    assert answered(Pool.of([entry("a")]), weights, 0.2)
    assert not answered(Pool.of([entry("a", 0.19, 0.49), entry("b", -0.1)]), weights, 0.2)
    assert answered(Pool.of([entry("a", 0.19, 0.5), entry("b", -0.1)]), weights, 0.2)
    assert answered(Pool.of([entry("a", 0.2), entry("b", -0.1)]), weights, 0.2)


def test_a_turn_speaks_for_its_memories_unless_one_was_retired() -> None:
    pool = Pool.of(
        [entry("a", 0.2, position=7), entry("b", 0.2, position=7, intact=False), entry("c", 0.2, position=9)]
    )
    turns = Pool.of([entry("turn", position=7), entry("earlier", position=3)])
    scores = memory_scores(pool, turns, np.array([2.0, 5.0]), WEIGHTS, about_owner=False)
    assert scores.tolist() == pytest.approx([2.2, 0.4, 0.4])


def test_facts_about_others_give_way_in_questions_about_the_owner() -> None:
    pool = Pool.of([entry("mine", 0.4), entry("hers", 0.5, about_user=False)])
    assert ranked(pool, memory_scores(pool, NO_POOL, np.zeros(0), WEIGHTS, about_owner=True)) == [0, 1]
    assert ranked(pool, memory_scores(pool, NO_POOL, np.zeros(0), WEIGHTS, about_owner=False)) == [1, 0]


def test_one_memory_of_each_turn_comes_first() -> None:
    pool = Pool.of([entry("a", position=1), entry("b", position=1), entry("c", position=2)])
    assert one_of_each_turn_first(pool, [0, 1, 2]) == [0, 2, 1]


def test_what_a_retired_sentence_says_does_not_lift_its_neighbour(memory: Memory) -> None:
    memory.add("I live in Lyon. I'm allergic to peanuts.", at=JAN)
    memory.add("I moved to Porto.", at=JAN + 60 * DAY)
    assert memory.search("Where do I live?").memories[0].content == "I moved to Porto."


def test_a_past_known_at_never_changes(memory: Memory, clock: FakeClock) -> None:
    memory.add("I live in Lyon.", at=JAN)
    known = clock.now()
    clock.advance(DAY)
    before = memory.search("Where do I live?", known_at=known).to_dict()
    memory.add("I moved to Porto.", at=JAN + 60 * DAY)
    memory.add("I live in Lyon.", at=JAN + 2 * DAY)
    after = memory.search("Where do I live?", known_at=known)
    assert after.to_dict() == before
    assert after.memories[0].state is State.CURRENT


def test_the_same_question_gives_the_same_bytes(memory: Memory) -> None:
    for i in range(12):
        memory.add(f"My locker {i} has the code {i * 37}.", at=JAN + i * DAY)
    first = memory.search("Which code has locker 3?", raw_limit=4)
    again = memory.search("Which code has locker 3?", raw_limit=4)
    assert first.to_dict() == again.to_dict()
    assert first.text() == again.text()


def test_a_question_about_the_past_reaches_superseded_versions(memory: Memory) -> None:
    memory.add("我住在广州", at=JAN)
    memory.add("我搬到成都了", at=JAN + 60 * DAY)
    assert not any("广州" in item.content for item in memory.search("我住在哪里？").memories)
    past = [item for item in memory.search("我以前住在哪里？").memories if "广州" in item.content]
    assert past[0].state is State.SUPERSEDED
    assert "(superseded)" in memory.search("我以前住在哪里？").text()


def test_relations_come_along_and_can_be_left_out(memory: Memory) -> None:
    memory.add("I live in Lyon.", at=JAN)
    memory.add("I moved to Porto.", at=JAN + 60 * DAY)
    (item,) = memory.search("Where do I live?").memories
    assert [old.content for old in item.previous] == ["I live in Lyon."]
    (bare,) = memory.search("Where do I live?", include_relations=False).memories
    assert bare.previous == ()


def test_observed_material_stays_local(memory: Memory) -> None:
    memory.add([{"role": "observed", "content": "Calendar: dentist on 3 March 2025", "at": JAN}])
    assert memory.search("dentist").memories
    assert memory.search("dentist", target="cloud", raw_limit=3).memories == ()
    assert memory.search("dentist", target="cloud", raw_limit=3).raw == ()


@pytest.mark.parametrize(
    "bad", [{"limit": -1}, {"limit": 10**6}, {"raw_limit": -5}, {"target": "moon"}, {"as_of": "noon"}]
)
def test_bad_arguments_are_named(memory: Memory, bad: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        memory.search("Where?", **bad)  # type: ignore[arg-type]
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("own", "claim", "question"),
    [
        ("I was born in Ghent.", "My cousin claims I was born in Bruges.", "What does my cousin claim, Bruges?"),
        ("我在银川出生。", "我表姐说我在西宁出生。", "表姐说我在西宁出生吗？"),
    ],
)
def test_a_claim_stands_behind_what_it_contradicts(memory: Memory, own: str, claim: str, question: str) -> None:
    memory.add(own, at=JAN)
    memory.add(claim, at=JAN + 9 * DAY)
    found = memory.search(question).memories
    assert [item.content for item in found] == [own, claim]
    assert found[0].score < found[1].score
