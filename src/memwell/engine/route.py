"""Routing: which candidates need no judge."""

from __future__ import annotations

from memwell.domain.decision import ALLOWED, Action
from memwell.domain.memory import FormedBy
from memwell.domain.text import normal_form
from memwell.engine.ports import Comparison, Verdict


def routed(comparison: Comparison) -> Verdict | None:
    """The verdict on a candidate that needs no judge, or ``None``.

    What was observed or imported is a record of its own: two entries that look alike are two entries. Only the very
    same words again are a repeat.
    """
    candidate = comparison.candidate
    if candidate.formed_by not in (FormedBy.OBSERVED, FormedBy.IMPORTED):
        return None
    words = normal_form(candidate.content)
    for index, head in enumerate(comparison.heads):
        if normal_form(head.content) == words and Action.SKIP in ALLOWED[comparison.situations[index]]:
            return Verdict(Action.SKIP, (index,), 1.0, "repeats: same words")
    action = Action.TEMPORAL if candidate.limited else Action.SUPPLEMENT
    return Verdict(action, (), 1.0, f"{candidate.formed_by}: kept as it is")
