"""Records from the dictionaries that their ``to_dict`` gives: how bundles carry them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
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
    Span,
    State,
    Transition,
)
from memwell.domain.scope import Boundary, Scope
from memwell.domain.tombstone import Tombstone
from memwell.domain.unit import Unit
from memwell.domain.validity import utc

Written = Mapping[str, Any]


def _time(text: str) -> datetime:
    return utc("time", datetime.fromisoformat(text))


def _optional_time(text: str | None) -> datetime | None:
    return None if text is None else _time(text)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{repr(value)[:40]} is no text")
    return value


def _optional_text(value: object) -> str | None:
    return None if value is None else _text(value)


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{repr(value)[:40]} is no whole number")
    return value


def evidence_from_dict(row: Written, scope: Scope) -> Evidence:
    """The evidence that ``Evidence.to_dict`` wrote, in ``scope``.

    Raises:
        KeyError, TypeError, ValueError: a part is missing or unusable.
    """
    return Evidence(
        id=_text(row["id"]),
        scope=scope,
        origin=_text(row["origin"]),
        speaker=Speaker(row["speaker"]),
        content=_text(row["content"]),
        occurred_at=_time(row["occurred_at"]),
        recorded_at=_time(row["recorded_at"]),
        session_id=_text(row["session_id"]),
        message_id=_optional_text(row["message_id"]),
        name=_optional_text(row["name"]),
        content_type=_text(row["content_type"]),
        preceding=_optional_text(row["preceding"]),
        permissions=Permissions(**row["permissions"]),
        status=EvidenceStatus(row["status"]),
        valid_from=_optional_time(row["valid_from"]),
        valid_until=_optional_time(row["valid_until"]),
        metadata=dict(row["metadata"]),
        permitted_at=_optional_time(row["permitted_at"]),
    )


def memory_from_dict(row: Written, scope: Scope) -> MemoryRecord:
    """The memory that ``MemoryRecord.to_dict`` wrote, in ``scope``. Raises as ``evidence_from_dict``."""
    formation = dict(row["formation"])
    return MemoryRecord(
        id=_text(row["id"]),
        scope=scope,
        kind=Kind(row["kind"]),
        content=_text(row["content"]),
        memory_at=_time(row["memory_at"]),
        valid_from=_time(row["valid_from"]),
        recorded_at=_time(row["recorded_at"]),
        sources=tuple(
            Source(_text(part["evidence_id"]), _whole(part["start"]), _whole(part["end"]), _time(part["said_at"]))
            for part in row["sources"]
        ),
        formation=Formation(**{**formation, "targets": tuple(formation["targets"])}),
        subject=_text(row["subject"]),
        attribute=_optional_text(row["attribute"]),
        value=_optional_text(row["value"]),
        polarity=Polarity(row["polarity"]),
        qualifiers=dict(row["qualifiers"]),
        occurred_at=_optional_time(row["occurred_at"]),
        time_expression=_optional_text(row["time_expression"]),
        valid_until=_optional_time(row["valid_until"]),
        retired_at=_optional_time(row["retired_at"]),
        muted_at=_optional_time(row["muted_at"]),
        state=State(row["state"]),
        revision=_whole(row["revision"]),
        formed_by=FormedBy(row["formed_by"]),
        boundary=Boundary(**row["boundary"]),
        session_id=_text(row["session_id"]),
        links=Links(**{name: tuple(ids) for name, ids in row["links"].items()}),
        extra=dict(row["extra"]),
    )


def transition_to_dict(step: Transition) -> dict[str, Any]:
    return {
        "revision": step.revision,
        "state": step.state.value,
        "valid_until": step.valid_until and step.valid_until.isoformat(),
        "muted_at": step.muted_at and step.muted_at.isoformat(),
        "at": step.at.isoformat(),
        "cause": step.cause,
        "plan_id": step.plan_id,
    }


def transition_from_dict(row: Written, memory_id: str) -> Transition:
    """The transition that ``transition_to_dict`` wrote. Raises as ``evidence_from_dict``."""
    return Transition(
        memory_id=memory_id,
        revision=row["revision"],
        state=State(row["state"]),
        valid_until=_optional_time(row["valid_until"]),
        muted_at=_optional_time(row["muted_at"]),
        at=_time(row["at"]),
        cause=row["cause"],
        plan_id=row["plan_id"],
    )


def tombstone_to_dict(stone: Tombstone) -> dict[str, Any]:
    return {
        "id": stone.record_id,
        "unit": stone.unit.value,
        "at": stone.at.isoformat(),
        "spans": None if stone.spans is None else [[span.start, span.end] for span in stone.spans],
        "origin_hash": stone.origin_hash and stone.origin_hash.hex(),
        "replay_hash": stone.replay_hash and stone.replay_hash.hex(),
        "hash_key": stone.hash_key and stone.hash_key.hex(),
    }


def tombstone_from_dict(row: Written) -> Tombstone:
    """The tombstone that ``tombstone_to_dict`` wrote. Raises as ``evidence_from_dict``."""

    def raw(text: str | None) -> bytes | None:
        return None if text is None else bytes.fromhex(text)

    spans = row["spans"]
    return Tombstone(
        record_id=row["id"],
        unit=Unit(row["unit"]),
        at=_time(row["at"]),
        spans=None if spans is None else tuple(Span(start, end) for start, end in spans),
        origin_hash=raw(row["origin_hash"]),
        replay_hash=raw(row["replay_hash"]),
        hash_key=raw(row["hash_key"]),
    )
