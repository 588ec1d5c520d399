"""The rows of a plan's changes, written inside the transaction that ``store`` holds."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from memwell.domain.changes import Changes, Entry
from memwell.domain.evidence import Evidence
from memwell.domain.jobs import Job
from memwell.domain.memory import Links, MemoryRecord
from memwell.domain.named import Named, erases, losing_words, named_ids, named_jobs
from memwell.domain.plan import IndexRecord, Plan, Unit
from memwell.domain.tombstone import keyed_hash
from memwell.storage.refusals import other_dimensions
from memwell.storage.sqlite import queue
from memwell.storage.sqlite.contexts import index_contexts, unindex_contexts
from memwell.storage.sqlite.erase import Eraser, add_words, buried_ids, citing_ids
from memwell.storage.sqlite.rows import (
    EVIDENCE_COLUMNS,
    MEMORY_COLUMNS,
    evidence_row,
    id_list,
    memory_row,
    read_evidence,
    read_memories,
    transition_row,
)
from memwell.storage.sqlite.statements import statement
from memwell.storage.values import evidence_terms, memory_terms, to_micros


def _insert(table: str, columns: str) -> str:
    names = columns.split(", ")
    return f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(names))})"


def _upsert(table: str, columns: str) -> str:
    settings = ", ".join(f"{name} = excluded.{name}" for name in columns.split(", ") if name != "no")
    return f"{_insert(table, columns)} ON CONFLICT (no) DO UPDATE SET {settings}"


_PUT_EVIDENCE = _upsert("evidence", f"no, scope, changed, {EVIDENCE_COLUMNS}")
_PUT_MEMORY = _upsert("memories", f"no, scope, changed, {MEMORY_COLUMNS}")
_ADD_SOURCE = _insert("sources", "memory, position, evidence, start_char, end_char, said_at")
_ADD_LINK = _insert("links", "memory, relation, position, other")
_ADD_TRANSITION = _insert("transitions", "memory, revision, state, valid_until, muted_at, at, cause, plan_id")
_ADD_LINE = _insert("ledger", "seq, origin_device, origin_seq, clock, plan_id, operation, record_id, content_hash, at")


def read_named(connection: sqlite3.Connection, scope: int, plan: Plan) -> Named:
    """The records that ``plan`` names, for ``changes.resolve``."""
    memory_ids, evidence_ids, origins = named_ids(plan)
    citing = citing_ids(connection, losing_words(plan))
    jobs = _read_jobs(connection, scope, plan)
    evidence_ids = evidence_ids.union(*(job.evidence_ids for job in jobs.values()))
    memory_ids = memory_ids.union(*citing.values())
    memories: Iterable[MemoryRecord] = ()
    evidence: Iterable[Evidence] = ()
    by_origin: Iterable[Evidence] = ()
    if memory_ids:
        tail = "WHERE m.id IN (SELECT value FROM json_each(?))"
        memories = read_memories(connection, tail, (id_list(memory_ids),)).values()
    if evidence_ids:
        tail = "WHERE e.id IN (SELECT value FROM json_each(?))"
        evidence = read_evidence(connection, tail, (id_list(evidence_ids),))
    if origins:
        tail = "WHERE e.scope = ? AND e.origin IN (SELECT value FROM json_each(?))"
        by_origin = read_evidence(connection, tail, (scope, id_list(origins)))
    return Named(
        memories={memory.id: memory for memory in memories},
        evidence={record.id: record for record in evidence},
        origins={record.origin: record for record in by_origin},
        buried=buried_ids(connection, scope, plan),
        citing=citing,
        jobs=jobs,
    )


def _read_jobs(connection: sqlite3.Connection, scope: int, plan: Plan) -> dict[str, Job]:
    ids = named_jobs(plan)
    jobs = queue.named_jobs(connection, ids) if ids else {}
    return {**jobs, **queue.named_jobs_of_erasure(connection, scope, losing_words(plan))} if erases(plan) else jobs


class Writer:
    """Writes one plan's changes to one scope.

    Args:
        scope: the scope's row number.
        change: the scope's change counter after this plan.
    """

    def __init__(self, connection: sqlite3.Connection, plan: Plan, named: Named, scope: int, change: int) -> None:
        self._connection = connection
        self._plan = plan
        self._named = named
        self._scope = scope
        self._change = change

    def records(self, changes: Changes) -> None:
        """Evidence and memories with their sources, links and transitions, and the marks of what was formed.

        What is erased leaves every table and index here, before the new rows of altered records are written.
        """
        self._evidence_numbers = self._numbered("evidence", [record.id for record in changes.evidence])
        created = [key for key in changes.memories if key in changes.created]
        self._memory_numbers = self._numbered("memories", created)
        self._find_numbers(changes)
        eraser = Eraser(self._connection, self._named, self._scope, self._memory_numbers, self._evidence_numbers)
        eraser.erase(changes)
        self._add_evidence(changes)
        self._put_memories(changes)
        eraser.index_again(changes)
        steps = [(self._memory_numbers[step.memory_id], *transition_row(step)) for step in changes.transitions]
        self._connection.executemany(_ADD_TRANSITION, steps)
        self._connection.executemany(
            "INSERT OR IGNORE INTO formed VALUES (?)", [(self._evidence_numbers[key],) for key in changes.formed]
        )

    def words(self, changes: Changes) -> None:
        """Keyword index rows of new records, and of memories in new words."""
        add_words(
            self._connection,
            Unit.EVIDENCE,
            [
                (self._evidence_numbers[record.id], self._scope, evidence_terms(record))
                for record in changes.evidence
                if record.speaker.supports_memories
            ],
        )
        add_words(
            self._connection,
            Unit.MEMORY,
            [
                (self._memory_numbers[key], self._scope, memory_terms(changes.memories[key]))
                for key in self._memory_numbers
                if key in changes.created or key in changes.reworded
            ],
        )
        self._contexts(changes)

    def _contexts(self, changes: Changes) -> None:
        """The index of the words of assistants, of new records and of those whose words change."""
        stored = {record.id: record for record in (*self._named.origins.values(), *self._named.evidence.values())}
        new = {record.id: changes.altered.get(record.id, record) for record in changes.evidence}
        reworded = {
            key: record
            for key, record in changes.altered.items()
            if key not in new and _said(stored[key]) != _said(record)
        }
        numbers = self._evidence_numbers
        unindex_contexts(self._connection, self._scope, {numbers[key]: stored[key] for key in reworded})
        rows = {numbers[key]: record for key, record in {**new, **reworded}.items()}
        index_contexts(self._connection, self._scope, rows)

    def vectors(self, items: Sequence[IndexRecord]) -> None:
        """Vectors, each record's in place of earlier ones.

        Raises:
            PlanRejectedError: a model is known with another number of dimensions.
        """
        for item in items:
            numbers = self._memory_numbers if item.unit is Unit.MEMORY else self._evidence_numbers
            number, table = numbers[item.record_id], f"{item.unit.value}_vectors"
            if item.vectors:
                spans = b"".join(struct.pack("<ii", vector.start, vector.end) for vector in item.vectors)
                data = b"".join(vector.data for vector in item.vectors)
                row: tuple[Any, ...] = (number, self._model(item), spans, data)
                if item.unit is Unit.EVIDENCE:
                    row = (*row, item.words)
                self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            else:
                self._connection.execute(f"DELETE FROM {table} WHERE record = ?", (number,))
            records = "memories" if item.unit is Unit.MEMORY else "evidence"
            self._connection.execute(f"UPDATE {records} SET changed = ? WHERE no = ?", (self._change, number))

    def ledger(self, entries: Sequence[Entry]) -> int:
        """One line per entry, and one for a plan without any; returns the last line's sequence."""
        meta = dict(self._connection.execute("SELECT name, value FROM meta"))
        device, key = meta["device"], meta["hash_key"]
        last = self._connection.execute("SELECT max(seq) FROM ledger").fetchone()[0] or 0
        at = to_micros(self._plan.at)
        lines = []
        for seq, entry in zip(count(last + 1), entries or (Entry("plan", "", ""),), strict=False):
            clock = json.dumps({device: seq})
            what = (
                self._plan.id,
                entry.operation,
                entry.record_id or None,
                keyed_hash(entry.content, key) if entry.content else None,
                at,
            )
            lines.append((seq, device, seq, clock, *what))
        self._connection.executemany(_ADD_LINE, lines)
        return last + len(lines)

    def _numbered(self, table: str, ids: Sequence[str]) -> dict[str, int]:
        """The next free row numbers of ``table`` for new ``ids``."""
        if not ids:
            return {}
        last = self._connection.execute(f"SELECT max(no) FROM {table}").fetchone()[0] or 0
        return dict(zip(ids, count(last + 1), strict=False))

    def _find_numbers(self, changes: Changes) -> None:
        """Row numbers of the stored records that the changes refer to."""
        evidence: set[str] = {*changes.formed, *changes.altered, *changes.dependencies}
        memories: set[str] = set(changes.memories)
        for key, memory in changes.memories.items():
            evidence.update(source.evidence_id for source in memory.sources)
            for _, others in _new_links(self._named.memories.get(key), memory):
                memories.update(others)
        for item in changes.vectors:
            (memories if item.unit is Unit.MEMORY else evidence).add(item.record_id)
        for numbers, table, wanted in (
            (self._evidence_numbers, "evidence", evidence),
            (self._memory_numbers, "memories", memories),
        ):
            missing = wanted - numbers.keys()
            if missing:
                query = f"SELECT id, no FROM {table} WHERE id IN (SELECT value FROM json_each(?))"
                numbers.update(self._connection.execute(query, (id_list(missing),)))

    def _add_evidence(self, changes: Changes) -> None:
        numbers = self._evidence_numbers
        records = (*changes.evidence, *changes.altered.values())
        rows = [(numbers[record.id], self._scope, self._change, *evidence_row(record)) for record in records]
        self._connection.executemany(_PUT_EVIDENCE, rows)
        dependencies = [(numbers[key], other) for key, others in changes.dependencies.items() for other in others]
        self._connection.executemany(statement("add_dependency"), dependencies)
        # What rests on altered evidence may be readable no more, or again: caches must look at it anew.
        citing = "UPDATE memories SET changed = ? WHERE no IN (SELECT memory FROM sources WHERE evidence = ?)"
        self._connection.executemany(citing, [(self._change, numbers[key]) for key in changes.altered])

    def _put_memories(self, changes: Changes) -> None:
        numbers = self._memory_numbers
        rows = [
            (numbers[key], self._scope, self._change, *memory_row(memory)) for key, memory in changes.memories.items()
        ]
        self._connection.executemany(_PUT_MEMORY, rows)
        sources = []
        links = []
        for key, memory in changes.memories.items():
            before = self._named.memories.get(key)
            known = len(before.sources) if before else 0
            if before is not None and memory.sources[:known] != before.sources:
                self._connection.execute("DELETE FROM sources WHERE memory = ?", (numbers[key],))
                known = 0
            for position, source in enumerate(memory.sources[known:], known):
                evidence = self._evidence_numbers[source.evidence_id]
                row = (numbers[key], position, evidence, source.start, source.end, to_micros(source.said_at))
                sources.append(row)
            for relation, others in _new_links(before, memory):
                known = len(getattr(before.links, relation)) if before else 0
                links += [(numbers[key], relation, n, numbers[other]) for n, other in enumerate(others, known)]
        self._connection.executemany(_ADD_SOURCE, sources)
        self._connection.executemany(_ADD_LINK, links)

    def _model(self, item: IndexRecord) -> int:
        dimensions = len(item.vectors[0].data) // 4
        query = "SELECT no, dimensions FROM models WHERE name = ?"
        row = self._connection.execute(query, (item.model,)).fetchone()
        if row is None:
            insert = "INSERT INTO models (name, dimensions) VALUES (?, ?)"
            return int(self._connection.execute(insert, (item.model, dimensions)).lastrowid or 0)
        if row[1] != dimensions:
            raise other_dimensions(self._plan, item.model, dimensions, row[1])
        return int(row[0])


def _said(record: Evidence) -> tuple[str, str | None]:
    return record.content, record.preceding


def _new_links(before: MemoryRecord | None, after: MemoryRecord) -> list[tuple[str, tuple[str, ...]]]:
    """Links that ``after`` has beyond ``before``; a plan only ever appends some."""
    known = before.links if before else Links()
    found = ((name, getattr(after.links, name)[len(getattr(known, name)) :]) for name in Links.__slots__)
    return [(name, others) for name, others in found if others]
