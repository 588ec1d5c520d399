"""What is left of records when words are erased or permissions change. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from memwell.domain.evidence import Evidence, EvidenceStatus, Permissions
from memwell.domain.memory import Formation, FormedBy, Kind, MemoryRecord, Polarity, Span, State
from memwell.domain.scope import Boundary

BLACKED_OUT = "█"
NOTHING_ALLOWED = Permissions(local=False, cloud=False, infer=False)
_GONE = "erased"


def erased_memory(memory: MemoryRecord, at: datetime) -> MemoryRecord:
    """The tombstone of ``memory``: its id, its scope, its links (ids) and when it was stored and erased."""
    return replace(
        memory,
        kind=Kind.FACT,
        content="",
        memory_at=memory.recorded_at,
        valid_from=memory.recorded_at,
        valid_until=None,
        sources=(),
        formation=Formation("", "", 0.0, "", ""),
        subject=_GONE,
        attribute=None,
        value=None,
        polarity=Polarity.POSITIVE,
        qualifiers={},
        occurred_at=None,
        time_expression=None,
        retired_at=memory.retired_at or at,
        muted_at=None,
        state=State.ERASED,
        revision=memory.revision + 1,
        formed_by=FormedBy.STATED,
        boundary=Boundary(),
        session_id=_GONE,
        extra={},
    )


def erased_evidence(record: Evidence) -> Evidence:
    """The tombstone of ``record``: its id, its scope, who spoke, and when it was stored."""
    return replace(
        record,
        origin=f"{_GONE}:{record.id}",
        content="",
        occurred_at=record.recorded_at,
        session_id=_GONE,
        message_id=None,
        name=None,
        content_type="",
        preceding=None,
        permissions=NOTHING_ALLOWED,
        status=EvidenceStatus.ERASED,
        valid_from=None,
        valid_until=None,
        metadata={},
        permitted_at=None,
    )


def blacked_out(text: str, spans: Iterable[Span]) -> str:
    """``text`` with every character of ``spans`` replaced; as long as before."""
    for span in spans:
        text = text[: span.start] + BLACKED_OUT * (span.end - span.start) + text[span.end :]
    return text


def permitted(record: Evidence, permissions: Permissions, at: datetime) -> Evidence:
    """``record`` with permissions set at ``at``: the latest setting holds, and the tighter of two at one moment."""
    before = record.permitted_at
    if before is not None and at < before:
        return record
    return replace(
        record,
        permissions=record.permissions.tightened(permissions) if at == before else permissions,
        permitted_at=at,
    )
