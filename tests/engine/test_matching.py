"""Words of a question against words of texts."""

from __future__ import annotations

import numpy as np
import pytest

from memwell.engine.matching import word_matches
from memwell.engine.ports import Matrix

BITS = 16


def word(seed: int) -> Matrix:
    """A vector of signs, as a word of a text is kept."""
    signs = np.where(np.random.default_rng(seed).standard_normal(BITS) > 0, 1, -1)
    vector: Matrix = (signs / BITS**0.5).astype(np.float32)
    return vector


def code(*seeds: int) -> bytes:
    return b"".join(np.packbits(word(seed) > 0).tobytes() for seed in seeds)


def test_one_word_finds_a_text_whatever_else_it_tells() -> None:
    matches = word_matches(word(1)[None], [code(2), code(3, 4, 1, 5, 6), code(1)])
    assert matches is not None
    assert matches[1] == matches[2] > 0
    assert matches[0] == 0


def test_the_value_is_the_cosine_above_the_worst() -> None:
    question = np.stack([word(1)])
    matches = word_matches(question, [code(1), code(2)])
    assert matches is not None
    assert matches[1] == 0
    assert matches[0] == pytest.approx(1 - float(word(2) @ word(1)), abs=1e-6)


def test_a_word_that_all_texts_have_decides_less_than_one_that_few_have() -> None:
    common, rare = word(1), word(2)
    texts = [code(1)] * 19 + [code(2)]
    matches = word_matches(np.stack([common, rare]), texts)
    assert matches is not None
    assert (matches[:-1] < matches[-1]).all()


def test_texts_of_which_nothing_is_known_stand_in_the_middle() -> None:
    matches = word_matches(word(1)[None], [code(1), None, code(2)])
    assert matches is not None
    assert matches[1] == pytest.approx((matches[0] + matches[2]) / 2)


def test_a_text_without_words_has_no_share() -> None:
    matches = word_matches(word(1)[None], [b"", code(1), b""])
    assert matches is not None
    assert matches[1] == pytest.approx(1)
    assert matches[0] == matches[2] == 0


@pytest.mark.parametrize("codes", [[], [None, None]])
def test_nothing_known_says_nothing(codes: list[bytes | None]) -> None:
    assert word_matches(word(1)[None], codes) is None


def test_a_question_without_words_says_nothing() -> None:
    assert word_matches(np.zeros((0, BITS), np.float32), [code(1)]) is None
