"""The row to beat: plain BM25 over raw texts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memwell.domain.text import terms


class Bm25:
    """Okapi BM25 (Robertson and Zaragoza, 2009) over the product's own index terms, nothing else.

    Args:
        texts: what is searched; results are positions in it.
        k1, b: term saturation and length normalisation.
    """

    def __init__(self, texts: Sequence[str], *, k1: float = 1.5, b: float = 0.75) -> None:
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = np.zeros(len(texts))
        for position, text in enumerate(texts):
            counts = Counter(terms(text))
            lengths[position] = counts.total()
            for term, count in counts.items():
                postings[term].append((position, count))
        norm = k1 * (1 - b + b * lengths / max(float(lengths.mean()) if len(texts) else 0.0, 1e-9))
        self._count = len(texts)
        self._weights: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for term, entries in postings.items():
            positions, counted = np.array(entries, dtype=np.int64).T
            idf = np.log(1 + (len(texts) - len(entries) + 0.5) / (len(entries) + 0.5))
            self._weights[term] = positions, idf * counted * (k1 + 1) / (counted + norm[positions])

    def search(self, query: str, limit: int) -> list[int]:
        """Positions of the best ``limit`` texts that share a term with ``query``, best first, ties in order."""
        scores = np.zeros(self._count)
        for term in terms(query):
            if term in self._weights:
                positions, weights = self._weights[term]
                scores[positions] += weights
        order = np.argsort(-scores, kind="stable")[:limit]
        return [int(position) for position in order if scores[position] > 0]
