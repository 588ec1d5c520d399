"""Rules about vectors: which are refused, how they are packed, and how a long text is cut before it is embedded."""

from __future__ import annotations

import unicodedata
from itertools import accumulate

import numpy as np

from memwell.domain.memory import Span
from memwell.domain.segments import sentences
from memwell.engine.ports import Matrix
from memwell.errors import EmbeddingError

# Small encoders read about 500 tokens: some 1,500 Latin characters, or 500 wide (Chinese, Japanese, Korean) ones.
WINDOW_COST = 1500
_WIDE_COST = 3
_LENGTH_TOLERANCE = 1e-3


def checked(matrix: Matrix, dimensions: int, count: int) -> Matrix:
    """Return ``matrix`` as contiguous float32 if it can be stored and compared.

    Args:
        matrix: an embedder's answer, ``count`` rows of ``dimensions`` numbers, each row of length 1.

    Raises:
        EmbeddingError: ``wrong_shape``, ``not_finite`` or ``not_normalised``.
    """
    rows = np.asarray(matrix)
    if rows.shape != (count, dimensions) or rows.dtype.kind != "f":
        raise EmbeddingError(
            f"the embedder returned {rows.dtype} of shape {rows.shape} for {count} texts of {dimensions} dimensions",
            remedy="check that the embedder's dimensions match its model",
            code="wrong_shape",
        )
    if not np.isfinite(rows).all():
        bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise EmbeddingError(
            f"vector {bad} of {count} has a NaN or an infinite number",
            remedy="repeat the write; if it stays so, use another embedder",
            code="not_finite",
        )
    lengths = np.linalg.norm(rows, axis=1)
    if (np.abs(lengths - 1) > _LENGTH_TOLERANCE).any():
        bad = int(np.argmax(np.abs(lengths - 1)))
        raise EmbeddingError(
            f"vector {bad} of {count} has length {lengths[bad]:.4g}, not 1",
            remedy="make the embedder return L2-normalised vectors",
            code="not_normalised",
        )
    return np.ascontiguousarray(rows, dtype=np.float32)


def pack(row: Matrix) -> bytes:
    """Little-endian float32 bytes of one vector."""
    return row.astype("<f4").tobytes()


def unpack(data: bytes) -> Matrix:
    """The vector that ``pack`` packed."""
    return np.frombuffer(data, dtype="<f4").astype(np.float32)


def windows(text: str) -> tuple[Span, ...]:
    """Cut ``text`` into pieces that an embedder reads whole: one span where it is short, none where it is blank.

    A cut falls after a sentence, else at a space, else anywhere; only white space lies between windows.
    """
    if not text.strip():
        return ()
    if len(text) * _WIDE_COST <= WINDOW_COST:  # whatever its characters are: the common case, and free
        return (Span(0, len(text)),)
    costs = [0, *accumulate(_WIDE_COST if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)]
    if costs[-1] <= WINDOW_COST:
        return (Span(0, len(text)),)
    found: list[Span] = []
    start = 0
    while start < len(text):
        if text[start].isspace():
            start += 1
            continue
        end = _limit(costs, start)
        if end < len(text):
            end = _cut(text, start, end)
        found.append(Span(start, start + len(text[start:end].rstrip())))
        start = end
    return tuple(found)


def _limit(costs: list[int], start: int) -> int:
    """The furthest end that the budget allows; cost per character is at most ``_WIDE_COST``, so it always advances."""
    end = min(start + WINDOW_COST, len(costs) - 1)
    while costs[end] - costs[start] > WINDOW_COST:
        end -= max(1, (costs[end] - costs[start] - WINDOW_COST) // _WIDE_COST)
    return end


def _cut(text: str, start: int, end: int) -> int:
    """The best place to cut at or before ``end``."""
    piece = text[start:end]
    whole = sentences(piece)[:-1]  # the last one may go on behind the end
    if whole:
        return start + whole[-1].end
    space = max((i for i, char in enumerate(piece) if char.isspace()), default=0)
    return start + space if space else end
