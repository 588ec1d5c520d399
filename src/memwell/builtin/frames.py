"""Which sentences of a message its writer does not say as facts of their own, and who says them.

Material to be worked on, parts played, dreams and stories, what is taken back at once, and pasted dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memwell.builtin.language import Language, compiled
from memwell.domain.memory import Span
from memwell.domain.text import fold

_COLON = re.compile(r"[:：]\s*(?=\S|$)")
_NUMBER = re.compile(r"[（(]?\d{1,2}[.)、）]\s*(?=\S)")
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Voice:
    """Who says a sentence.

    Attributes:
        speaker: as the message names them; ``None`` for its writer, ``""`` for a machine.
        start: where their words begin, after the name.
    """

    speaker: str | None
    start: int


def material_start(folded: str, sentences: Iterable[Span], language: Language) -> int | None:
    """Where text to be worked on begins ("Translate this: …"), or ``None``."""
    for span in sentences:
        sentence = folded[span.start : span.end]
        colon = _COLON.search(sentence)
        if colon is None:
            continue
        before = sentence[: colon.start()]
        if language.has("material", before) or (language.has("process", before) and language.has("order", sentence)):
            return span.start + colon.end()
    return None


def unreal_sentences(folded: str, sentences: Sequence[Span], language: Language) -> dict[Span, str]:
    """Sentences that are not meant as facts though each by itself reads like one, with the reason."""
    return {
        **_told(folded, sentences, language),
        **_taken_back(folded, sentences, language),
        **dict.fromkeys(_played(folded, sentences, language), "role-play"),
    }


def _played(folded: str, sentences: Iterable[Span], language: Language) -> list[Span]:
    """Sentences that open a role-play, and those after one in which the user plays a part, up to where it ends."""
    found: list[Span] = []
    in_character = False
    for span in sentences:
        sentence = folded[span.start : span.end]
        if language.has("roleplay_end", sentence):
            in_character = False
            continue
        in_character = in_character or language.has("in_character", sentence)
        if in_character or language.has("roleplay", sentence):
            found.append(span)
    return found


def _told(folded: str, sentences: Sequence[Span], language: Language) -> dict[Span, str]:
    """Sentences of a dream or a story, up to a new paragraph, a word for what is real, or what is so at present."""
    found: dict[Span, str] = {}
    tale: str | None = None
    end = 0
    for span in sentences:
        sentence = folded[span.start : span.end]
        if _PARAGRAPH.search(folded, end, span.start):
            tale = None
        end = span.end
        opened = next((cue for cue in ("dream", "fiction") if language.has(cue, sentence)), None)
        is_real = language.has("reality", sentence) or (opened is None and _is_own(sentence, tale, language))
        tale = None if is_real else opened or tale
        if tale is not None:
            found[span] = tale
        if language.has("waking", sentence):
            tale = None
    return found


def _is_own(sentence: str, tale: str | None, language: Language) -> bool:
    """Whether a sentence behind a dream or a story is the teller's own: so at present; not of the story's people."""
    if tale == "fiction" and language.has("pronoun", sentence):
        return False
    first = compiled(language.subject["first_word"]).match(sentence) is not None
    return language.has("present", sentence) or (tale == "fiction" and first)


def _taken_back(folded: str, sentences: Sequence[Span], language: Language) -> dict[Span, str]:
    """Sentences after which the writer says that it was a joke or a lie, with those that say so."""
    found: dict[Span, str] = {}
    for before, span in pairwise(sentences):
        if language.has("taken_back", folded[span.start : span.end]):
            found[before] = found[span] = "joke"
    return found


def voices(folded: str, sentences: Sequence[Span], language: Language) -> dict[Span, Voice]:
    """Who says each sentence, where its line begins with a name ("Tom: I moved to Rome"), and where its words begin.

    A name alone on its line holds for the lines below it, up to an empty one.
    """
    lines = [(span, _label(folded, span, language)) for span in sentences]
    bodies = [folded[span.start + label.end() : span.end] for span, label in lines if label]
    is_dialogue = len(bodies) > 1 and any(_first_person(body, language) for body in bodies)
    found: dict[Span, Voice] = {}
    current, end, heading = Voice(None, 0), 0, False
    for span, label in lines:
        gap = folded[end : span.start]
        if _PARAGRAPH.search(gap) or ("\n" in gap and not heading):
            current, heading = Voice(None, 0), False
        start = span.start
        if label is not None:
            speaker, body = label.group(1).strip(), folded[span.start + label.end() : span.end]
            if is_dialogue or _is_person(speaker, body, language):
                start = span.start + label.end()
                current, heading = Voice(_speaker(speaker, language), start), not body.strip()
        number = _NUMBER.match(folded, start, span.end)
        found[span] = Voice(current.speaker, number.end() if number else start)
        end = span.end
    return found


def _label(folded: str, span: Span, language: Language) -> re.Match[str] | None:
    """What stands before the colon where a line begins with it."""
    pattern = language.subject.get("label")
    line = folded[folded.rfind("\n", 0, span.start) + 1 : span.start]
    if pattern is None or any(char.isalnum() for char in line):
        return None
    match = compiled(pattern).match(folded[span.start : span.end])
    if match is None or compiled(language.subject["not_label"]).fullmatch(match.group(1).strip()):
        return None
    return match


def _first_person(text: str, language: Language) -> bool:
    return compiled(language.subject["first_any"]).search(text) is not None


def _is_person(label: str, body: str, language: Language) -> bool:
    """Whether one line with a label is said by a person of that name, or of one, rather than tells a thing's value."""
    if any(compiled(language.subject[key]).fullmatch(label) for key in ("label_own", "label_machine", "person")):
        return True
    return fold(label) not in language.stopwords and _first_person(body, language)


def _speaker(label: str, language: Language) -> str | None:
    if compiled(language.subject["label_own"]).fullmatch(label):
        return None
    return "" if compiled(language.subject["label_machine"]).fullmatch(label) else label
