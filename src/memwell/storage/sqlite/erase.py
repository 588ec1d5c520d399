"""Erased words leave the tables and indexes of a file, inside the transaction that ``store`` holds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memwell.domain.changes import Changes
from memwell.domain.named import Named
from memwell.domain.plan import AddEvidence, AddMemory, Plan, Unit
from memwell.domain.tombstone import Tombstone, source_hashes
from memwell.storage.sqlite.keywords import index_text
from memwell.storage.sqlite.rows import id_list
from memwell.storage.sqlite.statements import statement
from memwell.storage.values import (
    evidence_terms,
    from_micros,
    memory_terms,
    spans_from_json,
    spans_to_json,
    to_micros,
)

_TABLES = {Unit.MEMORY: "memories", Unit.EVIDENCE: "evidence"}


def own_key(connection: sqlite3.Connection) -> bytes:
    """This file's key of hashes."""
    key: bytes = connection.execute("SELECT value FROM meta WHERE name = 'hash_key'").fetchone()[0]
    return key


def key_number(connection: sqlite3.Connection, key: bytes) -> int:
    """The row number of a key of hashes, which it gets here where it has none."""
    connection.execute("INSERT OR IGNORE INTO hash_keys (key) VALUES (?)", (key,))
    number: int = connection.execute("SELECT no FROM hash_keys WHERE key = ?", (key,)).fetchone()[0]
    return number


def buried_ids(connection: sqlite3.Connection, scope: int, plan: Plan) -> frozenset[str]:
    """Ids of the plan's new records that have a tombstone, by id or by where they come from."""
    records = [operation.evidence for operation in plan.operations if isinstance(operation, AddEvidence)]
    ids = [record.id for record in records]
    ids += [operation.memory.id for operation in plan.operations if isinstance(operation, AddMemory)]
    if not ids:
        return frozenset()
    query = "SELECT record_id FROM tombstones WHERE record_id IN (SELECT value FROM json_each(?))"
    found = {row[0] for row in connection.execute(query, (id_list(ids),))}
    for number, key in connection.execute("SELECT no, key FROM hash_keys").fetchall():
        for record in records:
            values = (scope, number, *source_hashes(record, key))
            if connection.execute(statement("tombstone_of_source"), values).fetchone():
                found.add(record.id)
    return frozenset(found)


def citing_ids(connection: sqlite3.Connection, evidence_ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """Ids of the memories that rest on each of these evidence records, where any."""
    found: dict[str, set[str]] = {}
    for key, memory_id in connection.execute(statement("citing_ids"), (id_list(evidence_ids),)):
        found.setdefault(key, set()).add(memory_id)
    return {key: frozenset(ids) for key, ids in found.items()}


def add_words(connection: sqlite3.Connection, unit: Unit, rows: Sequence[tuple[int, int, list[str]]]) -> None:
    """Add rows of record number, scope number and terms to the keyword index of ``unit``, and note their lengths."""
    connection.executemany(
        f"INSERT INTO {unit.value}_words (rowid, words) VALUES (?, ?)",
        [(no, index_text(scope, terms)) for no, scope, terms in rows],
    )
    lengths = [(len(terms), no) for no, _, terms in rows]
    connection.executemany(f"UPDATE {_TABLES[unit]} SET length = ? WHERE no = ?", lengths)


class Eraser:
    """Carries out the graves and burials of one plan.

    Args:
        named: the records as stored before the plan.
        scope: the scope's row number.
        memories, evidence: row numbers by id.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        named: Named,
        scope: int,
        memories: Mapping[str, int],
        evidence: Mapping[str, int],
    ) -> None:
        self._connection = connection
        self._named = named
        self._scope = scope
        self._numbers = {Unit.MEMORY: memories, Unit.EVIDENCE: evidence}

    def erase(self, changes: Changes) -> None:
        """Take the old words out of the indexes, the vectors, the sources, the transitions and the journal."""
        graves = {(grave.unit, grave.record_id): grave for grave in changes.graves}
        for unit, key in (*graves, *((Unit.MEMORY, key) for key in changes.reworded)):
            self._unindex(unit, key)
        gone = [(self._numbers[Unit.MEMORY][key],) for key in changes.erased]
        self._connection.executemany("DELETE FROM sources WHERE memory = ?", gone)
        self._connection.executemany(statement("erase_transitions"), gone)
        whole = [g for g in graves.values() if g.unit is Unit.EVIDENCE and g.spans is None]
        numbers = [(self._numbers[Unit.EVIDENCE][grave.record_id],) for grave in whole]
        self._connection.executemany("DELETE FROM dependencies WHERE evidence = ?", numbers)
        self._connection.executemany("DELETE FROM formed WHERE evidence = ?", numbers)
        if changes.graves:
            ids = id_list(key for _, key in graves)
            self._connection.execute(statement("erase_requests"), (self._scope, ids))
        if changes.graves or changes.reworded:
            self._connection.execute(statement("note_cleanup"))
        self._bury(changes)

    def index_again(self, changes: Changes) -> None:
        """Put what is left of blacked out sources back into the keyword index."""
        left = {grave.record_id for grave in changes.graves if grave.unit is Unit.EVIDENCE and grave.spans is not None}
        records = [changes.altered[key] for key in left if changes.altered[key].content]
        numbers = self._numbers[Unit.EVIDENCE]
        rows = [(numbers[r.id], self._scope, evidence_terms(r)) for r in records if r.speaker.supports_memories]
        add_words(self._connection, Unit.EVIDENCE, rows)

    def _unindex(self, unit: Unit, key: str) -> None:
        number = self._numbers[unit][key]
        words = self._words(unit, key)
        if words is not None:
            table = f"{unit.value}_words"
            self._connection.execute(
                f"INSERT INTO {table} ({table}, rowid, words) VALUES ('delete', ?, ?)",
                (number, index_text(self._scope, words)),
            )
        self._connection.execute(f"UPDATE {_TABLES[unit]} SET length = 0 WHERE no = ?", (number,))
        self._connection.execute(f"DELETE FROM {unit.value}_vectors WHERE record = ?", (number,))

    def _words(self, unit: Unit, key: str) -> list[str] | None:
        """The terms that the keyword index holds of a stored record; it deletes only what it is told exactly."""
        if unit is Unit.MEMORY:
            return memory_terms(self._named.memories[key])
        record = self._named.evidence[key]
        return evidence_terms(record) if record.speaker.supports_memories else None

    def _bury(self, changes: Changes) -> None:
        if not changes.graves and not changes.buried:
            return
        key = own_key(self._connection)
        for stone in (*(grave.tombstone(key) for grave in changes.graves), *changes.buried):
            known = read_tombstones(self._connection, "WHERE record_id = ?", (stone.record_id,))
            self._put(known[0].merged(stone) if known else stone)

    def _put(self, stone: Tombstone) -> None:
        number = None
        if stone.hash_key is not None:
            number = key_number(self._connection, stone.hash_key)
        row = (stone.record_id, self._scope, stone.unit.value, to_micros(stone.at), spans_to_json(stone.spans))
        insert = "INSERT OR REPLACE INTO tombstones VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        self._connection.execute(insert, (*row, stone.origin_hash, stone.replay_hash, number))


def read_tombstones(connection: sqlite3.Connection, tail: str, values: tuple[Any, ...]) -> list[Tombstone]:
    """Tombstones picked and ordered by ``tail``, a WHERE clause and what follows it."""
    query = f"{statement('tombstones')} {tail}"
    return [
        Tombstone(key, Unit(unit), from_micros(at), spans_from_json(spans), origin, replay, hash_key)
        for key, unit, at, spans, origin, replay, hash_key in connection.execute(query, values)
    ]
