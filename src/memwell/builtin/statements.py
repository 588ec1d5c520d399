"""What kind of utterance a sentence is: a durable statement, or something from which no memory forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from memwell.builtin.language import Language, compiled
from memwell.domain.memory import Kind, Span

# Share of a sentence's letters that must lie within quotation marks for it to be a quotation.
_QUOTED_SHARE = 0.6
_QUOTES = re.compile(
    r"“[^”]+”|「[^」]+」|『[^』]+』|\"[^\"\n]+\"|《[^》]+》|(?<!\w)['‘][^'’\n]{8,}['’](?!\w)", re.DOTALL
)
# Cues of statements that say something lasting of someone.
_STATING = ("preference", "identity", "relationship", "event", "change", "ended", "correction", "intention", "limit")

# Cues that decide before all others what a sentence is.
_FIRST = MappingProxyType({"forget": "request to forget", "greeting": "greeting", "wish": None})


def quoted_spans(text: str) -> tuple[Span, ...]:
    """Parts of ``text`` in quotation marks."""
    return tuple(Span(match.start(), match.end()) for match in _QUOTES.finditer(text))


def mostly_within(text: str, span: Span, parts: Iterable[Span]) -> bool:
    """True where most letters of ``text`` in ``span`` lie in ``parts``."""
    letters = [i for i in range(span.start, span.end) if text[i].isalnum()]
    inside = sum(any(part.start <= i < part.end for part in parts) for i in letters)
    return bool(letters) and inside >= _QUOTED_SHARE * len(letters)


def says_something(text: str) -> bool:
    """True where ``text`` has a letter or a digit."""
    return any(char.isalnum() for char in text)


def reason_to_pass(folded: str, language: Language) -> str | None:
    """Why nothing forms from a sentence, or ``None`` for a statement.

    Args:
        folded: the sentence, folded by the pack.
    """
    if not says_something(folded):
        return "no words"
    for cue, reason in _FIRST.items():
        if language.has(cue, folded):
            return reason
    unreal = next((cue for cue in ("joke", "dream", "hypothetical") if language.has(cue, folded)), None)
    if unreal is not None:
        return unreal
    if language.has("saying", folded):
        return "quotation"
    if language.has("telling", folded):
        return None
    if folded.rstrip(' "”’」)）').endswith(("?", "？")):
        return "question"
    if language.has("question", folded) and not language.has("mention", folded):
        return "question"
    if language.has("order", folded) and not language.has("standing", folded):
        return "order"
    if language.is_hollow(folded):
        return "tells nothing"
    if language.has("mood", folded) and not language.has("ended", folded):
        return "mood"
    return None


def is_plain_statement(folded: str, language: Language, about_someone: bool) -> bool:
    """True where a clause of a question or order states something lasting by itself.

    Args:
        folded: the clause, folded by the pack.
        about_someone: it names the speaker or another person, or an attribute.
    """
    if reason_to_pass(folded, language) is not None:
        return False
    return about_someone or (not language.spaced and any(language.has(cue, folded) for cue in _STATING))


def is_wish(folded: str, language: Language) -> bool:
    """Whether a statement tells how the assistant is to answer from now on: that lasts, however little it tells."""
    return language.has("wish", folded) or (language.has("standing", folded) and language.has("order", folded))


def kind_of(
    folded: str, language: Language, attribute_kind: Kind | None, likely: Mapping[str, float] = MappingProxyType({})
) -> Kind:
    """Kind of memory that a statement becomes.

    Args:
        likely: probability of each kind; where it is empty, cues of wording tell.
    """
    if language.has("wish", folded):
        return Kind.PREFERENCE
    if language.has("intention", folded) and not language.has("ended", folded):
        return Kind.INTENTION
    if attribute_kind is not None:
        return attribute_kind
    if is_wish(folded, language):
        return Kind.PREFERENCE
    # Procedures are learned from what was done; a statement of how one does a thing is a fact about its speaker.
    named = {name: share for name, share in likely.items() if name != Kind.PROCEDURE}
    if named:
        return Kind(max(named, key=lambda name: named[name]))
    for cue, kind in (
        ("preference", Kind.PREFERENCE),
        ("relationship", Kind.RELATIONSHIP),
        ("identity", Kind.IDENTITY),
        ("event", Kind.EVENT),
    ):
        if language.has(cue, folded):
            return kind
    return Kind.FACT


def speaks_of_self(folded: str, language: Language) -> bool:
    return compiled(language.subject["first_any"]).search(folded) is not None
