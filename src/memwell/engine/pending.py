"""Corrections that have not taken effect: those that wait for their message, and words that wait to be formed.

Older facts that such words may touch are marked. Which one they correct is never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.lens import Lens, sees_evidence
from memwell.domain.memory import MemoryRecord, State
from memwell.domain.rights import readable
from memwell.domain.scope import Scope
from memwell.engine.items import PendingCorrection
from memwell.engine.ports import View
from memwell.engine.reading import quotes_of
from memwell.engine.seeing import seen
from memwell.engine.waiting import Waiting, waiting_corrections

PENDING = "pending"
AMBIGUOUS = "ambiguous"
FORMING = "forming"
# A correction is of what was said just before: so many turns of the conversation, and not longer ago.
_TURNS_BEFORE = 4
_TIME_BEFORE = timedelta(minutes=5)
# The newest messages without a memory that are looked at.
_LOOKED_AT = 32


def pending_corrections(
    view: View, scope: Scope, lens: Lens, waiting: Sequence[Evidence], corrects: Callable[[str], bool]
) -> tuple[PendingCorrection, ...]:
    """What corrects something and has not taken effect, as far as ``lens`` sees it, oldest first.

    Args:
        waiting: evidence of unfinished jobs, newest first.
        corrects: whether a message says that something was wrong.
    """
    asked = [
        _asked_for(one)
        for one in waiting_corrections(view, scope)
        if sees_evidence(lens, one.quote) and _matters(view, lens, one.memories)
    ]
    said = [
        _said(view, scope, lens, record)
        for record in reversed(waiting[:_LOOKED_AT])
        if record.speaker is Speaker.USER
        and record.permissions.infer
        and sees_evidence(lens, record)
        and corrects(record.content)
    ]
    return (*asked, *said)


def statuses(pending: Sequence[PendingCorrection]) -> Mapping[str, str]:
    """``correction_status`` by id of each memory that ``pending`` is about."""
    found: dict[str, str] = {}
    for item in pending:
        for key in item.memory_ids:
            found[key] = item.correction_status if found.get(key, PENDING) == PENDING else AMBIGUOUS
    return found


def _asked_for(waiting: Waiting) -> PendingCorrection:
    quote = waiting.quote
    return PendingCorrection(
        evidence_id=quote.id,
        session_id=quote.session_id,
        said_at=quote.occurred_at,
        text=quote.content,
        reason=waiting.reason,
        correction_status=PENDING,
        memory_ids=tuple(memory.id for memory in waiting.memories),
    )


def _said(view: View, scope: Scope, lens: Lens, record: Evidence) -> PendingCorrection:
    touched = _touched(view, scope, lens, record)
    certain = touched[0] if len(touched) == 1 else None
    return PendingCorrection(
        evidence_id=record.id,
        session_id=record.session_id,
        said_at=record.occurred_at,
        text=record.content,
        reason=FORMING,
        correction_status=AMBIGUOUS if len(touched) > 1 else PENDING,
        memory_ids=tuple(memory.id for memory in touched),
        preceding=None if certain is None else quotes_of(view, [certain])[certain.id][-1],
    )


def _touched(view: View, scope: Scope, lens: Lens, record: Evidence) -> list[MemoryRecord]:
    """What stands of what was said just before ``record`` in its conversation."""
    recent = view.recent(scope, record.session_id, before=record.occurred_at, limit=_LOOKED_AT)
    before = [other for other in recent if other.id < record.id][-_TURNS_BEFORE:]
    near = [other.id for other in before if record.occurred_at - other.occurred_at <= _TIME_BEFORE]
    return seen(view, lens, view.traces(scope).citing(near))


def _matters(view: View, lens: Lens, memories: Sequence[MemoryRecord]) -> bool:
    """Whether a reader may hear of what is to be corrected: it is not muted or put away, and may be read there."""
    evidence = view.evidence(source.evidence_id for memory in memories for source in memory.sources)
    return any(
        memory.muted_at is None and memory.state is not State.ARCHIVED and readable(memory, evidence, lens.target)
        for memory in memories
    )
