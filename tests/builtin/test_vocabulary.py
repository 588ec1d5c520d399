from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.builtin.model.vocabulary import Vocabulary, normal

UNKNOWN = 0
# A small vocabulary with rivals for the same characters, letters of one to four bytes, and pieces of up to 16 letters.
PIECES = {
    "<unk>": 0.0,
    "▁": -3.0,
    "a": -4.0,
    "b": -4.5,
    "ab": -6.0,
    "▁a": -5.5,
    "▁ab": -7.25,
    "ba": -9.5,
    "abababab": -12.0,
    "ababababababab": -14.0,
    "▁ababababababab": -15.5,
    "é": -8.0,
    "绿": -7.0,
    "绿茶": -9.0,
    "茶绿茶绿茶绿茶绿茶绿茶绿茶绿茶": -20.0,
    "🙂": -9.0,
    "🙂🙂": -9.25,
}


def vocabulary() -> Vocabulary:
    parts = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.uint32)
    return Vocabulary(b"".join(parts), offsets, np.array(list(PIECES.values()), np.float32), UNKNOWN)


def plain_cut(text: str) -> list[int]:
    """The same search, word by word, with a dictionary and nothing else."""
    known = {piece: (number, -score) for number, (piece, score) in enumerate(PIECES.items())}
    found: list[int] = []
    for word in normal(text).split():
        marked = "▁" + word
        best: list[tuple[float, list[int]]] = [(0.0, [])]
        for end in range(1, len(marked) + 1):
            ways = [(start, *known[marked[start:end]]) for start in range(end) if marked[start:end] in known]
            ways.append((end - 1, UNKNOWN, 30.0))
            best.append(min((best[start][0] + cost, [*best[start][1], piece]) for start, piece, cost in ways))
        found += best[-1][1]
    return found


SHARED = vocabulary()


@given(st.text(st.sampled_from("abé绿茶🙂 \n▁xZ"), max_size=60))
def test_a_text_is_cut_like_with_a_plain_dictionary(text: str) -> None:
    assert SHARED.pieces(text) == plain_cut(text)


@given(st.text(max_size=40))
def test_any_text_is_cut_and_nothing_but_spaces_is_lost(text: str) -> None:
    assert bool(SHARED.pieces(text)) == bool(normal(text).split())


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\0", "▁", "​"])
def test_a_text_without_letters_has_no_pieces(text: str) -> None:
    assert SHARED.pieces(text) == []


def test_a_long_text_is_cut_like_its_words() -> None:
    word = "ab绿茶🙂é" * 1000
    assert SHARED.pieces(f"{word} ab {word}") == [*SHARED.pieces(word), *SHARED.pieces("ab"), *SHARED.pieces(word)]


def test_half_a_surrogate_pair_stops_nothing() -> None:
    assert SHARED.pieces("a\ud83d") == SHARED.pieces("aZ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ＡＢＣ １２", "ABC 12"),
        ("ﬁne ½", "fine 1⁄2"),
        ("e\u0301", "é"),
        ("喝茶～", "喝茶～"),
        ("a\tb\r\nc", "a b  c"),
        ("bell\x07\x1b[0m", "bell[0m"),
        ("zero\u200bwidth\ufeff", "zero width "),
        ("nul\0", "nul "),
    ],
)
def test_a_text_is_normalised_as_the_model_learnt_it(text: str, expected: str) -> None:
    assert normal(text).replace("\t", " ").replace("\r", " ").replace("\n", " ") == expected
