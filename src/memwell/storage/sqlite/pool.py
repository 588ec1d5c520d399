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
from memwell.storage.relevance import idf, weight
from memwell.storage.sqlite.columns import Columns, Mask, Numbers
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
    visible = [part.usable & part.index.visible(connection, lens) for part in parts]
    keyword = keyword_scores(connection, scope, unit, [part.index.columns for part in parts], visible, terms)
    best = _united([_contenders(*share, vector, limit) for share in zip(parts, visible, keyword, strict=True)])
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


def keyword_scores(
    connection: sqlite3.Connection,
    scope: int,
    unit: Unit,
    shares: Sequence[Columns],
    visible: Sequence[Mask],
    terms: Sequence[str],
) -> list[NDArray[np.float64]]:
    """BM25 score of each row of each share, ``-inf`` where no term occurs; only ``visible`` rows count at all."""
    scores = [np.full(len(columns), -np.inf) for columns in shares]
    counted = [seen & (columns.length > 0) for columns, seen in zip(shares, visible, strict=True)]
    documents = sum(int(mask.sum()) for mask in counted)
    total = sum(int(columns.length[mask].sum()) for columns, mask in zip(shares, counted, strict=True))
    if not documents:
        return scores
    weights = [weight(columns.length.astype(np.float64), total / documents) for columns in shares]
    for term in dict.fromkeys(terms):
        numbers = _numbers_with(connection, scope, unit, term)
        hits = [_rows_among(columns, numbers, mask) for columns, mask in zip(shares, counted, strict=True)]
        worth = idf(documents, sum(map(len, hits)))
        for score, rows, weighted in zip(scores, hits, weights, strict=True):
            score[rows] = np.maximum(score[rows], 0.0) + worth * weighted[rows]
    return scores


def _numbers_with(connection: sqlite3.Connection, scope: int, unit: Unit, term: str) -> Numbers:
    """Numbers of the scope's records in which ``term`` occurs, ascending."""
    quoted = term.replace('"', '""')
    table = f"{unit.value}_words"
    query = f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rowid"
    found = connection.execute(query, (f'scope : "{scope}" AND words : "{quoted}"',))
    return np.fromiter(chain.from_iterable(found), np.int64)


def _rows_among(columns: Columns, numbers: Numbers, mask: Mask) -> NDArray[np.intp]:
    """Rows of those ``numbers`` that are present and within ``mask``."""
    if not len(columns):
        return np.zeros(0, np.intp)
    rows = np.minimum(columns.places(numbers), len(columns) - 1)
    found: NDArray[np.intp] = rows[(columns.no[rows] == numbers) & mask[rows]]
    return found


def _contenders(
    part: Part, visible: Mask, keyword: NDArray[np.float64], vector: Matrix | None, limit: int
) -> _Contenders:
    columns = part.index.columns
    similarity = part.index.similarity(vector)
    similarity[~visible] = -np.inf
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
