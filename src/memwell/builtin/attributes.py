"""What a statement is about: attribute, value and subject, as far as its wording tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memwell.builtin.language import AttributeRule, Language, compiled
from memwell.domain.memory import Kind
from memwell.domain.people import SOMEONE, USER
from memwell.domain.text import fold, terms


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute found in a statement.

    Attributes:
        single: one value at a time.
        value: as written.
        lead: where the words begin that say whom it is told of.
        position: where the value (or else the wording) begins.
        start: where the wording with its value begins, after the words that say whom it is told of.
        end: where it ends.
    """

    name: str
    value: str
    kind: Kind
    single: bool
    group: str
    lead: int
    position: int
    start: int
    end: int


def attributes_of(folded: str, language: Language) -> tuple[Attribute, ...]:
    """All attributes that wording in ``folded`` (text folded by the pack) tells, in order of the text."""
    found = (_attribute(rule, folded, language) for rule in language.attributes)
    return tuple(sorted((item for item in found if item), key=lambda item: (item.position, item.name)))


def _attribute(rule: AttributeRule, folded: str, language: Language) -> Attribute | None:
    match = compiled(rule.pattern).search(folded)
    if match is None or (rule.exclude and compiled(rule.exclude).search(folded)):
        return None
    group = next((index for index, value in enumerate(match.groups(), 1) if value), 0)
    value = match.group(group).strip()
    over = compiled(language.value_end).search(value, 1)
    value = value[: over.start()].strip() if over else value
    position = match.start(group)
    end = match.end() if match.end() > match.end(group) else position + len(value)
    lead = compiled(language.subject["lead"]).match(folded, match.start())
    start = min(lead.end(), position) if lead else match.start()
    return Attribute(rule.name, value, rule.kind, rule.single, rule.group, match.start(), position, start, end)


def attributes_of_subject(folded: str, language: Language, of_speaker: bool) -> tuple[Attribute, ...]:
    """The attributes in ``folded`` that its subject has; of what others claim of the speaker, none.

    Args:
        of_speaker: the statement is about the speaker.
    """
    claim = None if language.has("accepted", folded) else language.search("claim", folded)

    def has(item: Attribute) -> bool:
        claimed = claim is not None and claim.start() < item.lead
        lead = folded[item.lead : item.start]
        if compiled(language.subject["other"]).search(lead) or not compiled(language.subject["first"]).search(lead):
            return True
        return of_speaker and not claimed

    return tuple(item for item in attributes_of(folded, language) if has(item))


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
        previous: whom a pronoun at the beginning means, if anyone.

    Words that only lead up to the statement ("I misspoke: …") do not count.

    Returns:
        ``speaker``, or role and name of someone else as written ("sister Aoife"), or ``SOMEONE``.
    """
    folded = language.fold(text)
    folded = compiled(language.subject["lead_in"]).sub("", folded, count=1)
    first = compiled(language.subject["first"]).search(folded)
    other = compiled(language.subject["other"]).search(folded)
    if other is not None and not (first and _before(first, other)):
        joined = compiled(language.subject["together"]).search(folded[other.end() :].lstrip())
        if joined is None:
            return _as_written(other)
    named = compiled(language.subject["named"]).match(folded)
    if named is not None and fold(named.group(1)) not in language.stopwords:
        claim = language.search("claim", folded)
        if first is None or (claim is not None and claim.start() <= named.start(1)):
            return named.group(1)
    pronoun = language.search("pronoun", folded)
    if pronoun is not None and (first is None or pronoun.end() <= first.start()):
        return previous if previous not in (None, speaker) else SOMEONE
    return speaker


def names_told(folded: str, language: Language) -> tuple[str, tuple[str, ...]] | None:
    """Whose names a sentence tells, with the role where it tells one, and those names as written: one or two."""
    pattern = language.subject.get("alias")
    match = compiled(pattern).search(folded) if pattern else None
    if match is None or language.has("negation", folded) or language.has("hedge", folded):
        return None
    names = tuple(name for name in match.groups() if name)
    other = compiled(language.subject["other"]).search(folded)
    if other is None or (len(names) > 1 and other.group(2) != names[0]):
        return names[0], names
    return _as_written(other), names


def _as_written(other: re.Match[str]) -> str:
    """Role and name."""
    return " ".join(part.strip() for part in other.groups() if part)


def person_meant(people: Sequence[str], language: Language) -> str | None:
    """The one person among ``people`` (subjects, in order) whom a pronoun can mean; ``None`` where several could be.

    A role and the same role with a name are one person, who is called by the fuller of the two.
    """
    named = [person for person in people if person not in (USER, SOMEONE)]
    fullest = max(named, key=len, default=None)
    if fullest is None or not all(same_subject(fullest, person, language) for person in named):
        return None
    return fullest


def _before(first: re.Match[str], other: re.Match[str]) -> bool:
    """The first-person word is the subject, not the "my" of "my sister"."""
    return first.start() < other.start()


def same_subject(one: str, other: str, language: Language) -> bool:
    """True where two subjects may be one, as ``language`` tells roles from names.

    Names must be equal where both have one, and so must roles. A role alone is the same person as that role with a
    name, unless it is one that many have, such as a friend. A mere pronoun may be anyone but the user.
    """
    if USER in (one, other):
        return one == other
    if SOMEONE in (one, other):
        return True
    (role, name), (other_role, other_name) = _role_and_name(one, language), _role_and_name(other, language)
    if role and other_role and role != other_role:
        return False
    if name or other_name:
        return name == other_name or (role == other_role and not (name and other_name) and not _common(role, language))
    return role == other_role and not _common(role, language)


def has_role(subject: str, language: Language) -> bool:
    """Whether ``subject`` tells what someone is to the speaker: "sister", "friend Tom"."""
    return bool(_role_and_name(subject, language)[0])


def _role_and_name(subject: str, language: Language) -> tuple[str, str]:
    folded = language.fold(subject)
    role = compiled(language.subject["role"]).match(folded)
    end = role.end() if role else 0
    return fold(folded[:end]), fold(folded[end:].strip())


def _common(role: str, language: Language) -> bool:
    return compiled(language.subject["common"]).search(role) is not None
