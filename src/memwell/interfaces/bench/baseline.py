"""The rows to beat: BM25 over raw texts, plain, and with all that makes keywords strong."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memwell.domain.text import query_terms, terms
from memwell.storage.memory.stems import stems

_NOWHERE = np.empty(0, dtype=np.int64), np.empty(0)


class Bm25:
    """Okapi BM25 (Robertson and Zaragoza, 2009).

    Args:
        texts: the terms of each text; results are positions in it.
        k1, b: term saturation and length normalisation.
    """

    def __init__(self, texts: Sequence[Sequence[str]], *, k1: float = 1.5, b: float = 0.75) -> None:
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        lengths = np.zeros(len(texts))
        for position, text in enumerate(texts):
            counts = Counter(text)
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

    def postings(self, term: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Positions of the texts that have ``term``, and what it adds to the score of each."""
        return self._weights.get(term, _NOWHERE)

    def search(self, query: Sequence[str], limit: int) -> list[int]:
        """Positions of the best ``limit`` texts that share a term with ``query``, best first, ties in order."""
        scores = np.zeros(self._count)
        for term in query:
            positions, weights = self.postings(term)
            scores[positions] += weights
        order = np.argsort(-scores, kind="stable")[:limit]
        return [int(position) for position in order if scores[position] > 0]


class PlainBm25:
    """BM25 over the product's index terms, nothing else: no stems, no stop words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._index = Bm25([terms(text) for text in texts])

    def search(self, query: str, limit: int) -> list[int]:
        """See ``Bm25.search``."""
        return self._index.search(terms(query), limit)


class StrongBm25:
    """BM25 over stems, stop words left out of the question.

    Args:
        texts: what is searched; put the speaker's name before the words.
        stopwords: folded words that a question is not searched by.
    """

    def __init__(self, texts: Sequence[str], stopwords: frozenset[str]) -> None:
        self._stopwords = stopwords
        self._index = Bm25([_stemmed(terms(text)) for text in texts])

    def search(self, query: str, limit: int) -> list[int]:
        """See ``Bm25.search``."""
        return self._index.search(_stemmed(query_terms(query, self._stopwords)), limit)


def _stemmed(words: Sequence[str]) -> list[str]:
    return [stem for word in words for stem in stems(word)]
