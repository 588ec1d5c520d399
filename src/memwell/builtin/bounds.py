"""From which probability on the decision model is believed: what wording tells beside it."""

from __future__ import annotations

from collections.abc import Mapping

from memwell.builtin.attributes import same_value, value_words
from memwell.builtin.language import Language
from memwell.builtin.persons import same_subject
from memwell.domain.decision import Action, Candidate
from memwell.domain.memory import Polarity
from memwell.domain.people import ALIAS, SOMEONE, USER
from memwell.engine.ports import Head

_CHANGES = ("change", "switch", "ended", "correction", "negation")
_NEVER = 2.0


def bound(
    action: Action,
    candidate: Candidate,
    head: Head,
    language: Language,
    thresholds: Mapping[str, float],
    *,
    corrects: bool,
) -> float:
    """The probability from which ``candidate`` retires ``head``; above 1 where it never does.

    Args:
        action: how it would.
        corrects: something in the message says that something was wrong.
    """
    if candidate.hedged or candidate.limited or _untouched(candidate, head, language):
        return _NEVER
    if action is Action.OVERRIDE and _tells_of_before(candidate, language):
        return _NEVER
    of_two = of_two_others(candidate, head, language)
    tells_another = action is not Action.NEGATE and not of_two
    if tells_another and same_slot(candidate.content, head.content, language):
        return thresholds["retire_slot"]
    if action is Action.CORRECT and not corrects:
        return _NEVER if of_two else thresholds["correct_uncued"]
    if action is Action.NEGATE and _ends_unsaid(candidate, head, language):
        return thresholds["negate_uncued"]
    if _of_many_values(candidate, head, language):
        return thresholds["retire_many"]
    return thresholds["retire_other" if of_two else "retire"]


def same_told(candidate: Candidate, head: Head, language: Language) -> bool:
    """Whether both tell one value of one attribute, or deny it: what seems to replace is then a repeat."""
    if candidate.attribute is None or candidate.attribute != head.attribute or candidate.polarity is not head.polarity:
        return False
    if candidate.value is None or head.value is None or not same_subject(candidate.subject, head.subject, language):
        return False
    return value_words(head.value, language.stopwords) == value_words(candidate.value, language.stopwords)


def of_two_others(candidate: Candidate, head: Head, language: Language) -> bool:
    """Whether they are about two people, neither of whom is the user."""
    if {USER, SOMEONE} & {candidate.subject, head.subject}:
        return False
    return not same_subject(candidate.subject, head.subject, language)


def same_slot(said: str, known: str, language: Language) -> bool:
    """Whether both say of the same thing what it is: "my locker is 12", "my locker is 31"."""
    slots = (language.found("slot", language.fold(text)) for text in (said, known))
    return not frozenset.isdisjoint(*slots)


def _untouched(candidate: Candidate, head: Head, language: Language) -> bool:
    """Whether wording shows that ``head`` stands.

    It tells names, the candidate denies another value, or what it tells comes beside.
    """
    denies = candidate.polarity is Polarity.NEGATIVE
    if head.attribute == ALIAS:
        return candidate.attribute != ALIAS and not denies
    folded = language.fold(candidate.content)
    if language.has("beside", folded) and not denies and not language.has("ended", folded):
        return True
    if not denies or candidate.value is None or head.value is None or candidate.attribute != head.attribute:
        return False
    return not same_value(head.value, candidate.value, language.stopwords)


def _ends_unsaid(candidate: Candidate, head: Head, language: Language) -> bool:
    """Whether no word says that the attribute of ``head`` ended: "my landlord was ill" tells of him, not of another."""
    if head.attribute is None or candidate.attribute == head.attribute:
        return False
    folded = language.fold(candidate.content)
    return not any(language.has(cue, folded) for cue in _CHANGES)


def _tells_of_before(candidate: Candidate, language: Language) -> bool:
    """Whether it says what was, and not what took its place: "I used to live in Leeds" tells no new home."""
    folded = language.fold(candidate.content)
    return language.has("past", folded) and not language.has("change", folded) and not language.has("switch", folded)


def _of_many_values(candidate: Candidate, head: Head, language: Language) -> bool:
    """Whether both tell an attribute that has several values, and nothing says that one of them went."""
    if candidate.attribute is None or candidate.attribute != head.attribute:
        return False
    folded = language.fold(candidate.content)
    many = any(rule.name == candidate.attribute and not rule.single for rule in language.attributes)
    return many and not any(language.has(cue, folded) for cue in _CHANGES)
