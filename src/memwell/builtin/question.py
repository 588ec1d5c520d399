"""The keyless question reader: what a question says about itself."""

from __future__ import annotations

import re
from datetime import datetime

from memwell.builtin import times
from memwell.builtin.language import Language, compiled
from memwell.builtin.packs import choose_language, load_languages, stopwords
from memwell.builtin.persons import subject_of
from memwell.domain.text import fold, query_terms, without_possessive
from memwell.engine.ports import Question

# A capitalised Latin word is a name in any language, unless it merely opens the sentence.
_CAPITALISED = re.compile(r"(?<![A-Za-z])[A-Z][A-Za-z'’-]*[a-z]|(?<![A-Za-z])[A-Z]\b")
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)[\"'“‘(]*$")


class BuiltinQuestionReader:
    """Reads questions by the language packs' cues; pure, well under a millisecond."""

    def __init__(self, languages: tuple[Language, ...] | None = None) -> None:
        self._languages = languages

    def read(self, text: str, at: datetime) -> Question:
        """See ``ports.QuestionReader``; dates count from the UTC day of ``at``."""
        languages = self._languages or load_languages()
        language = choose_language(text, languages)
        folded = language.fold(text)
        found = times.phrases(folded, language, times.local_day(at, 0))
        return Question(
            text=text,
            terms=tuple(query_terms(text, stopwords(languages))),
            about_owner=_about_owner(text, folded, language),
            about_past=language.has("past_question", folded),
            asks_several=language.has("several_question", folded),
            names=_names(text, language),
            people=_people(folded, language),
            periods=tuple(period for phrase in found for period in times.asked_periods(phrase, at.year)),
        )


def _about_owner(text: str, folded: str, language: Language) -> bool:
    """First-person words that are more than the one who is to be told, and not "my sister"."""
    pattern = language.cues.get("not_owner")
    rest = compiled(pattern).sub(" ", folded) if pattern else folded
    if not language.has("owner", rest):
        return False
    return subject_of(text, language, "", "") == ""


def _names(text: str, language: Language) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for match in _CAPITALISED.finditer(text):
        word = match.group()
        opening = _SENTENCE_START.search(text[: match.start()]) is not None
        spellings = {fold(word), fold(without_possessive(word))}
        if not language.stopwords.isdisjoint(spellings) or (opening and language.spaced and not _marked(match)):
            continue
        names[word] = None
    named = compiled(language.subject["name"]) if "name" in language.subject else None
    for match in named.finditer(text) if named else ():
        names[match.group()] = None
    return tuple(names)


def _people(folded: str, language: Language) -> tuple[str, ...]:
    pattern = language.subject.get("asked")
    matches = compiled(pattern).finditer(folded) if pattern else ()
    found = (part for match in matches for part in match.groups() if part)
    return tuple(dict.fromkeys(name for name in found if fold(name) not in language.stopwords))


def _marked(match: re.Match[str]) -> bool:
    """An opening word is a name where it carries a possessive: "Anjali's phone"."""
    return without_possessive(match.group()) != match.group()
