"""Which records of a scope the telling terms of a question occur in, from the full-text index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from itertools import chain

import numpy as np

from memwell.domain.plan import Unit
from memwell.storage.signals import Numbers, common_limit
from memwell.storage.stems import stems

# Terms looked up for a question: the rarest. Rare terms decide; long questions in Chinese have dozens of pairs.
_TERMS = 16


def term_matches(
    connection: sqlite3.Connection, scope: int, unit: Unit, terms: Sequence[str], *, count: int
) -> list[Numbers]:
    """For each telling term the numbers of the scope's records that hold it, ascending; the rarest term first.

    Args:
        count: number of the scope's records. A term that too many of them hold is left out, unless it is the first.
    """
    found: list[Numbers] = []
    for term in _rarest(connection, unit, terms):
        limit = -1 if not found else common_limit(count) + 1
        rows = connection.execute(
            f"SELECT rowid FROM {unit.value}_words WHERE {unit.value}_words MATCH ? LIMIT ?",
            (f'scope : "{scope}" AND words : "{term}"', limit),
        )
        numbers = np.fromiter(chain.from_iterable(rows), np.int64)
        if len(numbers) and len(numbers) != limit:
            found.append(numbers)
    return found


def _rarest(connection: sqlite3.Connection, unit: Unit, terms: Sequence[str]) -> list[str]:
    """Those of ``terms`` that occur at all, each stem once, those of the fewest records first.

    A term that SQLite cuts into several, or into none, is left out: the index was made from whole terms.
    """
    wanted = {parts[0]: term for term in terms if len(parts := stems(term)) == 1}
    query = (
        f"SELECT term FROM {unit.value}_vocabulary"
        " WHERE term IN (SELECT value FROM json_each(?)) AND col = 'words' ORDER BY doc, term LIMIT ?"
    )
    return [wanted[row[0]] for row in connection.execute(query, (json.dumps(list(wanted)), _TERMS))]
