"""Language packs: all language knowledge as data, one file per language in ``lang/``.

A pack lists patterns by name ("cues"), what statements are about ("attributes"), and how dates are written ("times").
A further language is a further file; code never names a language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memwell.domain.memory import Kind
from memwell.domain.text import fold

_STEM_CHARS: Final = 3


@dataclass(frozen=True, slots=True)
class AttributeRule:
    """Wordings that tell what a statement is about; their first matching group, but ``thing``, is the value.

    Attributes:
        name: of the attribute, completed by what the group ``thing`` captures ("favourite tea").
        single: one value at a time; a later one replaces it.
        group: attributes of one group say one thing together, so that a sentence is not cut between them.
        exclude: pattern that shows that the wording means something else, or ``""``.
    """

    name: str
    kind: Kind
    single: bool
    group: str
    pattern: str
    exclude: str


@dataclass(frozen=True, slots=True)
class AsideRule:
    """A wording that presupposes a statement, and how that reads by itself.

    Attributes:
        reads: template of the statement, with the pattern's groups.
        lasting: what it tells is worth keeping even where it is no attribute.
        asked: it tells something only in a question or an order.
    """

    pattern: str
    reads: str
    lasting: bool = False
    asked: bool = False


@dataclass(frozen=True, slots=True)
class TimeRule:
    """One way of writing a time; ``rule`` names the calculation in ``times``.

    Attributes:
        offset: days, weeks, months or years from today, as the rule says.
        years: the year is the current one plus this, or ``None`` where the pattern gives it or nothing does.
        limit_only: too vague for an event date, good enough for the end of a period.
        days: first and last day of the month that is meant, where it is a part of one.
        doubtful: it may mean the weekday of this week too, where that lies on the same side of today.
    """

    rule: str
    pattern: str
    offset: int = 0
    years: int | None = None
    limit_only: bool = False
    days: Sequence[int] | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of persons or things that a pronoun can mean.

    Attributes:
        pronoun: pattern of the pronouns.
        person: pattern of what is of that sort, as a subject is written.
        thing: no name is of that sort unless ``person`` tells.
    """

    pronoun: str
    person: str
    thing: bool


@dataclass(frozen=True, slots=True)
class TimeWords:
    numbers: Mapping[str, int]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    units: Mapping[str, str]
    patterns: Mapping[str, str]
    rules: tuple[TimeRule, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """One language pack, frozen; patterns are compiled when first used.

    Attributes:
        spaced: words are separated by spaces, so that patterns match whole words only.
        fillers: words (in unspaced scripts: characters) that add nothing to what a statement says.
        hollow: pattern of the words with which alone a sentence tells nothing ("same here").
        typos: common misspellings, and what they are read as.
        misspelt: pattern of these.
        endings: what a word may carry at its end without meaning something else, first match counts.
        cues: pattern by cue name, see ``CUES``; a cue that the file leaves out never matches.
        subject: patterns that find whom a sentence is about.
        synonyms: roles of people that mean the same, each with the word that stands for all.
        sorts: by sort of person or thing, the pronouns that mean one of it, and how its names tell it.
        joint: what separates two statements of one sentence where no punctuation does, or ``""``.
        value_end: where a value that a pattern captured is over.
        asides: wordings that tell something in passing, in the order in which they are tried.
    """

    code: str
    script: str
    weight: int
    spaced: bool
    folding: Mapping[int, int]
    abbreviations: frozenset[str]
    stopwords: frozenset[str]
    fillers: frozenset[str]
    hollow: str
    typos: Mapping[str, str]
    misspelt: str
    endings: tuple[str, ...]
    cues: Mapping[str, str]
    subject: Mapping[str, str]
    synonyms: Mapping[str, str]
    sorts: Mapping[str, Sort]
    joint: str
    value_end: str
    attributes: tuple[AttributeRule, ...]
    asides: tuple[AsideRule, ...]
    times: TimeWords

    def fold(self, text: str) -> str:
        """``text`` with look-alike characters made one; every position stays."""
        return text.translate(self.folding)

    def mend(self, folded: str) -> str:
        """``folded`` with common misspellings made good, for matching: positions may shift."""
        if not self.typos:
            return folded
        return compiled(self.misspelt).sub(lambda match: self.typos[match.group().lower()], folded)

    def is_hollow(self, folded: str) -> bool:
        """Whether ``folded`` is made of words alone that tell nothing without what they refer to."""
        if self.has("solid", folded):
            return False
        return not any(char.isalnum() for char in compiled(self.hollow).sub("", folded))

    def search(self, cue: str, folded: str) -> re.Match[str] | None:
        """First match of a cue in folded text."""
        pattern = self.cues.get(cue)
        return compiled(pattern).search(folded) if pattern else None

    def has(self, cue: str, folded: str) -> bool:
        return self.search(cue, folded) is not None

    def found(self, cue: str, folded: str) -> frozenset[str]:
        """Everything that a cue with one group captures in folded text."""
        pattern = self.cues.get(cue)
        return frozenset(fold(match) for match in compiled(pattern).findall(folded)) if pattern else frozenset()

    def patterns(self) -> Iterator[str]:
        """Every pattern of the pack that is compiled when it is first used."""
        for rule in self.attributes:
            yield from (pattern for pattern in (rule.pattern, rule.exclude) if pattern)
        yield from self.cues.values()
        yield from self.subject.values()
        yield self.hollow
        yield self.misspelt
        yield from (pattern for sort in self.sorts.values() for pattern in (sort.pronoun, sort.person))
        yield self.value_end
        yield from (aside.pattern for aside in self.asides)
        yield from self.times.patterns.values()
        yield from (time.pattern for time in self.times.rules)

    def stem(self, word: str) -> str:
        """``word`` without its ending, where a stem of some length remains: "olives" and "olive" are one."""
        ending = next((end for end in self.endings if word.endswith(end) and len(word) - len(end) >= _STEM_CHARS), "")
        return word.removesuffix(ending)


@lru_cache(maxsize=2048)
def compiled(pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """``pattern`` compiled once, without regard to case unless ``flags`` say otherwise."""
    return re.compile(pattern, flags)
