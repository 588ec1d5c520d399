"""What governing needs to know about one scope, from a read transaction: ``engine.traces.Traces``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memwell.domain.clauses import holds_copy
from memwell.domain.command import Command, Receipt, read_receipt
from memwell.domain.evidence import Evidence
from memwell.domain.memory import MemoryRecord
from memwell.domain.plan import KeepReceipt, Unit
from memwell.domain.tombstone import Tombstone, keyed_hash
from memwell.engine.queries import EvidenceQuery
from memwell.storage.refusals import other_command
from memwell.storage.sqlite.contexts import candidates, holding
from memwell.storage.sqlite.erase import key_number, read_tombstones
from memwell.storage.sqlite.keywords import quoted
from memwell.storage.sqlite.rows import HIGHEST, id_list, read_evidence, read_memories
from memwell.storage.sqlite.statements import statement
from memwell.storage.stems import marked, stems
from memwell.storage.values import to_micros

_LISTED = "IN (SELECT value FROM json_each(?))"


class SqliteTraces:
    """See ``engine.traces.Traces``; ``scope`` is the scope's row number, 0 where it has none."""

    def __init__(self, connection: sqlite3.Connection, scope: int) -> None:
        self._connection = connection
        self._scope = scope

    def evidence(self, session_id: str | None = None) -> list[Evidence]:
        if session_id is None:
            return self._evidence("")
        return self._evidence("AND e.session_id = ?", session_id)

    def page(self, query: EvidenceQuery) -> list[Evidence]:
        tail = f"WHERE e.scope = ? AND e.status = 'active' AND e.{query.target.value}"
        values: list[Any] = [self._scope]
        if query.session_id is not None:
            tail += " AND e.session_id = ?"
            values.append(query.session_id)
        if query.origin_prefix is not None:
            tail += " AND e.origin >= ? AND e.origin < ?"
            values += [query.origin_prefix, query.origin_prefix + HIGHEST]
        if query.after is not None:
            tail += " AND (e.recorded_at, e.id) < (?, ?)"
            values += [to_micros(query.after[0]), query.after[1]]
        if query.alive_at is not None:
            tail += " AND (e.valid_until IS NULL OR e.valid_until > ?)"
            values.append(to_micros(query.alive_at))
        # A plus keeps SQLite from going through the whole scope by time where few records are wanted.
        whole = query.session_id is None and query.origin_prefix is None
        tail += f" ORDER BY {'' if whole else '+'}e.recorded_at DESC, e.id DESC LIMIT ?"
        return read_evidence(self._connection, tail, (*values, query.limit))

    def memories(self) -> list[MemoryRecord]:
        return self._memories("")

    def originating(self, prefix: str) -> list[Evidence]:
        return self._evidence("AND e.origin >= ? AND e.origin < ?", prefix, prefix + HIGHEST)

    def citing(self, evidence_ids: Iterable[str]) -> list[MemoryRecord]:
        cited = f"SELECT s.memory FROM evidence e JOIN sources s ON s.evidence = e.no WHERE e.id {_LISTED}"
        return self._memories(f"AND m.no IN ({cited})", id_list(evidence_ids), listed=True)

    def derived(self, memory_ids: Iterable[str]) -> list[MemoryRecord]:
        parents = f"SELECT no FROM memories WHERE id {_LISTED}"
        links = f"SELECT memory FROM links WHERE relation = 'derived_from' AND other IN ({parents})"
        return self._memories(f"AND m.no IN ({links})", id_list(memory_ids), listed=True)

    def dependents(self, ids: Iterable[str]) -> list[Evidence]:
        found = self._connection.execute(statement("dependents"), (self._scope, id_list(ids))).fetchall()
        return self._evidence(f"AND e.id {_LISTED}", id_list(row[0] for row in found), listed=True)

    def dependencies(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for key, other in self._connection.execute(statement("dependencies"), (self._scope,)):
            found[key] = (*found.get(key, ()), other)
        return found

    def copies(self, clauses: Sequence[str]) -> list[Evidence]:
        records = self._numbered(candidates(self._connection, self._scope, clauses))
        return [record for record in records if holds_copy(record, clauses)]

    def replies(self, terms: Sequence[str]) -> list[Evidence]:
        return self._numbered(holding(self._connection, self._scope, terms), "AND e.speaker = 'assistant'")

    def mentioning(self, terms: Sequence[str]) -> tuple[list[MemoryRecord], list[Evidence]]:
        wanted = [term for term in terms if len(stems(term)) == 1]
        if not wanted:
            return [], []
        match = " AND ".join(quoted(marked(self._scope, term)) for term in wanted)
        numbers = {}
        for unit in Unit:
            table = f"{unit.value}_words"
            rows = self._connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (match,))
            numbers[unit] = json.dumps([row[0] for row in rows])
        memories = self._memories(f"AND m.no {_LISTED}", numbers[Unit.MEMORY], listed=True)
        return memories, self._evidence(f"AND e.no {_LISTED}", numbers[Unit.EVIDENCE], listed=True)

    def forming(self, since: datetime) -> list[str]:
        return [key for (key,) in self._connection.execute(statement("forming"), (self._scope, to_micros(since)))]

    def formed(self) -> frozenset[str]:
        return frozenset(key for (key,) in self._connection.execute(statement("formed_of_scope"), (self._scope,)))

    def tombstones(self) -> list[Tombstone]:
        return read_tombstones(self._connection, "WHERE t.scope = ? ORDER BY t.record_id", (self._scope,))

    def receipt(self, command_id: str) -> Receipt | None:
        row = self._receipt_row(command_id)
        return None if row is None else read_receipt(json.loads(row[0]))

    def receipts(self) -> list[KeepReceipt]:
        rows = self._connection.execute(statement("receipts"), (self._scope,))
        return [KeepReceipt(read_receipt(json.loads(body)), digest, key) for body, digest, key in rows]

    def answered(self, command: Command) -> Receipt | None:
        row = self._receipt_row(command.id)
        if row is None:
            return None
        if row[1] != keyed_hash(command.input, row[2]):
            raise other_command(command.id)
        return read_receipt(json.loads(row[0]))

    def keep(self, kept: KeepReceipt) -> None:
        """Store a receipt; only within a write transaction. One that is stored already stays."""
        number = key_number(self._connection, kept.hash_key)
        row = (self._scope, kept.receipt.command_id, json.dumps(kept.receipt.to_dict()), kept.input_hash, number)
        self._connection.execute("INSERT OR IGNORE INTO receipts VALUES (?, ?, ?, ?, ?)", row)

    def _receipt_row(self, command_id: str) -> Any:
        return self._connection.execute(statement("receipt"), (self._scope, command_id)).fetchone()

    # A plus before a column keeps SQLite from going through the whole scope where the records wanted are listed.

    def _evidence(self, narrowed: str, *values: object, listed: bool = False) -> list[Evidence]:
        tail = f"WHERE {'+' * listed}e.scope = ? AND e.status <> 'erased' {narrowed} ORDER BY e.no"
        return read_evidence(self._connection, tail, (self._scope, *values))

    def _numbered(self, numbers: Iterable[int], narrowed: str = "") -> list[Evidence]:
        return self._evidence(f"AND e.no {_LISTED} {narrowed}", json.dumps(sorted(numbers)), listed=True)

    def _memories(self, narrowed: str, *values: object, listed: bool = False) -> list[MemoryRecord]:
        tail = f"WHERE {'+' * listed}m.scope = ? AND m.state <> 'erased' {narrowed} ORDER BY m.no"
        return list(read_memories(self._connection, tail, (self._scope, *values)).values())
