"""The index of what assistants said: finds copies of a text without reading every reply of its scope."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping

from memwell.domain.evidence import Evidence
from memwell.domain.text import verbatim_terms
from memwell.storage.sqlite.keywords import index_text, quoted
from memwell.storage.sqlite.rows import read_evidence
from memwell.storage.stems import marked, stems
from memwell.storage.values import context_terms, is_context

_MOST_TERMS = 24  # of a text are looked up: the longest, which the fewest replies hold
_CHUNK = 1000
_ADD = "INSERT INTO context_words (rowid, words) VALUES (?, ?)"
_DROP = "INSERT INTO context_words (context_words, rowid, words) VALUES ('delete', ?, ?)"
_ALL = "SELECT no FROM evidence WHERE scope = ? AND (speaker = 'assistant' OR preceding IS NOT NULL)"


def index_contexts(connection: sqlite3.Connection, scope: int, records: Mapping[int, Evidence]) -> None:
    """Index those of the new ``records``, by number, in which copies are looked for."""
    rows = [(no, index_text(scope, context_terms(record))) for no, record in records.items() if is_context(record)]
    connection.executemany(_ADD, rows)


def unindex_contexts(connection: sqlite3.Connection, scope: int, records: Mapping[int, Evidence]) -> None:
    """Take ``records``, as they were indexed, out of the index; it deletes only what it is told exactly."""
    rows = [(no, index_text(scope, context_terms(record))) for no, record in records.items() if is_context(record)]
    connection.executemany(_DROP, rows)


def index_all_contexts(connection: sqlite3.Connection) -> None:
    """Make the index again from the records, inside the caller's write transaction."""
    connection.execute("INSERT INTO context_words (context_words) VALUES ('delete-all')")
    query = (
        "SELECT no, scope FROM evidence WHERE no > ? AND (speaker = 'assistant' OR preceding IS NOT NULL)"
        f" ORDER BY no LIMIT {_CHUNK}"
    )
    last = 0
    while rows := connection.execute(query, (last,)).fetchall():
        last = rows[-1][0]
        numbers = json.dumps([no for no, _ in rows])
        tail = "WHERE e.no IN (SELECT value FROM json_each(?)) ORDER BY e.no"
        for (no, scope), record in zip(rows, read_evidence(connection, tail, (numbers,)), strict=True):
            index_contexts(connection, scope, {no: record})


def candidates(connection: sqlite3.Connection, scope: int, clauses: Iterable[str]) -> set[int]:
    """Numbers of all records of ``scope`` that may hold one of ``clauses``, as ``plain`` has them, and some more."""
    found: set[int] = set()
    for clause in clauses:
        wanted = sorted(_known(verbatim_terms(clause)), key=lambda term: (-len(term), term))[:_MOST_TERMS]
        if not wanted:  # nothing but signs, of which the index knows none
            return {row[0] for row in connection.execute(_ALL, (scope,))}
        found |= holding(connection, scope, wanted)
    return found


def holding(connection: sqlite3.Connection, scope: int, terms: Iterable[str]) -> set[int]:
    """Numbers of the records of ``scope`` that hold all ``terms``; of none where the index knows none of them."""
    match = " AND ".join(quoted(marked(scope, term)) for term in _known(terms))
    if not match:
        return set()
    query = "SELECT rowid FROM context_words WHERE context_words MATCH ?"
    return {row[0] for row in connection.execute(query, (match,))}


def _known(terms: Iterable[str]) -> list[str]:
    return [term for term in terms if len(stems(term)) == 1]
