"""Intake: check what a host hands over and turn it into messages worth keeping."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memwell.domain.evidence import Evidence, Permissions, Speaker, default_permissions, message_origin
from memwell.domain.plan import Request
from memwell.domain.scope import Scope, checked_id
from memwell.domain.text import checked_text
from memwell.domain.validity import parse_time
from memwell.engine.fence import without_fenced
from memwell.errors import InputError

MAX_MESSAGES = 2_000
Messages = str | Mapping[str, Any] | Sequence[Mapping[str, Any]]

# Host roles → who spoke; None: process material that never becomes evidence.
_ROLES: Mapping[str, Speaker | None] = {
    "user": Speaker.USER,
    "assistant": Speaker.ASSISTANT,
    "observed": Speaker.OBSERVED,
    "import": Speaker.IMPORT,
    "system": None,
    "developer": None,
    "tool": None,
    "function": None,
}


@dataclass(frozen=True, slots=True)
class Incoming:
    """One message to keep.

    Attributes:
        said_at: aware time, or ``None`` where the host gave none.
        preceding: the assistant message just before it in the same call.
    """

    speaker: Speaker
    content: str
    message_id: str | None = None
    name: str | None = None
    said_at: datetime | None = None
    utc_offset_minutes: int | None = None
    preceding: str | None = None
    permissions: Permissions = Permissions()


def record_of(
    evidence_id: str,
    scope: Scope,
    session_id: str,
    message: Incoming,
    number: int,
    plan_id: str,
    request: Request | None,
    now: datetime,
) -> Evidence:
    """The evidence that a message becomes. Its origin is its own id, or else its place in the request or write."""
    if message.message_id is not None:
        origin = message_origin(session_id, message.message_id)
    elif request is not None:
        origin = f"request:{request.id}:{number}"
    else:
        origin = f"write:{plan_id}:{number}"
    offset = message.utc_offset_minutes
    return Evidence(
        id=evidence_id,
        scope=scope,
        origin=origin,
        speaker=message.speaker,
        content=message.content,
        occurred_at=message.said_at or now,
        recorded_at=now,
        session_id=session_id,
        message_id=message.message_id,
        name=message.name,
        preceding=message.preceding,
        permissions=message.permissions,
        metadata={} if offset is None else {"utc_offset_minutes": offset},
    )


def read_messages(messages: Messages, at: str | datetime | None) -> list[Incoming]:
    """Check ``messages`` and leave out system and tool turns and text recalled earlier.

    Args:
        messages: a user's words, one message, or a list of OpenAI-style messages: ``role``, ``content`` (text or
            text parts), optional ``id``, ``name``, ``at`` (aware datetime or ISO time) and ``permissions``
            (``local``, ``cloud`` and ``infer``, each true or false; those not given are as is usual for the speaker).
        at: when they were said, where a message does not say so itself.

    Raises:
        InputError: something is unusable; nothing has been stored.
    """
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    elif isinstance(messages, Mapping):
        messages = [messages]
    elif not isinstance(messages, Sequence):
        raise InputError(f"messages is a {type(messages).__name__}", remedy="pass text, a message or a list of them")
    if not messages:
        raise InputError("messages is empty", remedy="pass at least one message", code="empty_text")
    if len(messages) > MAX_MESSAGES:
        raise InputError(
            f"{len(messages):,} messages in one call, more than the {MAX_MESSAGES:,} allowed",
            remedy="add them in several calls, or use `memwell import`",
            code="too_many_messages",
        )
    kept: list[Incoming] = []
    preceding: str | None = None
    for number, message in enumerate(messages):
        incoming = _read(number, message, at, preceding)
        if incoming is not None:
            kept.append(incoming)
            preceding = incoming.content if incoming.speaker is Speaker.ASSISTANT else None
    return kept


def _read(number: int, message: object, at: str | datetime | None, preceding: str | None) -> Incoming | None:
    what = f"message {number}"
    if not isinstance(message, Mapping):
        raise InputError(f"{what} is a {type(message).__name__}", remedy="pass a dict with 'role' and 'content'")
    role = message.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise InputError(f"{what} has the role {role!r}", remedy=f"use one of {', '.join(_ROLES)}", code="unknown_role")
    speaker = _ROLES[role]
    if speaker is None:
        return None
    text = _text(what, message)
    if text is None:
        return None
    checked_text(what, text)
    text = without_fenced(text)
    if not text.strip():
        return None
    moment = message.get("at", at)
    said_at = offset = None
    if moment is not None:
        said_at = parse_time(f"{what}: at", moment)
        offset = _offset_minutes(moment)
    name, message_id = message.get("name"), message.get("id")
    return Incoming(
        speaker=speaker,
        content=text,
        message_id=None if message_id is None else checked_id("message id", str(message_id)),
        name=None if name is None else checked_id("name", name),
        said_at=said_at,
        utc_offset_minutes=offset,
        preceding=preceding if speaker is Speaker.USER else None,
        permissions=_permissions(what, message, speaker),
    )


def _permissions(what: str, message: Mapping[str, Any], speaker: Speaker) -> Permissions:
    usual = default_permissions(speaker)
    given = message.get("permissions")
    if given is None:
        return usual
    if not isinstance(given, Mapping) or not all(
        name in usual.to_dict() and isinstance(value, bool) for name, value in given.items()
    ):
        raise InputError(
            f"{what} has the permissions {given!r}", remedy="give local, cloud and infer, each True or False"
        )
    return replace(usual, **given)


def _offset_minutes(moment: str | datetime) -> int | None:
    """The zone the speaker wrote the time in; relative dates are read against it."""
    value = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    offset = value.utcoffset()
    return None if offset is None else int(offset.total_seconds() // 60)


def _text(what: str, message: Mapping[str, Any]) -> str | None:
    """The message's text; ``None`` for one that only calls tools or only carries images."""
    content = message.get("content")
    if isinstance(content, str):
        return None if message.get("tool_calls") and not content.strip() else content
    if content is None and message.get("tool_calls"):
        return None
    if isinstance(content, Sequence):
        texts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
        return "\n".join(texts) if texts or not content else None
    raise InputError(
        f"{what} has content of type {type(content).__name__}", remedy="pass text or a list of parts", code="not_text"
    )


def input_hash(session_id: str, incoming: Sequence[Incoming]) -> str:
    """Digest of what a request asks, equal for equal input; times count only where the host gave them."""
    facts = [
        [m.speaker.value, m.content, m.message_id, m.name, m.said_at.isoformat() if m.said_at else None]
        for m in incoming
    ]
    return hashlib.sha256(json.dumps([session_id, facts], ensure_ascii=False).encode()).hexdigest()
