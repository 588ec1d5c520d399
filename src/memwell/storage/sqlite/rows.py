"""Records to rows and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from memwell.domain.evidence import Evidence, EvidenceStatus, Permissions, Speaker
from memwell.domain.memory import (
    Formation,
    FormedBy,
    Kind,
    Links,
    MemoryRecord,
    Polarity,
    Source,
    State,
    Transition,
)
from memwell.domain.scope import Boundary, Scope
from memwell.storage.values import from_micros, mapping_from_json, to_json, to_micros

Row = tuple[Any, ...]

HIGHEST = "\U0010ffff"  # what begins with a text comes before that text with this behind it

EVIDENCE_COLUMNS = (
    "id, origin, session_id, message_id, speaker, name, content, content_type, preceding, local, cloud, infer, status,"
    " occurred_at, recorded_at, valid_from, valid_until, metadata, permitted_at"
)
MEMORY_COLUMNS = (
    "id, session_id, kind, content, subject, attribute, value, polarity, qualifiers, memory_at, occurred_at,"
    " time_expression, valid_from, valid_until, recorded_at, retired_at, muted_at, state, revision, formed_by,"
    " workspace_id, branch, boundary_scope, action, reason, confidence, extractor, judge, targets, extra"
)


def _micros(moment: Any) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> Any:
    return None if micros is None else from_micros(micros)


@lru_cache(maxsize=256)
def _scope(user: str, app: str, agent: str) -> Scope:
    """One value for all rows of a scope, since checking its names costs more than reading a row."""
    return Scope(user, app, agent)


def evidence_row(record: Evidence) -> Row:
    """Values of ``EVIDENCE_COLUMNS``."""
    return (
        record.id,
        record.origin,
        record.session_id,
        record.message_id,
        record.speaker.value,
        record.name,
        record.content,
        record.content_type,
        record.preceding,
        record.permissions.local,
        record.permissions.cloud,
        record.permissions.infer,
        record.status.value,
        to_micros(record.occurred_at),
        to_micros(record.recorded_at),
        _micros(record.valid_from),
        _micros(record.valid_until),
        to_json(record.metadata),
        _micros(record.permitted_at),
    )


def evidence_from(row: Row) -> Evidence:
    """The evidence of a row of the scope's three names followed by ``EVIDENCE_COLUMNS``."""
    app, user, agent, key, origin, session, message, speaker, name, content, content_type, preceding, *rest = row
    local, cloud, infer, status, occurred_at, recorded_at, valid_from, valid_until, metadata, permitted_at = rest
    return Evidence(
        id=key,
        scope=_scope(user, app, agent),
        origin=origin,
        speaker=Speaker(speaker),
        content=content,
        occurred_at=from_micros(occurred_at),
        recorded_at=from_micros(recorded_at),
        session_id=session,
        message_id=message,
        name=name,
        content_type=content_type,
        preceding=preceding,
        permissions=Permissions(bool(local), bool(cloud), bool(infer)),
        status=EvidenceStatus(status),
        valid_from=_moment(valid_from),
        valid_until=_moment(valid_until),
        metadata=mapping_from_json(metadata),
        permitted_at=_moment(permitted_at),
    )


def memory_row(memory: MemoryRecord) -> Row:
    """Values of ``MEMORY_COLUMNS``."""
    formation = memory.formation
    return (
        memory.id,
        memory.session_id,
        memory.kind.value,
        memory.content,
        memory.subject,
        memory.attribute,
        memory.value,
        memory.polarity.value,
        to_json(memory.qualifiers),
        to_micros(memory.memory_at),
        _micros(memory.occurred_at),
        memory.time_expression,
        to_micros(memory.valid_from),
        _micros(memory.valid_until),
        to_micros(memory.recorded_at),
        _micros(memory.retired_at),
        _micros(memory.muted_at),
        memory.state.value,
        memory.revision,
        memory.formed_by.value,
        memory.boundary.workspace_id,
        memory.boundary.branch,
        memory.boundary.boundary_scope,
        formation.action,
        formation.reason,
        formation.confidence,
        formation.extractor,
        formation.judge,
        to_json(list(formation.targets)),
        to_json(memory.extra),
    )


def memory_from(row: Row, sources: tuple[Source, ...], links: Links) -> MemoryRecord:
    """The memory of a row of the scope's three names followed by ``MEMORY_COLUMNS``."""
    app, user, agent, key, session, kind, content, subject, attribute, value, polarity, qualifiers, *rest = row
    memory_at, occurred_at, time_expression, valid_from, valid_until, recorded_at, retired_at, muted_at, *rest = rest
    state, revision, formed_by, workspace, branch, boundary_scope, action, reason, confidence, *rest = rest
    extractor, judge, targets, extra = rest
    return MemoryRecord(
        id=key,
        scope=_scope(user, app, agent),
        kind=Kind(kind),
        content=content,
        memory_at=from_micros(memory_at),
        valid_from=from_micros(valid_from),
        recorded_at=from_micros(recorded_at),
        sources=sources,
        formation=Formation(action, reason, confidence, extractor, judge, tuple(json.loads(targets or "[]"))),
        subject=subject,
        attribute=attribute,
        value=value,
        polarity=Polarity(polarity),
        qualifiers=mapping_from_json(qualifiers),
        occurred_at=_moment(occurred_at),
        time_expression=time_expression,
        valid_until=_moment(valid_until),
        retired_at=_moment(retired_at),
        muted_at=_moment(muted_at),
        state=State(state),
        revision=revision,
        formed_by=FormedBy(formed_by),
        boundary=Boundary(workspace, branch, boundary_scope),
        session_id=session,
        links=links,
        extra=mapping_from_json(extra),
    )


def transition_row(step: Transition) -> Row:
    return (
        step.revision,
        step.state.value,
        _micros(step.valid_until),
        _micros(step.muted_at),
        to_micros(step.at),
        step.cause,
        step.plan_id,
    )


def transition_from(memory_id: str, row: Row) -> Transition:
    revision, state, valid_until, muted_at, at, cause, plan_id = row
    return Transition(
        memory_id=memory_id,
        revision=revision,
        state=State(state),
        valid_until=_moment(valid_until),
        muted_at=_moment(muted_at),
        at=from_micros(at),
        cause=cause,
        plan_id=plan_id,
    )


def id_list(ids: Iterable[str]) -> str:
    """Ids as JSON, for ``IN (SELECT value FROM json_each(?))``."""
    return json.dumps(list(ids))


_EVIDENCE = f"""
SELECT app_id, user_id, agent_id, {", ".join("e." + name for name in EVIDENCE_COLUMNS.split(", "))}
FROM evidence e JOIN scopes ON scopes.no = e.scope
"""
_MEMORIES = f"""
SELECT m.no, app_id, user_id, agent_id, {", ".join("m." + name for name in MEMORY_COLUMNS.split(", "))}
FROM memories m JOIN scopes ON scopes.no = m.scope
"""
_SOURCES = """
SELECT s.memory, e.id, s.start_char, s.end_char, s.said_at
FROM json_each(?) j CROSS JOIN sources s ON s.memory = j.value JOIN evidence e ON e.no = s.evidence
ORDER BY s.memory, s.position
"""
_LINKS = """
SELECT l.memory, l.relation, m.id
FROM json_each(?) j CROSS JOIN links l ON l.memory = j.value JOIN memories m ON m.no = l.other
ORDER BY l.memory, l.relation, l.position
"""


def read_evidence(connection: sqlite3.Connection, tail: str, values: tuple[Any, ...]) -> list[Evidence]:
    """Evidence ``e`` picked and ordered by ``tail``, a WHERE clause and what follows it."""
    return [evidence_from(row) for row in connection.execute(_EVIDENCE + tail, values)]


def read_memories(connection: sqlite3.Connection, tail: str, values: tuple[Any, ...]) -> dict[int, MemoryRecord]:
    """Memories ``m`` by row number, picked and ordered by ``tail``, a WHERE clause and what follows it."""
    rows = {row[0]: row[1:] for row in connection.execute(_MEMORIES + tail, values)}
    if not rows:
        return {}
    numbers = json.dumps(list(rows))
    sources: dict[int, list[Source]] = {}
    for memory, evidence_id, start, end, said_at in connection.execute(_SOURCES, (numbers,)):
        sources.setdefault(memory, []).append(Source(evidence_id, start, end, from_micros(said_at)))
    links: dict[int, dict[str, list[str]]] = {}
    for memory, relation, other in connection.execute(_LINKS, (numbers,)):
        links.setdefault(memory, {}).setdefault(relation, []).append(other)
    return {no: memory_from(row, tuple(sources.get(no, ())), _links(links.get(no, {}))) for no, row in rows.items()}


def _links(found: Mapping[str, list[str]]) -> Links:
    return Links(**{relation: tuple(others) for relation, others in found.items()})
