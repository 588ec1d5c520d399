"""The records in the running for a question: visibility, then each signal, then the best of each."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memwell.domain.lens import Lens
from memwell.domain.plan import Unit
from memwell.engine.ports import Matrix
from memwell.engine.queries import Pool, PoolQuery
from memwell.storage.signals import Floats, best, keyword_share, with_context
from memwell.storage.sqlite.index import Part
from memwell.storage.sqlite.keywords import term_matches
from memwell.storage.sqlite.seen import Records, Seen, records_at, seen, united, visible_places
from memwell.storage.values import to_micros


def pool(connection: sqlite3.Connection, scope: int, unit: Unit, parts: Sequence[Part], query: PoolQuery) -> Pool:
    """See ``ports.View.pool``."""
    found, similarity = _seen(connection, unit, parts, query)
    records = found.records
    keyword = np.zeros(len(found))
    if query.terms and len(found):
        held = sum(len(part.index.columns) for part in parts)
        matches = term_matches(connection, scope, unit, query.terms, records.numbers, held=held)
        keyword = keyword_share(matches, records.length, query.absent)
    if unit is Unit.EVIDENCE:
        keyword = with_context(keyword, found.follower, query.context)
    chosen = _chosen(records, similarity, keyword, query)
    cosine = similarity[chosen]
    names = found.session_names
    return Pool(
        records.ids[chosen],
        np.where(np.isfinite(cosine), cosine, 0.0).astype(np.float64),
        keyword[chosen],
        [names[code] for code in records.sessions[chosen].tolist()],
        records.positions[chosen],
        records.said_at[chosen] / 1e6,
        found.episode[chosen],
        records.about_user[chosen],
        records.intact[chosen],
        records.speakers[chosen],
    )


def _seen(connection: sqlite3.Connection, unit: Unit, parts: Sequence[Part], query: PoolQuery) -> tuple[Seen, Matrix]:
    """The visible records, and the similarity of each; ``-inf`` where there is no vector."""
    if len(parts) == 1 and parts[0].usable is None:
        index = parts[0].index
        places, found = index.seen(connection, query.lens)
        return found, index.similarity(query.vector)[places]
    names: dict[str, int] = {}
    shares = [_share(connection, part, query.lens, query.vector, names) for part in parts]
    records, order = united([share for share, _ in shares])
    similarity = np.concatenate([similarity for _, similarity in shares])[order]
    return seen(unit, records, list(names)), similarity


def _share(
    connection: sqlite3.Connection, part: Part, lens: Lens, vector: Matrix | None, names: dict[str, int]
) -> tuple[Records, Matrix]:
    """What is visible of one part; ``names`` is one numbering of sessions for all parts."""
    columns = part.index.columns
    visible = part.visible(connection, replace(lens, kinds=None))
    places = visible_places(columns, visible, lens.kinds)
    sessions = np.array([names.setdefault(name, len(names)) for name in columns.session_names], np.int64)
    return records_at(columns, places, part.hidden(visible), sessions), part.index.similarity(vector)[places]


def _chosen(records: Records, similarity: Matrix, keyword: Floats, query: PoolQuery) -> NDArray[np.intp]:
    """Places of the contenders, ascending."""
    chosen = np.zeros(len(records.numbers), np.bool_)
    chosen[best(similarity, query.limit)] = True
    if query.terms:
        sharing = np.flatnonzero(keyword)
        chosen[sharing[best(keyword[sharing], query.limit)]] = True
    if len(query.positions):
        chosen |= np.isin(records.positions, query.positions)
    if query.periods:
        within = np.zeros(len(records.numbers), np.bool_)
        for period in query.periods:
            end = np.iinfo(np.int64).max if period.end is None else to_micros(period.end)
            within |= (records.said_at >= to_micros(period.start)) & (records.said_at < end)
        chosen[best(np.where(within, similarity, -np.inf), query.limit)] = True
    return np.flatnonzero(chosen)
