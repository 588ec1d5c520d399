"""The telling words of a text, from its word pieces and what the encoder made of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.resources import files

import numpy as np

from memwell.builtin.model.weights import EncoderWeights
from memwell.domain.text import fold, is_unspaced
from memwell.engine.ports import Matrix

BITS = 128
# Telling words of a window of the encoder, the first ones.
MOST = 64
_OPENING = "▁"


class Words:
    """Telling words as vectors of ``BITS`` numbers, and as codes of as many bits.

    A word has the mean of its pieces' vectors, less the mean of all words, turned by a projection that keeps most of
    what tells words apart in few numbers and spreads it evenly over them, so that their signs say most of it.
    ``training/words.py`` makes mean and projection.

    Args:
        weights: the file that holds the word pieces.
        prefixes: with what texts are opened that are no part of them.
        stopwords: folded words that tell nothing.
    """

    def __init__(self, weights: EncoderWeights, prefixes: Iterable[str], stopwords: frozenset[str]) -> None:
        self._weights = weights
        self._prefixes = [weights.pieces(prefix) for prefix in prefixes]
        self._stopwords = stopwords
        self._known: dict[int, tuple[str, bool]] = {}

    def means(self, pieces: list[int], vectors: Matrix) -> Matrix:
        """The mean of each telling word's pieces, shape ``(words, 384)``; of all words where none is telling.

        Args:
            pieces: of a text or a window of it.
            vectors: what the encoder made of each.
        """
        first = next((len(known) for known in self._prefixes if pieces[: len(known)] == known), 0)
        spans = self._spans(pieces, first)
        telling = [span for span in spans if fold(span[0]) not in self._stopwords] or spans
        means = [vectors[start:end].mean(axis=0) for _, start, end in telling[:MOST]]
        return np.array(means, np.float32).reshape(-1, vectors.shape[1])

    def turned(self, vectors: Matrix) -> Matrix:
        """Shape ``(words, BITS)``, not normalised."""
        mean, projection = self._shipped
        turned: Matrix = np.matmul(vectors - mean, projection)
        return turned

    def code(self, vectors: Matrix) -> bytes:
        """Signs of ``turned`` vectors, end to end."""
        return np.packbits(self.turned(vectors) > 0, axis=1).tobytes()

    @cached_property
    def _shipped(self) -> tuple[Matrix, Matrix]:
        with files("memwell.builtin.model").joinpath("words.npz").open("rb") as file, np.load(file) as arrays:
            return arrays["mean"].astype(np.float32), arrays["projection"].astype(np.float32)

    def _spans(self, pieces: Sequence[int], first: int) -> list[tuple[str, int, int]]:
        """Each word that has a letter or digit, and the places of its pieces."""
        words: list[tuple[str, int, int]] = []
        for place in range(first, len(pieces)):
            text, opens = self._read(pieces[place])
            if words and not opens and _joins(words[-1][0], text):
                word, start, _ = words[-1]
                words[-1] = (word + text, start, place + 1)
            else:
                words.append((text, place, place + 1))
        return [word for word in words if any(map(str.isalnum, word[0]))]

    def _read(self, number: int) -> tuple[str, bool]:
        """The characters of a piece, and whether it begins a word whatever stands before it."""
        if number not in self._known:
            text = self._weights.piece(number)
            bare = text.replace(_OPENING, "")
            self._known[number] = bare, text.startswith(_OPENING) or not bare.isalnum() or is_unspaced(bare)
        return self._known[number]


def _joins(word: str, text: str) -> bool:
    return word.isalnum() and text.isalnum() and not is_unspaced(word)
