"""Corrections that wait: their quote is kept as evidence until the message comes that it is from.

Whether one still waits, and what stands in its way, is read from the records, so that nothing can contradict them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memwell.domain.evidence import AWAITING, CORRECTS, Evidence, EvidenceStatus, Speaker, message_origin
from memwell.domain.memory import MemoryRecord, Span, State
from memwell.domain.scope import Scope
from memwell.engine.ports import View

# What may turn out never to have been true. What another version took over from is only retracted: its correction would
# stand as current beside that version.
CORRECTABLE = (State.CURRENT, State.ENDED, State.ARCHIVED)
# Why a correction is not done; the first only needs time, the others a person.
AWAITING_MESSAGE = "awaiting_message"
READY = "ready"


@dataclass(frozen=True, slots=True)
class Waiting:
    """A correction that is not done.

    Attributes:
        quote: the words that correct, as evidence of their own.
        memories: what they correct.
        message: the message that they are from, once it is there.
        reason: ``awaiting_message``, ``ready`` where only an interruption stands between, or what is wrong:
            ``quote_not_in_message``, ``quote_not_unique``, ``not_said_by_user``, ``not_current``.
    """

    quote: Evidence
    memories: tuple[MemoryRecord, ...]
    message: Evidence | None
    reason: str


def waiting_corrections(view: View, scope: Scope) -> list[Waiting]:
    """The corrections of ``scope`` that wait, in the order they were asked for."""
    found = view.traces(scope).originating(AWAITING)
    quotes = [record for record in found if record.status is EvidenceStatus.ACTIVE]
    if not quotes:
        return []
    messages = view.evidence_by_origin(scope, {_origin(record) for record in quotes})
    memories = view.memories({key for record in quotes for key in record.metadata[CORRECTS]})
    return [_waiting(record, messages, memories) for record in sorted(quotes, key=lambda r: (r.recorded_at, r.id))]


def place_of(quote: str, text: str) -> Span | None:
    """Where ``quote`` stands in ``text``, if it does so exactly once."""
    start = text.find(quote) if quote.strip() else -1
    if start < 0 or text.find(quote, start + 1) >= 0:
        return None
    return Span(start, start + len(quote))


def _origin(quote: Evidence) -> str:
    return message_origin(quote.session_id, quote.message_id or "")


def _waiting(quote: Evidence, messages: Mapping[str, Evidence], memories: Mapping[str, MemoryRecord]) -> Waiting:
    wrong = tuple(memories[key] for key in quote.metadata[CORRECTS] if key in memories)
    message = messages.get(_origin(quote))
    return Waiting(quote, wrong, message, _reason(quote, wrong, message))


def _reason(quote: Evidence, wrong: Sequence[MemoryRecord], message: Evidence | None) -> str:
    if not wrong or any(memory.state not in CORRECTABLE for memory in wrong):
        return "not_current"
    if message is None:
        return AWAITING_MESSAGE
    if message.speaker is not Speaker.USER or message.status is not EvidenceStatus.ACTIVE:
        return "not_said_by_user"
    if place_of(quote.content, message.content) is None:
        return "quote_not_unique" if quote.content in message.content else "quote_not_in_message"
    return READY
