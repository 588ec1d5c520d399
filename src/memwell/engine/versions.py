"""From a decided candidate to a new version: validity, links and state that each action gives it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memwell.domain.decision import Action, Candidate
from memwell.domain.memory import Formation, Links, MemoryRecord, Polarity, State
from memwell.domain.scope import Scope

_TAKES_OVER = (Action.OVERRIDE, Action.NEGATE, Action.CORRECT, Action.HISTORICAL)


def new_version(
    *,
    memory_id: str,
    scope: Scope,
    candidate: Candidate,
    action: Action,
    targets: Sequence[MemoryRecord],
    confidence: float,
    reason: str,
    makers: tuple[str, str],
    now: datetime,
    chain: Sequence[MemoryRecord] = (),
) -> MemoryRecord:
    """The version that ``candidate`` becomes.

    Args:
        action: an action that forms a version.
        targets: the memories it applies to, as they are now.
        makers: name and version of the extractor and of the judge.
        now: transaction time.
        chain: for HISTORICAL, all versions of what the targets are about.
    """
    ids = tuple(target.id for target in targets)
    historical = action is Action.HISTORICAL
    begins = _begins(candidate, action, targets)
    return MemoryRecord(
        id=memory_id,
        scope=scope,
        kind=candidate.kind,
        content=candidate.content,
        memory_at=candidate.said_at,
        valid_from=begins,
        valid_until=_behind(begins, targets, chain) if historical else candidate.valid_until,
        recorded_at=now,
        retired_at=now if historical else None,
        sources=candidate.sources,
        formation=Formation(
            action=action.value,
            reason=reason,
            confidence=round(min(confidence, candidate.confidence), 4),
            extractor=makers[0],
            judge=makers[1],
            targets=ids,
        ),
        subject=candidate.subject,
        attribute=candidate.attribute,
        value=candidate.value,
        polarity=Polarity.NEGATIVE if action is Action.NEGATE else candidate.polarity,
        qualifiers={**candidate.qualifiers, **({"hedged": "true"} if candidate.hedged else {})},
        occurred_at=candidate.occurred_at,
        time_expression=candidate.time_expression,
        state=State.HISTORICAL if historical else State.CURRENT,
        formed_by=candidate.formed_by,
        session_id=candidate.session_id,
        links=_links(action, ids),
        # Whoever muted what it takes over from does not want to be told of it in new words either.
        muted_at=now if action in _TAKES_OVER and any(target.muted_at for target in targets) else None,
    )


def _begins(candidate: Candidate, action: Action, targets: Sequence[MemoryRecord]) -> datetime:
    """Start of validity: as stated, else the event's date if past, else when it was said.

    A correction holds from when the mistaken version was thought to hold.
    """
    begins = candidate.valid_from or candidate.said_at
    if candidate.valid_from is None and candidate.occurred_at is not None:
        begins = min(candidate.occurred_at, candidate.said_at)
    if action is Action.CORRECT:
        begins = min([begins, *(target.valid_from for target in targets)])
    return begins


def _behind(begins: datetime, heads: Sequence[MemoryRecord], chain: Sequence[MemoryRecord]) -> datetime:
    """End of validity of an older report behind ``heads``: when the next version began to hold, or was last said."""
    later = [version for version in (*heads, *chain) if version.state.was_true]
    ends = [moment for version in later for moment in (version.valid_from, version.last_said_at) if moment > begins]
    return min(ends, default=begins)


def _links(action: Action, ids: tuple[str, ...]) -> Links:
    match action:
        case Action.OVERRIDE | Action.NEGATE:
            return Links(supersedes=ids)
        case Action.CORRECT:
            return Links(corrects=ids)
        case Action.HISTORICAL:
            return Links(superseded_by=ids)
        case Action.CONFLICT:
            return Links(conflicts_with=ids)
        case _:
            return Links()
