"""How statements name people, as far as their wording tells: ``engine.people.Naming``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from memwell.builtin.language import Language, compiled
from memwell.builtin.packs import load_languages
from memwell.domain.clauses import places
from memwell.domain.memory import Span
from memwell.domain.text import fold

_HYPHENS = "-‐‑"
_LOWER_WORD = re.compile(r"(?<![\w’'-])[a-z][\w-]+")


def _nobody(name: str) -> bool:
    return False


def ties(text: str, known: Callable[[str], bool] = _nobody) -> tuple[tuple[str, str], ...]:
    """Roles and names of whoever ``text`` says is that to the speaker ("Ann is my sister"), as written.

    Args:
        known: whether a word that is written as any other word is somebody's name.
    """
    found: dict[tuple[str, str], None] = {}
    for language in load_languages():
        folded = language.fold(_with_capitals(text, language, known) if language.spaced else text)
        found.update(dict.fromkeys(_told(folded, language)))
    return tuple(found)


def _told(folded: str, language: Language) -> Iterator[tuple[str, str]]:
    match = compiled(language.subject["tie"]).search(folded)
    if match is not None and not language.has("negation", folded) and not language.has("hedge", folded):
        one, other = (part for part in match.groups() if part)
        yield (one, other) if compiled(language.subject["role"]).fullmatch(one) else (other, one)
    # "My sister Ann" is told whatever is said of her.
    yield from ((match[1], match[2]) for match in compiled(language.subject["tied"]).finditer(folded))


def _with_capitals(text: str, language: Language, known: Callable[[str], bool]) -> str:
    def written(match: re.Match[str]) -> str:
        word = match.group()
        return word.capitalize() if word not in language.stopwords and known(word) else word

    return _LOWER_WORD.sub(written, text)


def bare(person: str) -> str:
    """``person`` without the words that make a role the speaker's: "my sister" is asked for as "sister"."""
    for language in load_languages():
        mine = compiled(language.subject["mine"]).match(language.fold(person))
        if mine is not None and mine.end() < len(person):
            return person[mine.end() :].strip()
    return person


def is_role(role: str, wanted: str) -> bool:
    """Whether ``role`` is the role ``wanted``: a little sister is a sister, an ex-girlfriend is no girlfriend."""
    folded, other = fold(role), fold(wanted)
    before = folded.removesuffix(other)
    if not folded.endswith(other):
        return False
    return not before or any(compiled(pack.subject["same_role"]).fullmatch(before) for pack in load_languages())


def names(text: str, person: str) -> bool:
    """Whether ``text`` names ``person``, a name or a role of the speaker's people, and nothing that is spelt alike.

    A name that is a word as well ("Will") is one where it is written as names are; a part of another word
    ("Ann-Kathrin") is none, and neither is the role of someone else's people ("Tom's sister").
    """
    written = list(_written(text, person))
    if not written:  # in other characters, such as full width
        return bool(places(fold(text), fold(person)))
    return any(not _means_other(text, span) for span in written)


def _written(text: str, person: str) -> Iterator[Span]:
    for spelling in {match.group() for match in re.finditer(re.escape(person), text, re.IGNORECASE)}:
        yield from (Span(start, end) for start, end in places(text, spelling))


def _means_other(text: str, span: Span) -> bool:
    before, after = text[: span.start][-2:][::-1], text[span.end : span.end + 2]
    if any(side and side[0] in _HYPHENS and side[1:].isalnum() for side in (before, after)):
        return True
    return any(_means_other_in(language, language.fold(text), span) for language in load_languages())


def _means_other_in(language: Language, folded: str, span: Span) -> bool:
    word, rules = folded[span.start : span.end], language.subject
    if compiled(rules["role"]).fullmatch(word):
        return _is_within(compiled(rules["of_others"]), folded, span)
    as_word = "wordlike" in rules and compiled(rules["wordlike"]).fullmatch(word) is not None
    return (as_word and word[0].islower()) or _is_within(compiled(rules["no_person"]), folded, span)


def _is_within(pattern: re.Pattern[str], folded: str, span: Span) -> bool:
    """Whether the group of a match covers ``span``."""
    groups = (match.span(match.lastindex or 0) for match in pattern.finditer(folded))
    return any(start <= span.start and span.end <= end for start, end in groups)
