from __future__ import annotations

import math

import pytest

from memwell.interfaces.bench.baseline import Bm25, PlainBm25, StrongBm25

TEXTS = ["I drink green tea.", "The train was late.", "我住在上海，喜欢喝绿茶。", "Tea with milk, tea with lemon, tea."]


def test_more_of_a_rare_word_ranks_higher() -> None:
    assert PlainBm25(TEXTS).search("tea", 10) == [3, 0]
    assert PlainBm25(TEXTS).search("绿茶", 10) == [2]


@pytest.mark.parametrize("query", ["", "zebra", "!?"])
def test_no_shared_term_finds_nothing(query: str) -> None:
    assert PlainBm25(TEXTS).search(query, 10) == []


def test_nothing_can_be_searched() -> None:
    assert PlainBm25([]).search("tea", 10) == []


def test_the_limit_holds_and_ties_stay_in_order() -> None:
    assert PlainBm25(["same words"] * 5).search("words", 3) == [0, 1, 2]


def test_weights_are_those_of_the_formula() -> None:
    index = Bm25([["a", "a", "b"], ["b"]], k1=1.5, b=0.75)
    positions, weights = index.postings("a")
    assert positions.tolist() == [0]
    length_norm = 1.5 * (0.25 + 0.75 * 3 / 2)
    assert weights.tolist() == [pytest.approx(math.log(1 + 1.5 / 1.5) * 2 * 2.5 / (2 + length_norm))]


def test_the_strong_row_knows_stems_and_leaves_stop_words_out() -> None:
    texts = ["Ann: She was running late.", "Bob: the the the", "Ann: We ate."]
    assert PlainBm25(texts).search("the runs", 5) == [1]
    assert StrongBm25(texts, frozenset({"the"})).search("the runs", 5) == [0]
    assert StrongBm25(texts, frozenset({"the"})).search("the", 5) == [1]
