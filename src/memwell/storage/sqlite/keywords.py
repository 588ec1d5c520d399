"""Which records of a scope the telling terms of a question occur in, from the full-text index."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memwell.domain.plan import Unit
from memwell.storage.signals import Numbers, common_limit
from memwell.storage.stems import stems_of

# A scope that holds at least this share of all records is not named in a look-up: leaving out what is found of other
# scopes costs less than reading the list of all that is in the scope.
_MAIN_SCOPE = 0.25


def term_matches(
    connection: sqlite3.Connection, scope: int, unit: Unit, terms: Sequence[str], numbers: Numbers, *, held: int
) -> list[NDArray[np.intp]]:
    """For each telling term the places in ``numbers`` of the records that hold it; if none is telling, for every term.

    Args:
        numbers: the visible records of the scope, ascending.
        held: number of the scope's records, visible or not; or more.
    """
    table = "memories" if unit is Unit.MEMORY else "evidence"
    last = connection.execute(f"SELECT max(no) FROM {table}").fetchone()[0] or 0
    main = held >= _MAIN_SCOPE * last
    lookup = _Lookup(connection, unit, None if main else scope)
    telling = common_limit(len(numbers))
    # A longer list cannot be of a telling term, even if it names every record that is not visible.
    longest = telling + (last if main else held) - len(numbers)
    wanted = stems_of(terms).values()
    listed = (lookup.records(term, longest + 1) for term in wanted)
    found = [_places(numbers, holding) for holding in listed if len(holding) <= longest]
    if any(0 < len(places) <= telling for places in found):
        return found
    return [_places(numbers, lookup.records(term, -1)) for term in wanted]


class _Lookup:
    """The numbers of the records that hold a term, of one scope or of all."""

    def __init__(self, connection: sqlite3.Connection, unit: Unit, scope: int | None) -> None:
        table = f"{unit.value}_words"
        self._connection = connection
        self._scope = "" if scope is None else f'scope : "{scope}" AND '
        # One text instead of a row each: most of the time would go into the rows.
        self._query = f"SELECT group_concat(rowid) FROM (SELECT rowid FROM {table} WHERE {table} MATCH ? LIMIT ?)"

    def records(self, term: str, limit: int) -> Numbers:
        """At most ``limit`` numbers; all if it is -1."""
        values = (f'{self._scope}words : "{term}"', limit)
        listed: str | None = self._connection.execute(self._query, values).fetchone()[0]
        return np.zeros(0, np.int64) if listed is None else np.fromstring(listed, np.int64, sep=",")


def _places(numbers: Numbers, holding: Numbers) -> NDArray[np.intp]:
    places = np.minimum(np.searchsorted(numbers, holding), len(numbers) - 1)
    found: NDArray[np.intp] = places[numbers[places] == holding]
    return found
