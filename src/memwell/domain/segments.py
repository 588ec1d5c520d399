"""Cut a message into sentences and clauses, by position: the engine numbers them, extractors choose among them."""

from __future__ import annotations

import re

from memwell.domain.memory import Span

_SENTENCE_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|[。！？!?；…]+[”’」』）)\"']*|\n+")
# What marks an item of a list at the beginning of its line: a bullet, or a number, which ends no sentence.
_BULLET = re.compile(r"[-–*•·‣▪◦]+\s+")
_ITEM_NUMBER = re.compile(r"(?:^|\n)\s*(?:[-–*•·‣▪◦]+\s+)?\d{1,2}\.$")
_ITEM_CHARS = 16
_CLAUSE_END = re.compile(r"[,;:，；：、]\s*|\s[-–—]{1,2}\s|[—]{1,2}")


def _trim(text: str, start: int, end: int) -> Span | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if not any(char.isalnum() for char in text[start:end]):
        return None
    return Span(start, end)


def _cut(text: str, cuts: list[tuple[int, int]]) -> tuple[Span, ...]:
    """Parts of ``text`` between ``cuts``: where one part ends and where the next begins."""
    spans = []
    start = 0
    for end, following in [*cuts, (len(text), len(text))]:
        span = _trim(text, start, end)
        if span is not None:
            spans.append(span)
        start = following
    return tuple(spans)


def sentences(text: str, abbreviations: frozenset[str] = frozenset()) -> tuple[Span, ...]:
    """Sentences of ``text`` in order, end punctuation included, bullets of lists left out, none empty.

    Args:
        text: any text, English or Chinese.
        abbreviations: lower-case words ending in a full stop that end no sentence, such as ``"mr."``.
    """
    ends = []
    longest = max(map(len, abbreviations), default=0)
    for match in _SENTENCE_END.finditer(text):
        before = text[max(0, match.end() - longest - 1) : match.end()].lower().split()
        if match.group().startswith(".") and before and before[-1] in abbreviations:
            continue
        if match.group() == "." and _ITEM_NUMBER.search(text, max(0, match.end() - _ITEM_CHARS), match.end()):
            continue
        ends.append((match.end(), match.end()))
    return tuple(_without_bullet(text, span) for span in _cut(text, ends))


def _without_bullet(text: str, span: Span) -> Span:
    line_begins = not text[text.rfind("\n", 0, span.start) + 1 : span.start].strip()
    bullet = _BULLET.match(text, span.start, span.end) if line_begins else None
    return Span(bullet.end(), span.end) if bullet else span


def clauses(text: str, within: Span, joint: re.Pattern[str] | None = None) -> tuple[Span, ...]:
    """Clauses of the sentence ``within`` of ``text``: cut after commas, colons, semicolons and dashes.

    A comma or colon between digits ("1,875", "7:30") cuts nothing.

    Args:
        joint: what else separates statements, such as " and " before a verb; its matches belong to no clause.
    """
    part = text[within.start : within.end]
    cuts = [
        (match.end(), match.end())
        for match in _CLAUSE_END.finditer(part)
        if not (match.start() and part[match.start() - 1].isdigit() and part[match.end() : match.end() + 1].isdigit())
    ]
    if joint is not None:
        cuts = sorted([*cuts, *((match.start(), match.end()) for match in joint.finditer(part))])
    return tuple(Span(span.start + within.start, span.end + within.start) for span in _cut(part, cuts))
