"""Routing: which candidates need no judge."""

from __future__ import annotations

from memwell.domain.decision import ALLOWED, Action, Candidate
from memwell.domain.memory import FormedBy
from memwell.domain.people import SOMEONE
from memwell.domain.text import normal_form
from memwell.engine.ports import Comparison, Verdict


def routed(comparison: Comparison, threshold: float | None = None) -> Verdict | None:
    """The verdict on a candidate that needs no judge, or ``None``.

    Args:
        threshold: similarity below which statements are unrelated: where no head reaches it, no paid judge is asked.

    What was observed or imported is a record of its own: two entries that look alike are two entries. Only the very
    same words again are a repeat.
    """
    candidate = comparison.candidate
    if candidate.formed_by not in (FormedBy.OBSERVED, FormedBy.IMPORTED):
        if threshold is None or any(head.similarity >= threshold for head in comparison.heads):
            return None
        return Verdict(_independent(candidate), (), 1.0, "resembles nothing that is known")
    return repeated(comparison) or Verdict(_independent(candidate), (), 1.0, f"{candidate.formed_by}: kept as it is")


def repeated(comparison: Comparison) -> Verdict | None:
    """The verdict on a candidate that says the very same of the same person again, or ``None``."""
    candidate = comparison.candidate
    words = normal_form(candidate.content)
    for index, head in enumerate(comparison.heads):
        same = head.subject == candidate.subject or SOMEONE in (head.subject, candidate.subject)
        if same and normal_form(head.content) == words and Action.SKIP in ALLOWED[comparison.situations[index]]:
            return Verdict(Action.SKIP, (index,), 1.0, "repeats: same words")
    return None


def _independent(candidate: Candidate) -> Action:
    return Action.TEMPORAL if candidate.limited else Action.SUPPLEMENT
