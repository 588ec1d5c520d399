"""The invariants of records, checked one by one."""

from __future__ import annotations

from collections.abc import Iterator

from memwell.domain.changes import BOTH_WAYS
from memwell.domain.memory import Kind, Links, MemoryRecord, State
from memwell.domain.plan import Unit
from memwell.storage.memory.rows import Rows, is_indexed


def problems(rows: Rows) -> list[str]:
    """What is broken, in words that name the record; empty when sound."""
    found: list[str] = []
    for memory in rows.memories.values():
        found.extend(f"memory {memory.id} {problem}" for problem in _problems_of(rows, memory))
    alive = {key for key, memory in rows.memories.items() if memory.state is not State.ERASED}
    if rows.words[Unit.MEMORY].keys() != alive:
        found.append("the keyword index of memories lacks or adds records")
    if rows.words[Unit.EVIDENCE].keys() != {key for key, row in rows.evidence.items() if is_indexed(row)}:
        found.append("the keyword index of evidence lacks or adds records")
    return found


def _problems_of(rows: Rows, memory: MemoryRecord) -> Iterator[str]:
    if memory.state is State.ERASED:
        yield from _words_left(rows, memory)
    elif not memory.sources and memory.kind is not Kind.ENTITY:
        yield "cites no evidence"
    yield from _broken_sources(rows, memory)
    for name in Links.__slots__:
        for other_id in getattr(memory.links, name):
            other = rows.memories.get(other_id)
            if other is None or other.scope != memory.scope:
                yield f"is linked with {other_id}, which is not in its scope"
            elif name in BOTH_WAYS and memory.id not in getattr(other.links, BOTH_WAYS[name]):
                yield f"{name} {other_id}, which does not say so"
    if _reaches_itself(rows, memory):
        yield "supersedes itself through others"
    steps = rows.transitions.get(memory.id, ())
    if [step.revision for step in steps] != list(range(1, memory.revision + 1)):
        yield f"is at revision {memory.revision} but has {len(steps)} transitions"
    elif (steps[-1].state, steps[-1].valid_until) != (memory.state, memory.valid_until):
        yield "differs from its last transition"


def _broken_sources(rows: Rows, memory: MemoryRecord) -> Iterator[str]:
    for source in memory.sources:
        record = rows.evidence.get(source.evidence_id)
        if record is None or record.scope != memory.scope:
            yield f"cites {source.evidence_id}, which is not in its scope"
        elif not 0 <= source.start < source.end <= len(record.content):
            yield f"cites characters {source.start}..{source.end} of {record.id}, beyond its end"


def _words_left(rows: Rows, memory: MemoryRecord) -> Iterator[str]:
    if memory.content or memory.sources or memory.id in rows.vectors[Unit.MEMORY]:
        yield "is erased but has words"
    if memory.id not in rows.tombstones:
        yield "is erased but has no tombstone"


def _reaches_itself(rows: Rows, memory: MemoryRecord) -> bool:
    waiting, seen = list(memory.links.supersedes), set[str]()
    while waiting:
        key = waiting.pop()
        if key == memory.id:
            return True
        if key not in seen and key in rows.memories:
            seen.add(key)
            waiting.extend(rows.memories[key].links.supersedes)
    return False
