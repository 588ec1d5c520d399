"""Turn an extractor's proposals into candidates whose content is derived from the chosen spans."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from memwell.domain.decision import Candidate
from memwell.domain.indexed import SPEAKER, speaker_name
from memwell.domain.memory import FormedBy, Source, Span
from memwell.domain.support import quoted
from memwell.engine.ports import Proposal, Turn
from memwell.errors import ExtractionError

# A longer reply says more than yes.
CONFIRMATION_CHARS = 40
_CLAUSE_PUNCTUATION = ",;:，；：、"


def candidates(turns: Sequence[Turn], proposals: Sequence[Proposal]) -> list[Candidate]:
    """Check ``proposals`` against ``turns`` and make candidates of them, in order.

    Raises:
        ExtractionError: a proposal names an unknown turn or number, or two of one turn overlap.
    """
    by_id = {turn.evidence.id: turn for turn in turns}
    taken: dict[str, list[Span]] = {}
    made = []
    for proposal in proposals:
        turn = by_id.get(proposal.evidence_id)
        if turn is None:
            raise _refusal(f"evidence {proposal.evidence_id} was not asked about")
        span = _span(turn, proposal)
        if any(span.overlaps(other) for other in taken.get(proposal.evidence_id, ())):
            raise _refusal(f"two proposals overlap at characters {span.start}..{span.end} of {proposal.evidence_id}")
        taken.setdefault(proposal.evidence_id, []).append(span)
        made.append(_candidate(turn, proposal, span))
    return made


def _refusal(message: str) -> ExtractionError:
    return ExtractionError(
        f"the extractor's answer does not compile: {message}",
        remedy="the evidence is kept; repeat the write with the same request_id",
        code="extraction_invalid",
    )


def _span(turn: Turn, proposal: Proposal) -> Span:
    numbered = turn.sentences if proposal.unit == "sentence" else turn.segments
    chosen = proposal.chosen
    if not chosen or any(not 0 <= i < len(numbered) for i in chosen):
        raise _refusal(f"{proposal.unit} numbers {chosen} of {proposal.evidence_id}, which has {len(numbered)}")
    if any(later != earlier + 1 for earlier, later in pairwise(chosen)):
        raise _refusal(f"{proposal.unit} numbers {chosen} of {proposal.evidence_id} are not adjacent")
    start, end = numbered[chosen[0]].start, numbered[chosen[-1]].end
    if proposal.part is not None:
        if not (start <= proposal.part.start and proposal.part.end <= end):
            raise _refusal(f"part {proposal.part} of {proposal.evidence_id} is not within {proposal.unit} {chosen}")
        start, end = proposal.part.start, proposal.part.end
    if proposal.unit == "segment":
        while end > start + 1 and (
            turn.evidence.content[end - 1] in _CLAUSE_PUNCTUATION or turn.evidence.content[end - 1].isspace()
        ):
            end -= 1
    return Span(start, end)


def _confirmed(turn: Turn, proposal: Proposal) -> str | None:
    """The words of the assistant that a reply confirms.

    Raises:
        ExtractionError: there are none at that place, or the reply is too long to be a mere yes.
    """
    if proposal.confirmed is None:
        return None
    preceding, span = turn.evidence.preceding or "", proposal.confirmed
    if span.end > len(preceding) or len(turn.evidence.content.strip()) > CONFIRMATION_CHARS:
        raise _refusal(f"{turn.evidence.id} is no short reply to what it is said to confirm")
    return preceding[span.start : span.end]


def _candidate(turn: Turn, proposal: Proposal, span: Span) -> Candidate:
    evidence = turn.evidence
    spans = [span] if proposal.lead is None else [proposal.lead, span]
    sources = tuple(Source(evidence.id, part.start, part.end, evidence.occurred_at) for part in spans)
    confirmed = _confirmed(turn, proposal)
    valid_from, valid_until = proposal.valid_from, proposal.valid_until
    if valid_until is not None and valid_until <= (valid_from or evidence.occurred_at):
        valid_from = valid_until = None  # a malformed bound is dropped, the statement kept
    return Candidate(
        sources=sources,
        content=confirmed or quoted({evidence.id: evidence.content}, sources),
        kind=proposal.kind,
        said_at=evidence.occurred_at,
        subject=proposal.subject,
        attribute=proposal.attribute,
        value=proposal.value,
        polarity=proposal.polarity,
        hedged=proposal.hedged,
        confidence=proposal.confidence,
        formed_by=proposal.formed_by if confirmed is None else FormedBy.CONFIRMED,
        occurred_at=proposal.occurred_at,
        time_expression=proposal.time_expression,
        valid_from=valid_from,
        valid_until=valid_until,
        session_id=evidence.session_id,
        qualifiers={} if (name := speaker_name(evidence)) is None else {SPEAKER: name},
    )
