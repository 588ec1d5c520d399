"""Language packs: all language knowledge as data, one file per language in ``lang/``.

A pack lists patterns by name ("cues"), what statements are about ("attributes"), and how dates are written ("times").
A further language is a further file; code never names a language.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from memwell.domain.memory import Kind
from memwell.domain.text import fold
from memwell.errors import ConfigurationError

CUES: Final = frozenset(
    {
        "question",
        "hypothetical",
        "joke",
        "dream",
        "roleplay",
        "in_character",
        "roleplay_end",
        "material",
        "telling",
        "order",
        "standing",
        "wish",
        "forget",
        "greeting",
        "mood",
        "saying",
        "process",
        "hedge",
        "negation",
        "ended",
        "correction",
        "weak_correction",
        "past",
        "qualifier",
        "change",
        "switch",
        "additive",
        "beside",
        "limit",
        "not_limit",
        "intention",
        "done",
        "past_question",
        "several_question",
        "not_owner",
        "owner",
        "oneself",
        "preference",
        "aversion",
        "event",
        "identity",
        "relationship",
        "claim",
        "accepted",
        "said_only",
        "untrue",
        "taken_back",
        "fiction",
        "waking",
        "reality",
        "present",
        "slot",
        "solid",
        "pronoun",
        "mention",
    }
)
_PART = re.compile(r"\{([a-z_]+)\}")
_VALUE_CHARS: Final = 48
_STEM_CHARS: Final = 3
_STOPS: Final = ",;!?，。；！？、"


@dataclass(frozen=True, slots=True)
class AttributeRule:
    """Wordings that tell what a statement is about; their first matching group is the value.

    Attributes:
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


@lru_cache(maxsize=1)
def load_languages() -> tuple[Language, ...]:
    """All packs of the installation, in the order of their codes.

    Raises:
        ConfigurationError: a file names an unknown cue, part or kind, or lacks an entry.
    """
    folder = files("memwell.builtin") / "lang"
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))
    return tuple(read_language(name, (folder / name).read_text(encoding="utf-8")) for name in names)


def stopwords(languages: Iterable[Language] | None = None) -> frozenset[str]:
    """Folded words that tell nothing, of all ``languages``; by default of those that come with the package."""
    return frozenset[str]().union(*(language.stopwords for language in languages or load_languages()))


def abbreviations(languages: Iterable[Language] | None = None) -> frozenset[str]:
    """Words ending in a full stop that end no sentence, of all packs."""
    packs = load_languages() if languages is None else languages
    return frozenset(word for language in packs for word in language.abbreviations)


def joints(languages: Iterable[Language] | None = None) -> re.Pattern[str] | None:
    """What separates statements where no punctuation does, of all packs, as ``segments.clauses`` takes it."""
    packs = load_languages() if languages is None else languages
    patterns = [language.joint for language in packs if language.joint]
    return compiled("|".join(patterns)) if patterns else None


def choose_language(text: str, languages: tuple[Language, ...]) -> Language:
    """The pack whose script fills most of ``text``; the first one where no letter is known."""
    if len(languages) == 1:
        return languages[0]
    return max(languages, key=lambda pack: len(compiled(pack.script, re.NOFLAG).findall(text)) * pack.weight)


def read_language(name: str, text: str) -> Language:
    """Read one pack.

    Args:
        name: file name, for messages.
        text: its content, TOML.

    Raises:
        ConfigurationError: see ``load_languages``.
    """
    try:
        return _language(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, KeyError, ValueError, TypeError) as error:
        raise ConfigurationError(
            f"language pack {name}: {error}", remedy="compare it with lang/en.toml, which explains every entry"
        ) from error


def _language(data: dict[str, Any]) -> Language:
    parts = {**data["parts"], **_time_parts(data)}
    parts["w"] = f"([^\n{_STOPS}]{{1,{_VALUE_CHARS}}}?)"
    parts["v"] = f"([^\n{_STOPS}]{{1,{_VALUE_CHARS}}})"
    spaced = bool(data["spaced"])

    def pattern(*alternatives: str, whole_words: bool = spaced) -> str:
        joined = "|".join(_expanded(item, parts) for item in alternatives)
        return rf"(?<!\w)(?:{joined})(?:(?<!\w)|(?!\w))" if whole_words else rf"(?:{joined})"

    unknown = set(data["cues"]) - CUES
    if unknown:
        raise ValueError(f"unknown cue {sorted(unknown)[0]!r}")
    times, typos = data["times"], data.get("typos", {})
    return Language(
        code=data["code"],
        script=data["script"],
        weight=data["weight"],
        spaced=spaced,
        folding=str.maketrans(data["fold"]["from"], data["fold"]["to"]),
        abbreviations=frozenset(data["abbreviations"]),
        stopwords=frozenset(data["stopwords"]),
        fillers=frozenset(data["fillers"]),
        hollow=pattern(_any_of({*data["stopwords"], *data["fillers"], *data["hollow"]})),
        typos=typos,
        misspelt=rf"(?<![\w’])(?:{_any_of(typos)})(?![\w’])" if spaced else _any_of(typos),
        endings=tuple(data["endings"]),
        cues={cue: pattern(*alternatives) for cue, alternatives in data["cues"].items()},
        subject={key: pattern(*_several(value)) for key, value in data["subject"].items()},
        synonyms={fold(word): fold(words[0]) for words in data.get("synonyms", {}).get("roles", ()) for word in words},
        sorts={
            key: Sort(pattern(_any_of(entry["pronouns"])), pattern(entry["person"]), entry.get("thing", False))
            for key, entry in data["sorts"].items()
        },
        joint=_expanded(parts["joint"], parts),
        value_end=_expanded(parts["value_end"], parts),
        attributes=tuple(
            AttributeRule(
                name=key,
                kind=Kind(entry["kind"]),
                single=entry["single"],
                group=entry.get("group", key),
                pattern=pattern(*entry["patterns"]),
                exclude=pattern(*entry["not"]) if "not" in entry else "",
            )
            for key, entry in data["attributes"].items()
        ),
        asides=tuple(
            AsideRule(**{**rule, "pattern": pattern(rule["pattern"])})
            for rule in data.get("asides", {}).get("rules", ())
        ),
        times=TimeWords(
            numbers=data["numbers"],
            months=data["months"],
            weekdays=data["weekdays"],
            units=data["units"],
            patterns={key: _expanded(value, parts) for key, value in times.items() if key != "rules"},
            rules=tuple(TimeRule(**{**rule, "pattern": pattern(rule["pattern"])}) for rule in times["rules"]),
        ),
    )


def _any_of(words: Iterable[str]) -> str:
    """Pattern of any of ``words``, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))


def _several(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _time_parts(data: dict[str, Any]) -> dict[str, str]:
    tables = {"number": "numbers", "month": "months", "weekday": "weekdays", "unit": "units"}
    return {part: "|".join(sorted(data[table], key=len, reverse=True)) for part, table in tables.items()}


def _expanded(pattern: str, parts: Mapping[str, str]) -> str:
    def insert(match: re.Match[str]) -> str:
        if match.group(1) not in parts:
            raise ValueError(f"unknown part {{{match.group(1)}}} in {pattern!r}")
        return _expanded(parts[match.group(1)], parts)

    return _PART.sub(insert, pattern)
