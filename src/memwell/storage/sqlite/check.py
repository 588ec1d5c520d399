"""A whole check of a file, and the rebuilding of what can be rebuilt."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from importlib import resources

from memwell.domain.evidence import EvidenceStatus
from memwell.domain.memory import State
from memwell.domain.plan import Unit
from memwell.storage.sqlite.contexts import index_all_contexts
from memwell.storage.sqlite.erase import add_words
from memwell.storage.sqlite.rows import read_evidence, read_memories
from memwell.storage.values import evidence_terms, memory_terms

_CHUNK = 1000


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[str, str], ...]:
    text = (resources.files("memwell.storage.sqlite") / "checks.sql").read_text("utf-8")
    rules = []
    for block in text.split("-- broken: ")[1:]:
        title, _, sql = block.partition("\n")
        rules.append((title, sql))
    return tuple(rules)


def problems(connection: sqlite3.Connection) -> list[str]:
    """What is broken, in words; empty when sound."""
    found = [f"file: {row[0]}" for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    found += [f"{row[0]} refers to a missing {row[2]}" for row in connection.execute("PRAGMA foreign_key_check")]
    for title, sql in _rules():
        found += [f"{title}: {row[0]}" for row in connection.execute(sql)]
    return found


def rebuild(connection: sqlite3.Connection) -> None:
    """Make the keyword indexes again from the records, inside the caller's write transaction."""
    for unit in Unit:
        table = f"{unit.value}_words"
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
    index_all_contexts(connection)
    for unit in Unit:
        last = 0
        while True:
            rows = _chunk(connection, unit, last)
            if not rows:
                break
            last = rows[-1][0]
            add_words(connection, unit, [(no, scope, words) for no, scope, words in rows if words is not None])


def _chunk(connection: sqlite3.Connection, unit: Unit, after: int) -> list[tuple[int, int, list[str] | None]]:
    """The next records of ``unit``: number, scope number and words, ``None`` for what is not indexed."""
    table = "memories" if unit is Unit.MEMORY else "evidence"
    keys = connection.execute(
        f"SELECT no, scope, id FROM {table} WHERE no > ? ORDER BY no LIMIT {_CHUNK}", (after,)
    ).fetchall()
    if not keys:
        return []
    if unit is Unit.MEMORY:
        memories = read_memories(connection, "WHERE m.no BETWEEN ? AND ?", (keys[0][0], keys[-1][0]))
        words = {memory.id: memory_terms(memory) for memory in memories.values() if memory.state is not State.ERASED}
    else:
        evidence = read_evidence(connection, "WHERE e.no BETWEEN ? AND ?", (keys[0][0], keys[-1][0]))
        indexed = [r for r in evidence if r.speaker.supports_memories and r.status is not EvidenceStatus.ERASED]
        words = {record.id: evidence_terms(record) for record in indexed}
    return [(no, scope, words.get(key)) for no, scope, key in keys]


def merge_words(connection: sqlite3.Connection) -> None:
    """Merge each keyword index into one segment: a deleted word leaves the file only when its segment is merged."""
    for table in (*(f"{unit.value}_words" for unit in Unit), "context_words"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
