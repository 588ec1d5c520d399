"""One read transaction as a ``ports.View``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from memwell.domain.evidence import Evidence, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import MemoryRecord, Transition
from memwell.domain.people import ALIAS
from memwell.domain.plan import Unit
from memwell.domain.scope import Scope
from memwell.engine.queries import NO_POOL, PageQuery, Pool, PoolQuery
from memwell.storage.refusals import other_shape
from memwell.storage.sqlite.index import IndexCache, Model
from memwell.storage.sqlite.pool import pool
from memwell.storage.sqlite.rows import id_list, read_evidence, read_memories, transition_from
from memwell.storage.sqlite.statements import ScopeRow, find_scope, statement
from memwell.storage.sqlite.traces import SqliteTraces
from memwell.storage.values import to_micros

# Memories of which every source may be read at the target.
_READABLE = {
    target: (
        " AND NOT EXISTS (SELECT 1 FROM sources s JOIN evidence e ON e.no = s.evidence"
        f" WHERE s.memory = m.no AND NOT (e.status = 'active' AND e.{target.value}))"
    )
    for target in Target
}


class SqliteView:
    """See ``ports.View``."""

    def __init__(self, connection: sqlite3.Connection, cache: IndexCache, now: Callable[[], datetime]) -> None:
        self._connection = connection
        self._cache = cache
        self._now = now
        self._rows: dict[Scope, ScopeRow | None] = {}
        self._models: dict[str, Model | None] = {}

    def epoch(self, scope: Scope) -> int:
        row = self._row(scope)
        return row.epoch if row else 0

    def memories(self, ids: Iterable[str]) -> dict[str, MemoryRecord]:
        return self._keyed_memories("WHERE m.id IN (SELECT value FROM json_each(?))", (id_list(ids),))

    def evidence(self, ids: Iterable[str]) -> dict[str, Evidence]:
        tail = "WHERE e.id IN (SELECT value FROM json_each(?))"
        return {record.id: record for record in read_evidence(self._connection, tail, (id_list(ids),))}

    def evidence_by_origin(self, scope: Scope, origins: Iterable[str]) -> dict[str, Evidence]:
        row = self._row(scope)
        if row is None:
            return {}
        tail = "WHERE e.scope = ? AND e.origin IN (SELECT value FROM json_each(?))"
        found = read_evidence(self._connection, tail, (row.no, id_list(origins)))
        return {record.origin: record for record in found}

    def formed(self, evidence_ids: Iterable[str]) -> set[str]:
        return {row[0] for row in self._connection.execute(statement("formed"), (id_list(evidence_ids),))}

    def unformed(self, limit: int) -> list[Evidence]:
        ids = [key for (key,) in self._connection.execute(statement("unformed"), (limit,))]
        found = self.evidence(ids)
        return [found[key] for key in ids]

    def pending(self, scope: Scope, limit: int) -> list[Evidence]:
        row = self._row(scope)
        if row is None:
            return []
        numbers = [no for (no,) in self._connection.execute(statement("pending_evidence"), (row.no, limit))]
        tail = "WHERE e.no IN (SELECT value FROM json_each(?)) ORDER BY e.no DESC"
        return read_evidence(self._connection, tail, (json.dumps(numbers),)) if numbers else []

    def heads(self, scope: Scope, keys: Iterable[tuple[str, str]]) -> list[MemoryRecord]:
        row = self._row(scope)
        pairs = list(dict.fromkeys(keys))
        if row is None or not pairs:
            return []
        either = " OR ".join(["(m.subject = ? AND m.attribute = ?)"] * len(pairs))
        tail = f"WHERE m.scope = ? AND m.state = 'current' AND m.attribute IS NOT NULL AND ({either}) ORDER BY m.no"
        values = (row.no, *(part for pair in pairs for part in pair))
        return list(read_memories(self._connection, tail, values).values())

    def aliases(self, scope: Scope) -> list[MemoryRecord]:
        row = self._row(scope)
        if row is None:
            return []
        tail = f"WHERE m.scope = ? AND m.attribute = '{ALIAS}' AND m.state = 'current' ORDER BY m.no"
        return list(read_memories(self._connection, tail, (row.no,)).values())

    def page(self, query: PageQuery) -> list[MemoryRecord]:
        row = self._row(query.scope)
        if row is None:
            return []
        tail = "WHERE m.scope = ? AND m.state IN (SELECT value FROM json_each(?))"
        values: list[Any] = [row.no, id_list(state.value for state in query.states)]
        if query.kinds is not None:
            tail += " AND m.kind IN (SELECT value FROM json_each(?))"
            values.append(id_list(kind.value for kind in query.kinds))
        if query.said_from is not None:
            tail += " AND m.memory_at >= ?"
            values.append(to_micros(query.said_from))
        if query.said_until is not None:
            tail += " AND m.memory_at < ?"
            values.append(to_micros(query.said_until))
        if query.live_at is not None:
            tail += " AND (m.valid_until IS NULL OR m.valid_until > ?)"
            values.append(to_micros(query.live_at))
        if query.target is not None:
            tail += _READABLE[query.target]
        if query.after is not None:
            tail += " AND (m.recorded_at, m.id) < (?, ?)"
            values += [to_micros(query.after[0]), query.after[1]]
        tail += " ORDER BY m.recorded_at DESC, m.id DESC LIMIT ?"
        return list(read_memories(self._connection, tail, (*values, query.limit)).values())

    def count(self, scope: Scope, lens: Lens) -> int:
        row = self._row(scope)
        if row is None:
            return 0
        with self._cache.parts(self._connection, row.no, Unit.MEMORY, row.changes, None) as parts:
            return sum(int(part.visible(self._connection, lens).sum()) for part in parts)

    def pool(self, scope: Scope, unit: Unit, query: PoolQuery) -> Pool:
        vector = query.vector
        known = self._model(query.model) if vector is not None else None
        if known is not None and vector is not None and vector.shape != (known.dimensions,):
            raise other_shape(query.model, vector.shape, known.dimensions)
        row = self._row(scope)
        if row is None:
            return NO_POOL
        with self._cache.parts(self._connection, row.no, unit, row.changes, known) as parts:
            comparable = query if known is not None else replace(query, vector=None)
            return pool(self._connection, row.no, unit, parts, comparable)

    def words(self, ids: Iterable[str], model: str) -> dict[str, bytes]:
        return dict(self._connection.execute(statement("words"), (model, id_list(ids))))

    def recent(self, scope: Scope, session_id: str, *, before: datetime, limit: int) -> list[Evidence]:
        row = self._row(scope)
        if row is None:
            return []
        tail = (
            "WHERE e.scope = ? AND e.session_id = ? AND e.occurred_at <= ? AND e.status = 'active'"
            " ORDER BY e.occurred_at DESC, e.no DESC LIMIT ?"
        )
        return read_evidence(self._connection, tail, (row.no, session_id, to_micros(before), limit))[::-1]

    def transitions(self, memory_id: str) -> tuple[Transition, ...]:
        rows = self._connection.execute(statement("transitions"), (memory_id,))
        return tuple(transition_from(memory_id, row) for row in rows)

    def chain(self, memory_id: str) -> list[MemoryRecord]:
        numbers = [row[0] for row in self._connection.execute(statement("chain"), (memory_id,))]
        tail = "WHERE m.no IN (SELECT value FROM json_each(?))"
        return list(self._keyed_memories(tail, (json.dumps(numbers),)).values())

    def outcome(self, scope: Scope, request_id: str) -> tuple[str, Mapping[str, Any] | None] | None:
        row = self._row(scope)
        values = (row.no if row else 0, request_id, to_micros(self._now()))
        found = self._connection.execute(statement("request"), values).fetchone()
        return None if found is None else (found[0], None if found[1] is None else json.loads(found[1]))

    def traces(self, scope: Scope) -> SqliteTraces:
        row = self._row(scope)
        return SqliteTraces(self._connection, row.no if row else 0)

    def unindexed(self, unit: Unit, model: str, limit: int, target: Target = Target.LOCAL) -> list[str]:
        values = (model, target.value, limit)
        return [key for (key,) in self._connection.execute(statement(f"unindexed_{unit.value}"), values)]

    def stats(self) -> Mapping[str, Any]:
        def number(name: str) -> int:
            found: int = self._connection.execute(statement(name)).fetchone()[0]
            return found

        models = self._connection.execute(statement("model_figures"))
        return {
            "scopes": number("count_scopes"),
            "evidence": number("count_evidence"),
            "unformed": number("count_unformed"),
            "memories": number("count_memories"),
            "indexable": number("count_indexable"),
            "by_state": dict(self._connection.execute(statement("count_by_state"))),
            "ledger": number("count_ledger"),
            "bytes": number("page_count") * number("page_size"),
            "schema": number("schema"),
            "cleanup": "pending" if number("cleanup_due") else "complete",
            "staying": number("count_staying"),
            "models": {
                name: {"dimensions": dimensions, "memories": memories, "evidence": evidence}
                for name, dimensions, memories, evidence in models
            },
        }

    def _row(self, scope: Scope) -> ScopeRow | None:
        """The scope's row, read once: nothing changes within a snapshot."""
        if scope not in self._rows:
            self._rows[scope] = find_scope(self._connection, scope)
        return self._rows[scope]

    def _model(self, name: str) -> Model | None:
        """The model's row, read once too."""
        if name not in self._models:
            query = "SELECT no, dimensions FROM models WHERE name = ?"
            row = self._connection.execute(query, (name,)).fetchone()
            self._models[name] = None if row is None else Model(*row)
        return self._models[name]

    def _keyed_memories(self, tail: str, values: tuple[Any, ...]) -> dict[str, MemoryRecord]:
        return {memory.id: memory for memory in read_memories(self._connection, tail, values).values()}
