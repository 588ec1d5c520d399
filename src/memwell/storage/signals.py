"""What makes a record a contender, as pure functions over numpy arrays of one scope's visible records.

All arrays are parallel and in the order in which the records were stored, so that no hidden record and no other scope
has a part in any score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

# BM25 saturation and length normalisation (Robertson and Zaragoza 2009). Terms count once a record, since statements
# are short; weak length normalisation suits them.
_K1 = 1.2
_B = 0.4
# A term that more than this share of the records hold says nothing, if another one says something.
_COMMON = 0.1
# In a scope this small no term is common.
_FEW = 10
# Terms of a question that count: the rarest. Rare terms decide; long questions in Chinese have dozens of pairs.
_TERMS = 16
# Turns further apart than this begin another episode of their session.
_PAUSE_MICROS = 30 * 60 * 1_000_000
# Turns after a turn that get a share of its keyword score.
_CONTEXT_TURNS = 2


def common_limit(count: int) -> int:
    """In how many of ``count`` records a term may occur and still tell them apart."""
    return max(int(count * _COMMON), _FEW)


def keyword_share(matches: Sequence[NDArray[np.intp]], lengths: Numbers, absent: float = 0.0) -> Floats:
    """BM25 of each record as a share of the highest that the terms could reach, 0 to 1.

    The share, unlike the bare score, says how much of the question a record covers, so that a few common words shared
    with it weigh little beside similarity.

    Args:
        matches: for each term the places of the records it occurs in; of equally rare terms the first counts more.
        lengths: number of index terms of each record.
        absent: how much a term without a place counts as missed, in units of a term held by one record. So the one
            word that a record happens to share with a question in other words does not pass for the whole of it.
    """
    count = len(lengths)
    found = [places for places in matches if len(places)]
    found.sort(key=len)
    telling = [places for places in found if len(places) <= common_limit(count)][:_TERMS] or found[:1]
    share = np.zeros(count)
    if not telling:
        return share
    mean = max(float(lengths.mean()), 1.0)
    reachable = 0.0
    for places in telling:
        idf = float(np.log1p((count - len(places) + 0.5) / (len(places) + 0.5)))
        reachable += idf * (_K1 + 1)
        share[places] += idf * (_K1 + 1) / (1 + _K1 * (1 - _B + _B * lengths[places] / mean))
    missed = min(len(matches) - len(found), _TERMS)
    reachable += absent * missed * float(np.log1p((count - 0.5) / 1.5)) * (_K1 + 1)
    return np.minimum(share / reachable, 1.0)


def episodes(sessions: Numbers, said_at: Numbers) -> tuple[Numbers, NDArray[np.intp]]:
    """Cut each session into episodes at its pauses.

    Args:
        sessions: a number for each record's session.
        said_at: microseconds.

    Returns:
        The episode of each record, and the place of the record after it in its episode, -1 after the last.
    """
    order = np.argsort(sessions, kind="stable")
    breaks = np.zeros(len(order), np.int64)
    if len(order) > 1:
        pause = np.abs(np.diff(said_at[order])) > _PAUSE_MICROS
        breaks[1:] = pause | (np.diff(sessions[order]) != 0)
    episode = np.empty(len(order), np.int64)
    episode[order] = np.cumsum(breaks)
    follower = np.full(len(order), -1, np.intp)
    follower[order[:-1]] = np.where(breaks[1:] == 0, order[1:], -1)
    return episode, follower


def with_context(share: Floats, follower: NDArray[np.intp], context: float) -> Floats:
    """``share`` plus what each record gets from those said just before it in its episode.

    Args:
        follower: see ``episodes``.
        context: the share that a record passes on to each of the records after it.
    """
    result = share.copy()
    giving = np.flatnonzero(share)
    taking = giving
    for _ in range(_CONTEXT_TURNS):
        taking = follower[taking]
        inside = taking >= 0
        giving, taking = giving[inside], taking[inside]
        result[taking] += context * share[giving]
    return result


def best(scores: NDArray[np.floating], limit: int) -> NDArray[np.intp]:
    """Places of the ``limit`` highest finite scores, ascending; of equal ones, the first."""
    found = np.flatnonzero(np.isfinite(scores))
    if len(found) <= limit:
        return found
    if not limit:
        return found[:0]
    finite = scores[found]
    least = np.partition(finite, len(found) - limit)[len(found) - limit]
    above, equal = found[finite > least], found[finite == least]
    return np.sort(np.concatenate([above, equal[: limit - len(above)]]))
