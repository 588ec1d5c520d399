"""Ranking: how the signals of a pool are fused into one score. Pure, the same for the same pool.

A turn's score is its similarity, plus how much of the question its words cover, plus how near it was said to a date
in the question; and a share of the best such score in its episode, since what surrounds a good answer is about the
same. A memory's score is that of the turn it was formed from plus its own; where another memory of that turn has been
retired, the turn speaks for what no longer holds, and the memory stands for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memwell.domain.validity import Validity
from memwell.engine.ports import PoolEntry

Scores = NDArray[np.float64]

# Weights beside similarity; each lies on a plateau of several sets in two languages.
KEYWORD_WEIGHT = 1.0
DATE_WEIGHT = 0.5
EPISODE_WEIGHT = 0.5
# A date outside a named period counts less the further it is: to 1/e after this many days.
DATE_SLACK_DAYS = 7.0
# Facts about others do not answer about the owner.
OTHER_FACTOR = 0.7


def turn_scores(pool: Sequence[PoolEntry], periods: Sequence[Validity]) -> Scores:
    """Score of each evidence entry, shape ``(len(pool),)``."""
    scores = _own_scores(pool) + DATE_WEIGHT * date_nearness(pool, periods)
    best: dict[int, float] = {}
    for entry, score in zip(pool, scores.tolist(), strict=True):
        best[entry.episode] = max(best.get(entry.episode, -np.inf), score)
    shares: Scores = EPISODE_WEIGHT * np.array([best[entry.episode] for entry in pool], np.float64)
    return scores + shares


def memory_scores(pool: Sequence[PoolEntry], turns: Mapping[int, float], *, about_owner: bool) -> Scores:
    """Score of each memory entry.

    Args:
        turns: score by position of the turns in the running. A memory of another turn, or one whose turn is not intact,
            has its own score twice.
        about_owner: the question is about the user themself.
    """
    own = _own_scores(pool)
    of_turn = (
        turns.get(entry.position, score) if entry.intact else score
        for entry, score in zip(pool, own.tolist(), strict=True)
    )
    scores: Scores = own + np.fromiter(of_turn, np.float64, len(pool))
    if not about_owner:
        return scores
    others = np.array([not entry.about_user for entry in pool], np.bool_)
    return np.where(others & (scores > 0), scores * OTHER_FACTOR, scores)


def date_nearness(pool: Sequence[PoolEntry], periods: Sequence[Validity]) -> Scores:
    """How near each entry was said to the nearest of ``periods``: 1 inside, falling with the distance outside."""
    near = np.zeros(len(pool))
    if not periods:
        return near
    said = np.array([entry.said_at for entry in pool])
    for period in periods:
        end = np.inf if period.end is None else period.end.timestamp()
        days = np.maximum(np.maximum(period.start.timestamp() - said, said - end), 0.0) / 86_400
        near = np.maximum(near, np.exp(-days / DATE_SLACK_DAYS))
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


def _own_scores(pool: Sequence[PoolEntry]) -> Scores:
    similarity = np.array([entry.similarity for entry in pool], np.float64)
    return similarity + KEYWORD_WEIGHT * np.array([entry.keyword for entry in pool], np.float64)
