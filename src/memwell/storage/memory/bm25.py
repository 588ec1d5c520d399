"""BM25 over lists of stems, each stem counted once per document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memwell.storage.memory.stems import stems
from memwell.storage.relevance import idf, weight


def scores(documents: Mapping[str, Sequence[str]], terms: Sequence[str]) -> dict[str, float]:
    """Score of each document in which at least one of ``terms`` occurs; larger is better, always positive.

    Args:
        documents: stems by record id, of all records that count.
    """
    average = sum(map(len, documents.values())) / max(len(documents), 1)
    found: dict[str, float] = {}
    for phrase in filter(None, map(stems, dict.fromkeys(terms))):
        hits = [name for name, words in documents.items() if _occurs(words, phrase)]
        for name in hits:
            share = idf(len(documents), len(hits)) * float(weight(len(documents[name]), average))
            found[name] = found.get(name, 0.0) + share
    return found


def _occurs(words: Sequence[str], phrase: tuple[str, ...]) -> bool:
    if len(phrase) == 1:
        return phrase[0] in words
    return any(tuple(words[i : i + len(phrase)]) == phrase for i in range(len(words) - len(phrase) + 1))
