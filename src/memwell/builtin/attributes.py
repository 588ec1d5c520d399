"""Which attributes a statement tells, and with which values, as far as its wording tells."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from memwell.builtin.language import AttributeRule, Language, compiled
from memwell.domain.memory import Kind
from memwell.domain.text import fold, terms

# What ends a clause: the words beyond it do not change what a wording means.
_MARK = re.compile(r"[,;，；。！？]\s*|[.!?](?=\s)")


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
    if match is None:
        return None
    thing = match.re.groupindex.get("thing")
    group = next((index for index, value in enumerate(match.groups(), 1) if value and index != thing), 0)
    value = match.group(group).strip()
    over = compiled(language.value_end).search(value, 1)
    value = value[: over.start()].strip() if over else value
    if compiled(language.subject["deictic"]).fullmatch(value):
        return None
    position = match.start(group)
    end = match.end() if match.end() > match.end(group) else position + len(value)
    if rule.exclude and compiled(rule.exclude).search(_clause(folded, match.start(), end, language)):
        return None
    lead = compiled(language.subject["lead"]).match(folded, match.start())
    start = min(lead.end(), position) if lead else match.start()
    name = f"{rule.name} {fold(match.group(thing))}" if thing else rule.name
    return Attribute(name, value, rule.kind, rule.single, rule.group, match.start(), position, start, end)


def _clause(folded: str, start: int, end: int, language: Language) -> str:
    """The clauses of ``folded`` in which the words from ``start`` to ``end`` lie."""
    marks = [*_MARK.finditer(folded), *(compiled(language.joint).finditer(folded) if language.joint else ())]
    first = max((mark.end() for mark in marks if mark.end() <= start + 1), default=0)
    last = min((mark.start() for mark in marks if mark.start() >= end), default=len(folded))
    return folded[first:last]


@lru_cache(maxsize=4096)
def value_words(value: str, stopwords: frozenset[str]) -> frozenset[str]:
    """Words (or characters) that tell values apart."""
    words = frozenset(terms(value))
    return words - stopwords or words


def same_value(one: str, other: str, stopwords: frozenset[str]) -> bool:
    """True where one value says all that the other says: "Asheville" and "Asheville, same landlord"."""
    first, second = value_words(one, stopwords), value_words(other, stopwords)
    return first <= second or second <= first
