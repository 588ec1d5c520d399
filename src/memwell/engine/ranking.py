"""Ranking: how the signals of a pool are fused into one score. Pure, the same for the same pool.

A turn's score is its similarity, plus how much of the question its words cover, plus how near it was said to a date
in the question; and a share of the best such score in its episode, since what surrounds a good answer is about the
same. A broad question, of few telling words, mostly has several answers, told at different times: for it, the episode
and the turns before count less, and who said a turn counts more. A memory's score is that of the turn it was formed
from plus its own; where another memory of that turn has been retired, the turn speaks for what no longer holds, and the
memory stands for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memwell.domain.memory import MemoryRecord
from memwell.domain.text import fold, is_unspaced, terms, without_possessive
from memwell.domain.validity import Validity
from memwell.engine.ports import Question
from memwell.engine.queries import Pool
from memwell.engine.weights import Weights

Scores = NDArray[np.float64]


def narrowness(question: Question, weights: Weights) -> float:
    """From 0 for a broad question to 1 for a narrow one, by the number of its telling terms, names apart.

    A question for several things has its answers in many places however much it tells.
    """
    names = {part for name in question.names for part in terms(without_possessive(name))}
    telling = [term for term in question.terms if term not in names]
    # Unspaced scripts give a term for each pair of characters: about two a word.
    count = sum(0.5 if is_unspaced(term) else 1.0 for term in telling)
    narrow = min(max((count - 1) / (weights.narrow_terms - 1), 0.0), 1.0)
    return narrow * weights.several if question.asks_several else narrow


def remaining(narrow: float, weights: Weights) -> float:
    """Share of the weights of context and episode that counts for a question of that narrowness."""
    return weights.broad + (1 - weights.broad) * narrow


def turn_scores(pool: Pool, question: Question, weights: Weights, matches: Scores | None = None) -> Scores:
    """Score of each evidence entry, shape ``(len(pool),)``.

    Args:
        matches: how well the words of each match those of the question; ``None`` where that is not known.
    """
    narrow = narrowness(question, weights)
    scores = _own_scores(pool, weights) + weights.date * date_nearness(pool, question.periods, weights.date_days)
    if question.names:
        scores += weights.speaker * (1 - (1 - weights.named) * narrow) * _said_by(pool, question.names)
    if matches is not None:
        scores += weights.words * matches
    _, episode = np.unique(pool.episodes, return_inverse=True)
    best = np.full(len(pool), -np.inf)
    np.maximum.at(best, episode, scores)
    shares: Scores = weights.episode * remaining(narrow, weights) * best[episode]
    return scores + shares


def memory_scores(pool: Pool, turns: Pool, turns_scores: Scores, weights: Weights, *, about_owner: bool) -> Scores:
    """Score of each memory entry.

    Args:
        turns: the turns in the running, with ``turns_scores``. A memory of another turn, or one whose turn is not
            intact, has its own score twice.
        about_owner: the question is about the user themself.
    """
    own = _own_scores(pool, weights)
    of_turn = own.copy()
    if len(turns):
        order = np.argsort(turns.positions)
        place = order[np.minimum(np.searchsorted(turns.positions[order], pool.positions), len(turns) - 1)]
        found = pool.intact & (turns.positions[place] == pool.positions)
        of_turn[found] = turns_scores[place[found]]
    scores: Scores = own + weights.turn * of_turn
    return np.where(~pool.about_user & (scores > 0), scores * weights.other, scores) if about_owner else scores


def answered(pool: Pool, weights: Weights, least_similarity: float) -> bool:
    """Whether anything in ``pool`` is near enough to the question, by meaning or by words, to answer it."""
    if len(pool) < weights.few:
        return True
    return bool((pool.similarity >= least_similarity).any() or (pool.keyword >= weights.least_keyword).any())


def date_nearness(pool: Pool, periods: Sequence[Validity], days: float) -> Scores:
    """How near each entry was said to the nearest of ``periods``: 1 inside, outside falling to 1/e in ``days``."""
    near = np.zeros(len(pool))
    for period in periods:
        end = np.inf if period.end is None else period.end.timestamp()
        outside = np.maximum(np.maximum(period.start.timestamp() - pool.said_at, pool.said_at - end), 0.0) / 86_400
        near = np.maximum(near, np.exp(-outside / days))
    return near


def ranked(pool: Pool, scores: Scores) -> list[int]:
    """Places in ``pool``, best score first; of equal scores by id, so that the order is always the same."""
    order = np.argsort(-scores)
    if (np.diff(scores[order]) < 0).all():
        found: list[int] = order.tolist()
        return found
    keys = list(zip((-scores).tolist(), pool.record_ids.tolist(), strict=True))
    return sorted(range(len(pool)), key=keys.__getitem__)


def one_of_each_turn_first(pool: Pool, order: Sequence[int]) -> list[int]:
    """``order`` with the second and further memories of one turn behind the first ones of all."""
    positions = pool.positions.tolist()
    seen: set[int] = set()
    first: list[int] = []
    later: list[int] = []
    for i in order:
        (later if positions[i] in seen else first).append(i)
        seen.add(positions[i])
    return first + later


def contested_first(order: Sequence[MemoryRecord]) -> list[MemoryRecord]:
    """``order`` with each memory behind those that it was found to contradict: until settled, the earlier holds."""
    wanted = {memory.id: memory for memory in order}
    placed: dict[str, MemoryRecord] = {}
    for memory in order:
        rivals = (wanted[i] for i in memory.links.conflicts_with if i in wanted)
        placed |= {rival.id: rival for rival in rivals if _first_told(rival) < _first_told(memory)}
        placed[memory.id] = memory
    return list(placed.values())


def _first_told(memory: MemoryRecord) -> tuple[datetime, datetime]:
    return memory.recorded_at, memory.memory_at


def shown_score(score: float) -> float:
    """A score as it is shown, between 0 and 1."""
    return score / (1 + score) if score > 0 else 0.0


def _own_scores(pool: Pool, weights: Weights) -> Scores:
    own: Scores = weights.similarity * pool.similarity + weights.keyword * pool.keyword
    return own


def _said_by(pool: Pool, names: Sequence[str]) -> Scores:
    """1 where one of ``names`` is the speaker's or a part of it."""
    wanted = {fold(without_possessive(name)) for name in names}
    speakers: list[str] = pool.speakers.tolist()
    named = {speaker: not wanted.isdisjoint({fold(speaker), *fold(speaker).split()}) for speaker in set(speakers)}
    return np.array([named[speaker] for speaker in speakers], np.float64)
