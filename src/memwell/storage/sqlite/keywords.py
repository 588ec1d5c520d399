"""Which records of a scope the telling terms of a question occur in, from the full-text index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memwell.domain.plan import Unit
from memwell.storage.signals import Numbers, common_limit
from memwell.storage.stems import marked, stems_of


def index_text(scope: int, terms: Iterable[str]) -> str:
    """The text of the index row of a record of ``scope``: its terms, each with the scope's mark."""
    return " ".join(marked(scope, term) for term in terms)


def term_matches(
    connection: sqlite3.Connection, scope: int, unit: Unit, terms: Sequence[str], numbers: Numbers, *, held: int
) -> list[NDArray[np.intp]]:
    """For each telling term the places in ``numbers`` of the records that hold it; if none is telling, for every term.

    Args:
        numbers: the visible records of the scope, ascending.
        held: number of the scope's records, visible or not; or more.
    """
    telling = common_limit(len(numbers))
    # A longer list cannot be of a telling term, even if it names every record that is not visible.
    longest = telling + held - len(numbers)
    wanted = [marked(scope, term) for term in stems_of(terms).values()]
    listed = (_holding(connection, unit, term, longest + 1) for term in wanted)
    found = [_places(numbers, holding) for holding in listed if len(holding) <= longest]
    if any(0 < len(places) <= telling for places in found):
        return found
    return [_places(numbers, _holding(connection, unit, term, -1)) for term in wanted]


def _holding(connection: sqlite3.Connection, unit: Unit, term: str, limit: int) -> Numbers:
    """The numbers of at most ``limit`` records that hold a marked term, ascending; of all if it is -1."""
    table = f"{unit.value}_words"
    quoted = term.replace('"', '""')
    # One text instead of a row each: most of the time would go into the rows.
    query = f"SELECT group_concat(rowid) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    listed: str | None = connection.execute(query, (f'"{quoted}"', limit)).fetchone()[0]
    return np.zeros(0, np.int64) if listed is None else np.fromstring(listed, np.int64, sep=",")


def _places(numbers: Numbers, holding: Numbers) -> NDArray[np.intp]:
    places = np.minimum(np.searchsorted(numbers, holding), len(numbers) - 1)
    found: NDArray[np.intp] = places[numbers[places] == holding]
    return found
