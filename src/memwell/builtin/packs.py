"""Language packs read from their files: every file in ``lang/`` is a language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from memwell.builtin.language import AsideRule, AttributeRule, Language, Sort, TimeRule, TimeWords, compiled
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
_STOPS: Final = ",;!?，。；！？、"


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
