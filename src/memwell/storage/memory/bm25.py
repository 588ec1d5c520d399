"""BM25 over lists of stems (Robertson and Zaragoza 2009), with the constants and the idf floor of SQLite's FTS5."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from memwell.storage.memory.stems import stems

_K1 = 1.2
_B = 0.75
_IDF_FLOOR = 1e-6


def scores(documents: Mapping[str, Sequence[str]], terms: Sequence[str]) -> dict[str, float]:
    """Score of each document in which at least one of ``terms`` occurs; larger is better, always positive.

    Args:
        documents: stems by record id. A document counts one token more than its stems: SQLite also keeps its scope.
    """
    lengths = {name: len(words) + 1 for name, words in documents.items()}
    average = sum(lengths.values()) / max(len(lengths), 1)
    found: dict[str, float] = {}
    for phrase in filter(None, map(stems, dict.fromkeys(terms))):
        hits = {name: count for name, words in documents.items() if (count := _occurrences(words, phrase))}
        idf = max(math.log((len(documents) - len(hits) + 0.5) / (len(hits) + 0.5)), _IDF_FLOOR)
        for name, count in hits.items():
            weight = count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * lengths[name] / average))
            found[name] = found.get(name, 0.0) + idf * weight
    return found


def _occurrences(words: Sequence[str], phrase: tuple[str, ...]) -> int:
    if len(phrase) == 1:
        return words.count(phrase[0])
    return sum(tuple(words[i : i + len(phrase)]) == phrase for i in range(len(words) - len(phrase) + 1))
