"""BM25 (Robertson and Zaragoza 2009) for short texts: whether a term occurs counts, not how often.

The corpus is what the reader may see of one scope, so that nothing hidden or foreign moves a score.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_K1 = 1.2
_B = 0.75

Length = TypeVar("Length", float, NDArray[np.float64])


def idf(documents: int, hits: int) -> float:
    """Inverse document frequency of a term that occurs in ``hits`` of ``documents``; always positive."""
    return math.log(1 + (documents - hits + 0.5) / (hits + 0.5))


def weight(length: Length, average: float) -> Length:
    """What a term is worth in a document of ``length`` terms, the average being ``average``."""
    return (_K1 + 1) / (1 + _K1 * (1 - _B + _B * length / max(average, 1.0)))
