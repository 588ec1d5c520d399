"""Ranking: pure signals over a pool of records, fused into one score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memwell.engine.ports import Matrix, PoolEntry

# Share of the keyword signal beside similarity.
KEYWORD_WEIGHT = 0.3


def fused(pool: Sequence[PoolEntry]) -> Matrix:
    """Score of each entry, shape ``(len(pool),)``: similarity plus keyword score scaled to its best."""
    similarity = np.array([entry.similarity for entry in pool], np.float32)
    keyword = np.array([entry.keyword for entry in pool], np.float32)
    best = keyword.max(initial=0.0)
    return similarity + KEYWORD_WEIGHT * (keyword / best if best > 0 else keyword)
