"""What a statement is about: attribute, value and subject, as far as its wording tells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from memwell.builtin.language import AttributeRule, Language, compiled
from memwell.domain.memory import Kind
from memwell.domain.text import fold, terms

USER = "user"
# Someone whom only a pronoun names.
SOMEONE = "someone"


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute found in a statement.

    Attributes:
        single: one value at a time.
        value: as written.
        position: where the value (or else the wording) begins.
    """

    name: str
    value: str
    kind: Kind
    single: bool
    position: int


def attributes_of(folded: str, language: Language) -> tuple[Attribute, ...]:
    """All attributes that wording in ``folded`` (text folded by the pack) tells, in order of the text."""
    found = (_attribute(rule, folded) for rule in language.attributes)
    return tuple(sorted((item for item in found if item), key=lambda item: (item.position, item.name)))


def _attribute(rule: AttributeRule, folded: str) -> Attribute | None:
    match = compiled(rule.pattern).search(folded)
    if match is None or (rule.exclude and compiled(rule.exclude).search(folded)):
        return None
    group = next((index for index, value in enumerate(match.groups(), 1) if value), 0)
    return Attribute(rule.name, match.group(group).strip(), rule.kind, rule.single, match.start(group))


@lru_cache(maxsize=4096)
def value_words(value: str, stopwords: frozenset[str]) -> frozenset[str]:
    """Words (or characters) that tell values apart."""
    words = frozenset(terms(value))
    return words - stopwords or words


def same_value(one: str, other: str, stopwords: frozenset[str]) -> bool:
    """True where one value says all that the other says: "Asheville" and "Asheville, same landlord"."""
    first, second = value_words(one, stopwords), value_words(other, stopwords)
    return first <= second or second <= first


def subject_of(text: str, language: Language, speaker: str = USER, previous: str | None = None) -> str:
    """Whom a sentence is about.

    Args:
        text: the sentence, not folded for case.
        speaker: subject of first-person statements.
        previous: subject of the sentence before, for pronouns.

    Returns:
        ``speaker``, or role and name of someone else as written ("sister Aoife"), or ``SOMEONE``.
    """
    folded = language.fold(text)
    first = compiled(language.subject["first"]).search(folded)
    other = compiled(language.subject["other"]).search(folded)
    if other is not None and not (first and _before(first, other)):
        joined = compiled(language.subject["together"]).search(folded[other.end() :].lstrip())
        if joined is None:
            return " ".join(part.strip() for part in other.groups() if part)
    named = compiled(language.subject["named"]).match(folded)
    if named is not None and first is None and fold(named.group(1)) not in language.stopwords:
        return named.group(1)
    if first is None and language.has("pronoun", folded):
        return previous if previous not in (None, speaker) else SOMEONE
    return speaker


def _before(first: re.Match[str], other: re.Match[str]) -> bool:
    """The first-person word is the subject, not the "my" of "my sister"."""
    return first.start() < other.start()


def same_subject(one: str, other: str) -> bool:
    """True where two subjects may be one: equal, sharing a name or role, or one of them a mere pronoun."""
    if one == other:
        return True
    if USER in (one, other):
        return False
    if SOMEONE in (one, other):
        return True
    return bool(frozenset(terms(one)) & frozenset(terms(other)))
