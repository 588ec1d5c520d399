"""Ranking: how the signals of a pool are fused into one score. Pure, the same for the same pool.

A turn's score is its similarity, plus how much of the question its words cover, plus how near it was said to a date
in the question; and a share of the best such score in its episode, since what surrounds a good answer is about the
same. A broad question, of few telling words, mostly has several answers, told at different times: for it, the episode
and the turns before count less, and who said a turn counts too. A memory's score is that of the turn it was formed from
plus its own; where another memory of that turn has been retired, the turn speaks for what no longer holds, and the
memory stands for itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memwell.domain.text import fold, is_unspaced, terms
from memwell.domain.validity import Validity
from memwell.engine.ports import Question
from memwell.engine.queries import PoolEntry
from memwell.engine.weights import Weights

Scores = NDArray[np.float64]

_POSSESSIVE = re.compile("['’]s?$")


def narrowness(question: Question, weights: Weights) -> float:
    """From 0 for a broad question to 1 for a narrow one, by the number of its telling terms, names apart."""
    names = {part for name in question.names for part in terms(_bare(name))}
    telling = [term for term in question.terms if term not in names]
    # Unspaced scripts give a term for each pair of characters: about two a word.
    count = sum(0.5 if is_unspaced(term) else 1.0 for term in telling)
    return float(np.clip((count - 1) / (weights.narrow_terms - 1), 0.0, 1.0))


def remaining(narrow: float, weights: Weights) -> float:
    """Share of the weights of context and episode that counts for a question of that narrowness."""
    return weights.broad + (1 - weights.broad) * narrow


def turn_scores(pool: Sequence[PoolEntry], question: Question, weights: Weights) -> Scores:
    """Score of each evidence entry, shape ``(len(pool),)``."""
    narrow = narrowness(question, weights)
    scores = _own_scores(pool, weights) + weights.date * date_nearness(pool, question.periods, weights.date_days)
    if narrow < 1 and question.names:
        scores += weights.speaker * (1 - narrow) * _said_by(pool, question.names)
    best: dict[int, float] = {}
    for entry, score in zip(pool, scores.tolist(), strict=True):
        best[entry.episode] = max(best.get(entry.episode, -np.inf), score)
    episode = weights.episode * remaining(narrow, weights)
    shares: Scores = episode * np.array([best[entry.episode] for entry in pool], np.float64)
    return scores + shares


def memory_scores(
    pool: Sequence[PoolEntry], turns: Mapping[int, float], weights: Weights, *, about_owner: bool
) -> Scores:
    """Score of each memory entry.

    Args:
        turns: score by position of the turns in the running. A memory of another turn, or one whose turn is not intact,
            has its own score twice.
        about_owner: the question is about the user themself.
    """
    own = _own_scores(pool, weights)
    of_turn = (
        turns.get(entry.position, score) if entry.intact else score
        for entry, score in zip(pool, own.tolist(), strict=True)
    )
    scores: Scores = own + weights.turn * np.fromiter(of_turn, np.float64, len(pool))
    if not about_owner:
        return scores
    others = np.array([not entry.about_user for entry in pool], np.bool_)
    return np.where(others & (scores > 0), scores * weights.other, scores)


def answered(pool: Sequence[PoolEntry], weights: Weights, least_similarity: float) -> bool:
    """Whether anything in ``pool`` is near enough to the question, by meaning or by words, to answer it."""
    if len(pool) < weights.few:
        return True
    return any(entry.similarity >= least_similarity or entry.keyword >= weights.least_keyword for entry in pool)


def date_nearness(pool: Sequence[PoolEntry], periods: Sequence[Validity], days: float) -> Scores:
    """How near each entry was said to the nearest of ``periods``: 1 inside, outside falling to 1/e in ``days``."""
    near = np.zeros(len(pool))
    if not periods:
        return near
    said = np.array([entry.said_at for entry in pool])
    for period in periods:
        end = np.inf if period.end is None else period.end.timestamp()
        outside = np.maximum(np.maximum(period.start.timestamp() - said, said - end), 0.0) / 86_400
        near = np.maximum(near, np.exp(-outside / days))
    return near


def ranked(pool: Sequence[PoolEntry], scores: Scores) -> list[int]:
    """Places in ``pool``, best score first; of equal scores by id, so that the order is always the same."""
    keys = list(zip((-scores).tolist(), (entry.record_id for entry in pool), strict=True))
    return sorted(range(len(pool)), key=keys.__getitem__)


def one_of_each_turn_first(pool: Sequence[PoolEntry], order: Sequence[int]) -> list[int]:
    """``order`` with the second and further memories of one turn behind the first ones of all."""
    seen: set[int] = set()
    first: list[int] = []
    later: list[int] = []
    for i in order:
        position = pool[i].position
        (later if position in seen else first).append(i)
        seen.add(position)
    return first + later


def shown_score(score: float) -> float:
    """A score as it is shown, between 0 and 1."""
    return score / (1 + score) if score > 0 else 0.0


def _own_scores(pool: Sequence[PoolEntry], weights: Weights) -> Scores:
    similarity = np.array([entry.similarity for entry in pool], np.float64)
    keyword = np.array([entry.keyword for entry in pool], np.float64)
    own: Scores = weights.similarity * similarity + weights.keyword * keyword
    return own


def _said_by(pool: Sequence[PoolEntry], names: Sequence[str]) -> Scores:
    """1 where one of ``names`` is the speaker's or a part of it."""
    wanted = {fold(_bare(name)) for name in names}
    speakers = {entry.speaker for entry in pool}
    named = {speaker: not wanted.isdisjoint({fold(speaker), *fold(speaker).split()}) for speaker in speakers}
    return np.array([float(named[entry.speaker]) for entry in pool], np.float64)


def _bare(name: str) -> str:
    return _POSSESSIVE.sub("", name)
