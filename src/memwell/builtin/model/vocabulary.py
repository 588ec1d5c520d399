"""Word pieces of a unigram model, looked up by hash, since a dictionary of a quarter million takes too long to fill."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from math import inf

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from memwell.engine.ports import Matrix

_SPACE = "▁"
# An unknown character costs this much more than the dearest piece, as in sentencepiece.
_UNKNOWN_EXTRA = 10.0
# Full-width tilde, which the model's normaliser leaves alone.
_KEPT = "～"
_DROPPED = (*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)
_BLANKS = (0x00, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, ord(_SPACE), 0xFEFF, 0xFFFD)
_MARKS: dict[int, str | None] = {**dict.fromkeys(_DROPPED), **dict.fromkeys(_BLANKS, " ")}
# The hash of a piece is the sum over i of its i-th 8 bytes times the i-th odd factor, modulo 2 to the 64: no two pieces
# of the model share one, and another text hits one by chance once in 10 to the 13.
_FACTOR = 0x9E3779B97F4A7C15
_WORD = 8
_MASKS = np.array([(1 << 8 * kept) - 1 for kept in range(_WORD + 1)], np.uint64)
# A sorted key is the upper bits of a hash and, below them, the number of the piece.
_NUMBER_BITS = 18
_NUMBER = np.uint64((1 << _NUMBER_BITS) - 1)
# Characters of the longest piece, and characters that are looked up at a time.
_LONGEST = 16
_STRIDE = 4096


class Vocabulary:
    """The pieces of a unigram model and the likeliest way to cut a text into them.

    Args:
        blob: the UTF-8 of all pieces, one after the other; no piece goes on after a space.
        offsets: where each piece starts in ``blob``, and its end, shape ``(pieces + 1,)``.
        scores: log probability of each piece, shape ``(pieces,)``.
        unknown: number of the piece that stands for an unknown character.
    """

    def __init__(self, blob: bytes, offsets: np.ndarray, scores: Matrix, unknown: int) -> None:
        self._blob, self._offsets = blob, offsets
        starts = offsets[:-1].astype(np.int64)
        lengths = np.diff(offsets).astype(np.int64)
        self._hashes = _hashes(blob, starts, lengths)
        self._keys = np.sort((self._hashes & ~_NUMBER) | np.arange(len(starts), dtype=np.uint64))
        self._costs = -scores
        self._unknown = unknown
        self._unknown_cost = np.float32(self._costs.max() + _UNKNOWN_EXTRA)

    def pieces(self, text: str) -> list[int]:
        """The likeliest word pieces of ``text``, without start and end marks.

        Viterbi search under a unigram model (Kudo, "Subword Regularization", 2018).
        """
        words = normal(text).split()
        if not words:
            return []
        line = (_SPACE + _SPACE.join(words)).encode("utf-8", "replace")
        costs = [0.0] + [inf] * len(line)
        steps = [(0, 0)] * (len(line) + 1)
        for start, end, number, cost in self._found(line):
            total = costs[start] + cost
            if total < costs[end]:
                costs[end] = total
                steps[end] = (start, number)
        found = []
        end = len(line)
        while end:
            end, number = steps[end]
            found.append(number)
        return found[::-1]

    def text(self, number: int) -> str:
        """The characters of a piece; one that begins a word has ``▁`` in front."""
        return self._blob[self._offsets[number] : self._offsets[number + 1]].decode("utf-8", "replace")

    def _found(self, line: bytes) -> Iterator[tuple[int, int, int, float]]:
        """Start, end, number and cost of each piece that occurs in ``line``, in the order of the starts.

        A character that is no piece is found as the unknown one.
        """
        edges = np.flatnonzero((np.frombuffer(line, np.uint8) & 0xC0) != 0x80)
        edges = np.concatenate([edges, np.full(_LONGEST, len(line))])
        ends = sliding_window_view(edges, _LONGEST)[1:]
        for first in range(0, len(ends), _STRIDE):
            part = ends[first : first + _STRIDE]
            starts = np.broadcast_to(edges[first : first + len(part), None], part.shape)
            hashes = _hashes(line, starts.ravel(), (part - starts).ravel()).reshape(part.shape)
            keys = self._keys[np.minimum(np.searchsorted(self._keys, hashes & ~_NUMBER), len(self._keys) - 1)]
            numbers = (keys & _NUMBER).astype(np.int64)
            hit = self._hashes[numbers] == hashes
            costs = np.where(hit, self._costs[numbers], self._unknown_cost)
            numbers = np.where(hit, numbers, self._unknown)
            hit[:, 0] = True
            yield from zip(*(values[hit].tolist() for values in (starts, part, numbers, costs)), strict=True)


def normal(text: str) -> str:
    """``text`` as the model's normaliser leaves it: NFKC, without control characters, invisible ones as spaces."""
    return _KEPT.join(unicodedata.normalize("NFKC", part) for part in text.translate(_MARKS).split(_KEPT))


def _hashes(data: bytes, starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The hash of each run of ``lengths`` bytes at ``starts``, shape of both ``(runs,)``."""
    words = np.ndarray(len(data) + 1, "<u8", data + bytes(_WORD), strides=(1,))
    hashes: np.ndarray = (words[starts] & _MASKS[np.minimum(lengths, _WORD)]) * np.uint64(_FACTOR)
    factor = _FACTOR
    for done in range(_WORD, int(lengths.max(initial=0)), _WORD):
        factor = factor * _FACTOR % (1 << 64)
        more = np.flatnonzero(lengths > done)
        kept = _MASKS[np.minimum(lengths[more] - done, _WORD)]
        hashes[more] += (words[starts[more] + done] & kept) * np.uint64(factor)
    return hashes
