"""Provisional quotes: what a user said of late and no memory has been formed from yet."""

from __future__ import annotations

from collections.abc import Sequence

from memwell.domain.evidence import Evidence
from memwell.domain.lens import Lens, sees_evidence
from memwell.domain.text import terms
from memwell.engine.items import RawItem
from memwell.engine.vectors import windows

# How many are shown.
SHOWN = 5
# Provisional quotes are ranked by words alone; no formed memory scores as low.
_SCORE = 0.1


def _waits(record: Evidence) -> bool:
    """Whether a memory may come of it, in whose place its words are shown."""
    return record.speaker.supports_memories and record.permissions.infer


def provisional(waiting: Sequence[Evidence], lens: Lens, wanted: Sequence[str]) -> tuple[RawItem, ...]:
    """Up to ``SHOWN`` messages of unfinished jobs: those with terms of the question first, then the newest.

    Args:
        waiting: evidence of unfinished jobs, newest first.
        lens: what may be seen.
        wanted: the question's terms.
    """
    seen = [record for record in waiting if _waits(record) and sees_evidence(lens, record)]
    asked = set(wanted)
    found = []
    for age, record in enumerate(seen):
        spans = windows(record.content)
        if spans:
            shared = [len(asked & set(terms(record.content[span.start : span.end]))) for span in spans]
            best = max(range(len(spans)), key=lambda i: shared[i])
            found.append((-shared[best], age, RawItem(record, _SCORE, spans[best].start, spans[best].end)))
    return tuple(item for _, _, item in sorted(found, key=lambda entry: entry[:2])[:SHOWN])
