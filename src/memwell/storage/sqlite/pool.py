"""The records in the running for a question: visibility, then similarity and keywords, then the best of each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from memwell.domain.lens import Lens
from memwell.domain.plan import Unit
from memwell.engine.ports import Matrix, PoolEntry
from memwell.storage.sqlite.columns import Numbers
from memwell.storage.sqlite.index import Part
from memwell.storage.values import from_micros

_TABLES = {Unit.MEMORY: "memories", Unit.EVIDENCE: "evidence"}


def pool(
    connection: sqlite3.Connection,
    scope: int,
    unit: Unit,
    parts: Sequence[Part],
    *,
    vector: Matrix | None,
    terms: Sequence[str],
    lens: Lens,
    limit: int,
) -> list[PoolEntry]:
    """See ``ports.View.pool``."""
    matches = keyword_matches(connection, scope, unit, terms)
    shares = [_share(connection, part, matches, vector, lens) for part in parts]
    similarity = np.concatenate([share[1] for share in shares])
    keyword = np.concatenate([share[2] for share in shares])
    # Of equal scores the record stored first wins, in whichever part it lies.
    numbers = np.concatenate([share[0] for share in shares])
    chosen = np.union1d(_best(similarity, numbers, limit), _best(keyword, numbers, limit))
    ends = np.cumsum([len(share[0]) for share in shares])
    entries = []
    ids = _ids(connection, unit, numbers[chosen])
    for place in chosen.tolist():
        owner = int(np.searchsorted(ends, place, side="right"))
        columns = parts[owner].index.columns
        row = int(columns.places([int(numbers[place])])[0])
        entries.append(
            PoolEntry(
                record_id=ids[int(numbers[place])],
                similarity=max(float(similarity[place]), -1.0) if np.isfinite(similarity[place]) else 0.0,
                keyword=float(keyword[place]) if np.isfinite(keyword[place]) else 0.0,
                session_id=columns.session(row),
                position=int(columns.position[row]),
                said_at=from_micros(int(columns.said_at[row])),
            )
        )
    return sorted(entries, key=lambda entry: entry.record_id)


def keyword_matches(
    connection: sqlite3.Connection, scope: int, unit: Unit, terms: Sequence[str]
) -> tuple[Numbers, NDArray[np.float64]]:
    """Numbers of the scope's records in which a term occurs, ascending, and their BM25 scores."""
    if not terms:
        return np.zeros(0, np.int64), np.zeros(0)
    either = " OR ".join('"' + term.replace('"', '""') + '"' for term in dict.fromkeys(terms))
    table = f"{unit.value}_words"
    rows = connection.execute(
        f"SELECT rowid, -bm25({table}, 0.0, 1.0) FROM {table} WHERE {table} MATCH ? ORDER BY rowid",
        (f'scope : "{scope}" AND words : ({either})',),
    )
    flat = np.fromiter(chain.from_iterable(rows), np.float64).reshape(-1, 2)
    return flat[:, 0].astype(np.int64), flat[:, 1]


def _share(
    connection: sqlite3.Connection,
    part: Part,
    matches: tuple[Numbers, NDArray[np.float64]],
    vector: Matrix | None,
    lens: Lens,
) -> tuple[Numbers, Matrix, NDArray[np.float64]]:
    """Numbers, similarities and keyword scores of what is visible in ``part``; ``-inf`` where there is none."""
    columns = part.index.columns
    visible = part.usable & part.index.visible(connection, lens)
    keyword = np.full(len(columns), -np.inf)
    if len(columns) and len(matches[0]):
        places = np.minimum(columns.places(matches[0]), len(columns) - 1)
        here = columns.no[places] == matches[0]
        keyword[places[here]] = matches[1][here]
    similarity = part.index.similarity(vector)
    if visible.all():
        return columns.no, similarity, keyword
    return columns.no[visible], similarity[visible], keyword[visible]


def _best(scores: NDArray[np.floating], numbers: Numbers, limit: int) -> NDArray[np.intp]:
    """Places of the ``limit`` highest finite scores; of equal ones, those with the lowest numbers."""
    found = np.flatnonzero(np.isfinite(scores))
    if len(found) > limit:
        least = np.partition(scores[found], len(found) - limit)[len(found) - limit] if limit else np.inf
        found = found[scores[found] >= least]
        found = found[np.lexsort((numbers[found], -scores[found]))][:limit]
    return found


def _ids(connection: sqlite3.Connection, unit: Unit, numbers: Numbers) -> dict[int, str]:
    query = f"SELECT no, id FROM {_TABLES[unit]} WHERE no IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(query, (json.dumps(numbers.tolist()),)))
