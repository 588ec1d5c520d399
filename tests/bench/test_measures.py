from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.interfaces.bench.measures import DEPTHS, Hit, means, score

UNITS = st.sampled_from([f"t{number}" for number in range(80)])


def test_a_ranking_is_scored_as_by_hand() -> None:
    hits = [Hit(("a",), 10), Hit(("b", "c"), 20), Hit(("a",), 5), Hit(("d",), 7)]
    made = means([score(hits, frozenset({"c", "x"}))])
    assert made["recall@1"] == 0
    assert made["recall@5"] == made["recall@50"] == 50
    assert made["any@5"] == 100
    assert made["all@50"] == 0
    assert made["MRR"] == pytest.approx(100 / 3)
    assert made["characters@10"] == 42


def test_characters_are_those_of_the_first_ten_units() -> None:
    hits = [Hit((f"t{number}",), 1) for number in range(30)]
    assert score(hits, frozenset({"t12"})).characters == 10


def test_nothing_found_scores_nothing() -> None:
    made = means([score([], frozenset({"a"}))])
    assert set(made.values()) == {0}


def test_means_are_over_questions_and_characters_a_median() -> None:
    scores = [
        score([Hit(("a",), size)], frozenset({gold})) for size, gold in ((1, "a"), (2, "b"), (900, "a"), (3, "b"))
    ]
    made = means(scores)
    assert made["recall@1"] == made["MRR"] == 50
    assert made["characters@10"] == 2.5


@given(st.lists(UNITS), st.frozensets(UNITS, min_size=1))
def test_deeper_never_finds_less_and_all_implies_any(ranked: list[str], gold: frozenset[str]) -> None:
    made = score([Hit((unit,), 1) for unit in ranked], gold)
    assert list(made.recall) == sorted(made.recall)
    for position in range(len(DEPTHS)):
        assert 0 <= made.found_all[position] <= made.recall[position] <= made.found_any[position] <= 1
    assert (made.reciprocal_rank > 0) == bool(gold.intersection(ranked))
