"""The records in the running for a question: visibility, then similarity and keywords, then the best of each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class _Contenders:
    """The best of a part, as parallel arrays; scores are ``-inf`` where there is none."""

    numbers: Numbers
    similarity: Matrix
    keyword: NDArray[np.float64]
    position: Numbers
    said_at: Numbers
    sessions: list[str]


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
    best = _united([_contenders(connection, part, matches, vector, lens, limit) for part in parts])
    chosen = _chosen(best.similarity, best.keyword, best.numbers, limit)
    numbers = best.numbers[chosen]
    ids = _ids(connection, unit, numbers)
    rows = zip(
        (ids[no] for no in numbers.tolist()),
        np.where(np.isfinite(best.similarity[chosen]), best.similarity[chosen], 0.0).tolist(),
        np.where(np.isfinite(best.keyword[chosen]), best.keyword[chosen], 0.0).tolist(),
        (best.sessions[place] for place in chosen.tolist()),
        best.position[chosen].tolist(),
        map(from_micros, best.said_at[chosen].tolist()),
        strict=True,
    )
    return [PoolEntry(*row) for row in sorted(rows)]


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


def _contenders(
    connection: sqlite3.Connection,
    part: Part,
    matches: tuple[Numbers, NDArray[np.float64]],
    vector: Matrix | None,
    lens: Lens,
    limit: int,
) -> _Contenders:
    columns = part.index.columns
    hidden = ~(part.usable & part.index.visible(connection, lens))
    keyword = np.full(len(columns), -np.inf)
    if len(columns) and len(matches[0]):
        places = np.minimum(columns.places(matches[0]), len(columns) - 1)
        here = columns.no[places] == matches[0]
        keyword[places[here]] = matches[1][here]
    similarity = part.index.similarity(vector)
    keyword[hidden] = -np.inf
    similarity[hidden] = -np.inf
    rows = _chosen(similarity, keyword, columns.no, limit)
    return _Contenders(
        columns.no[rows],
        similarity[rows],
        keyword[rows],
        columns.position[rows],
        columns.said_at[rows],
        columns.sessions(rows),
    )


def _united(shares: Sequence[_Contenders]) -> _Contenders:
    if len(shares) == 1:
        return shares[0]
    return _Contenders(
        np.concatenate([share.numbers for share in shares]),
        np.concatenate([share.similarity for share in shares]),
        np.concatenate([share.keyword for share in shares]),
        np.concatenate([share.position for share in shares]),
        np.concatenate([share.said_at for share in shares]),
        [session for share in shares for session in share.sessions],
    )


def _chosen(similarity: Matrix, keyword: NDArray[np.float64], numbers: Numbers, limit: int) -> NDArray[np.intp]:
    """Places of the best by either score, ascending."""
    return np.union1d(_best(similarity, numbers, limit), _best(keyword, numbers, limit))


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
