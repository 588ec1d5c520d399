"""How values lie in a store: times as integers, mappings as JSON, texts as index terms. The same for every store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memwell.domain.clauses import plain
from memwell.domain.evidence import Evidence, EvidenceStatus, Speaker
from memwell.domain.indexed import SPEAKER, evidence_prefix, memory_prefix
from memwell.domain.memory import MemoryRecord, Span
from memwell.domain.text import terms, verbatim_terms
from memwell.errors import PlanRejectedError

REQUEST_LIFE = timedelta(days=7)
LOCK_LIFE = timedelta(seconds=30)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970-01-01 UTC; exact."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The UTC time that ``to_micros`` gave."""
    return _EPOCH + timedelta(microseconds=micros)


def to_json(value: Mapping[str, Any] | list[str] | None) -> str | None:
    """JSON text, ASCII only; ``None`` for what is empty.

    Raises:
        PlanRejectedError: a part of ``value`` has no JSON form.
    """
    if not value:
        return None
    try:
        return json.dumps(value, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise PlanRejectedError(
            f"{str(value)[:80]} has no JSON form: {error}",
            remedy="use text, numbers, booleans, lists and mappings with text keys only",
        ) from None


def mapping_from_json(text: str | None) -> dict[str, Any]:
    """The mapping that ``to_json`` wrote."""
    loaded: dict[str, Any] = json.loads(text) if text else {}
    return loaded


def spans_to_json(spans: Sequence[Span] | None) -> str | None:
    """Spans as JSON pairs; ``None`` for all of a text."""
    return None if spans is None else json.dumps([[span.start, span.end] for span in spans])


def spans_from_json(text: str | None) -> tuple[Span, ...] | None:
    """The spans that ``spans_to_json`` wrote."""
    return None if text is None else tuple(Span(start, end) for start, end in json.loads(text))


def memory_terms(memory: MemoryRecord) -> list[str]:
    """Index terms of a memory: its content, who said it, and whom it is about if that is not the user."""
    about = "" if memory.subject in ("user", memory.qualifiers.get(SPEAKER)) else f"{memory.subject} "
    return terms(memory_prefix(memory.qualifiers) + about + memory.content)


def evidence_terms(evidence: Evidence) -> list[str]:
    """Index terms of evidence: its content and the name of who said it."""
    return terms(evidence_prefix(evidence) + evidence.content)


def is_context(evidence: Evidence) -> bool:
    """Whether it is words of an assistant, or keeps some, in which copies are looked for."""
    alive = evidence.status is not EvidenceStatus.ERASED
    return alive and (evidence.speaker is Speaker.ASSISTANT or evidence.preceding is not None)


def context_terms(evidence: Evidence) -> list[str]:
    """Index terms of the words of assistants that it is or keeps, as said and as ``plain`` has them, sorted."""
    said = evidence.content if evidence.speaker is Speaker.ASSISTANT else ""
    kept = evidence.preceding or ""
    found = verbatim_terms(plain(said)) | verbatim_terms(plain(kept))
    return sorted(found.union(terms(said), terms(kept)))
