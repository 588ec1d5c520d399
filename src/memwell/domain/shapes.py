"""What single records must look like, whatever else is stored: each function gives the fault in words, or ``None``."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

from memwell.domain.memory import Kind, MemoryRecord, State, Transition
from memwell.domain.plan import IndexRecord


def fault_of_new(memory: MemoryRecord) -> str | None:
    """Of a version at the start of its life."""
    if not memory.content.strip() or memory.revision != 1 or memory.state not in (State.CURRENT, State.HISTORICAL):
        return "is empty or not at the start of its life"
    if memory.links.superseded_by and memory.state is not State.HISTORICAL:
        return "is current but superseded"
    if memory.links.superseded_by and memory.links.supersedes:
        return "both supersedes and is superseded"
    return _fault(memory)


def fault_of_restored(memory: MemoryRecord, transitions: Sequence[Transition]) -> str | None:
    """Of a version that lived in another store, with the transitions of its life."""
    if memory.state is State.ERASED:
        return "was erased"
    if [step.revision for step in transitions] != list(range(1, memory.revision + 1)):
        return f"is at revision {memory.revision} but has {len(transitions)} transitions"
    last = transitions[-1]
    if (last.state, last.valid_until, last.muted_at) != (memory.state, memory.valid_until, memory.muted_at):
        return "differs from its last transition"
    if memory.id in memory.links.supersedes or memory.id in memory.links.corrects:
        return "is linked to itself"
    return _fault(memory)


def _fault(memory: MemoryRecord) -> str | None:
    if not memory.content.strip():
        return "is empty"
    if memory.valid_until is not None and memory.valid_until < memory.valid_from:
        return "ends before it begins"
    if not 0.0 <= memory.confidence <= 1.0:
        return f"has confidence {memory.confidence}, outside 0..1"
    if not memory.sources and memory.kind is not Kind.ENTITY:
        return "cites no evidence"
    return None


def fault_of_vectors(item: IndexRecord, text: str) -> str | None:
    """Of the vectors of a record with this text."""
    for vector in item.vectors:
        if not 0 <= vector.start < vector.end <= len(text):
            return f"covers characters {vector.start}..{vector.end}"
        if not vector.data or len(vector.data) % 4 or not all(map(math.isfinite, array("f", vector.data))):
            return "is empty, torn or not finite"
        if len(vector.data) != len(item.vectors[0].data):
            return "differs in length from the others"
    return None
