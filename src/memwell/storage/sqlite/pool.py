"""The records in the running for a question: visibility, then each signal, then the best of each."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memwell.domain.lens import Lens
from memwell.domain.plan import Unit
from memwell.engine.ports import Matrix, PoolEntry, PoolQuery
from memwell.storage.signals import Floats, Numbers, best, episodes, keyword_share, with_context
from memwell.storage.sqlite.index import Part
from memwell.storage.sqlite.keywords import term_matches
from memwell.storage.values import to_micros


@dataclass(frozen=True, slots=True)
class _Seen:
    """The visible records as parallel arrays in the order they were stored; ``-inf`` where there is no vector."""

    numbers: Numbers
    similarity: Matrix
    sessions: Numbers
    said_at: Numbers
    positions: Numbers
    length: Numbers
    about_user: NDArray[np.bool_]
    ids: NDArray[np.object_]
    intact: NDArray[np.bool_]


def pool(
    connection: sqlite3.Connection, scope: int, unit: Unit, parts: Sequence[Part], query: PoolQuery
) -> list[PoolEntry]:
    """See ``ports.View.pool``."""
    names: dict[str, int] = {}
    seen = _united([_seen(connection, part, query.vector, query.lens, names) for part in parts])
    keyword = _keyword(connection, scope, unit, seen, query.terms)
    episode = np.zeros(len(seen.numbers), np.int64)
    if unit is Unit.EVIDENCE:
        order, numbered = episodes(seen.sessions, seen.said_at)
        episode[order] = numbered
        keyword = with_context(keyword, order, numbered)
    chosen = _chosen(seen, keyword, query)
    similarity = seen.similarity[chosen]
    sessions = list(names)
    rows = zip(
        seen.ids[chosen].tolist(),
        np.where(np.isfinite(similarity), similarity, 0.0).tolist(),
        keyword[chosen].tolist(),
        (sessions[code] for code in seen.sessions[chosen].tolist()),
        seen.positions[chosen].tolist(),
        (seen.said_at[chosen] / 1e6).tolist(),
        episode[chosen].tolist(),
        seen.about_user[chosen].tolist(),
        seen.intact[chosen].tolist(),
        strict=True,
    )
    return [PoolEntry(*row) for row in rows]


def _seen(
    connection: sqlite3.Connection, part: Part, vector: Matrix | None, lens: Lens, names: dict[str, int]
) -> _Seen:
    columns = part.index.columns
    visible = part.usable & part.index.visible(connection, replace(lens, kinds=None))
    broken = columns.position[part.usable & ~visible]
    chosen = visible & columns.of_kinds(lens.kinds)
    # Where all is seen the columns serve as they are; copying them would cost as much as the dot product.
    rows = slice(None) if chosen.all() else np.flatnonzero(chosen)
    # One numbering of sessions for all parts.
    codes = np.array([names.setdefault(name, len(names)) for name in columns.session_names], np.int64)
    return _Seen(
        columns.no[rows],
        part.index.similarity(vector)[rows],
        codes[columns.session[rows]] if len(codes) else np.zeros(0, np.int64),
        columns.said_at[rows],
        columns.position[rows],
        columns.length[rows],
        columns.about_user[rows],
        columns.id[rows],
        ~np.isin(columns.position[rows], broken),
    )


def _united(shares: Sequence[_Seen]) -> _Seen:
    if len(shares) == 1:
        return shares[0]
    joined = {name: np.concatenate([getattr(share, name) for share in shares]) for name in _Seen.__slots__}
    order = np.argsort(joined["numbers"], kind="stable")
    return _Seen(**{name: values[order] for name, values in joined.items()})


def _keyword(connection: sqlite3.Connection, scope: int, unit: Unit, seen: _Seen, terms: Sequence[str]) -> Floats:
    count = len(seen.numbers)
    if not terms or not count:
        return np.zeros(count)
    matches = []
    for numbers in term_matches(connection, scope, unit, terms, count=count):
        places = np.minimum(np.searchsorted(seen.numbers, numbers), count - 1)
        matches.append(places[seen.numbers[places] == numbers])
    return keyword_share(matches, seen.length)


def _chosen(seen: _Seen, keyword: Floats, query: PoolQuery) -> NDArray[np.intp]:
    """Places of the contenders, ascending."""
    chosen = [
        best(seen.similarity, query.limit),
        best(np.where(keyword > 0, keyword, -np.inf), query.limit),
        np.flatnonzero(np.isin(seen.positions, query.positions)),
    ]
    if query.periods:
        within = np.zeros(len(seen.numbers), np.bool_)
        for period in query.periods:
            end = np.iinfo(np.int64).max if period.end is None else to_micros(period.end)
            within |= (seen.said_at >= to_micros(period.start)) & (seen.said_at < end)
        chosen.append(best(np.where(within, seen.similarity, -np.inf), query.limit))
    return np.unique(np.concatenate(chosen))
