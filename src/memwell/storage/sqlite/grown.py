"""Arrays that grow at the end in amortised constant time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

BLOCK = 64  # capacities are multiples of it


class Grown:
    """An array whose capacity doubles. ``rows`` is a view of what is in it; growing may leave older views behind.

    Args:
        dtype: of the elements.
        width: columns of each row; ``None`` for a one-dimensional array.
    """

    def __init__(self, dtype: DTypeLike, width: int | None = None) -> None:
        self._width = width
        self._data: NDArray[Any] = np.zeros(self._shape(0), dtype)
        self._length = 0

    def _shape(self, length: int) -> tuple[int, ...]:
        return (length,) if self._width is None else (length, self._width)

    def __len__(self) -> int:
        return self._length

    @property
    def rows(self) -> NDArray[Any]:
        return self._data[: self._length]

    @property
    def blocks(self) -> NDArray[Any]:
        """``rows``, filled up with zeros to a multiple of ``BLOCK``."""
        return self._data[: -(-self._length // BLOCK) * BLOCK]

    @property
    def bytes(self) -> int:
        return self._data.nbytes

    def reserve(self, length: int) -> None:
        """Make room for ``length`` rows."""
        capacity = -(-length // BLOCK) * BLOCK
        if capacity > len(self._data):
            grown = np.zeros(self._shape(capacity), self._data.dtype)
            grown[: self._length] = self.rows
            self._data = grown

    def extend(self, values: ArrayLike) -> None:
        """Append ``values``, shape ``(n,)`` or ``(n, width)``."""
        added = np.asarray(values, self._data.dtype)
        end = self._length + len(added)
        if end > len(self._data):
            # The first fill is exact, since most scopes are read once and seldom written.
            self.reserve(max(end, 2 * len(self._data) if self._length else 0))
        self._data[self._length : end] = added
        self._length = end
