"""Whether a text holds a clause in the same words: where copies of erased words are looked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.text import UNSPACED, fold, is_unspaced

# Quotation marks, apostrophes, marks of emphasis, and what is not seen.
_SILENT = re.compile("['\"`´*_~‘’‚‛“”„‟«»‹›ʼ＇＂｀＊＿～\u00ad\u200b-\u200f\u2060\ufe0e\ufe0f\ufeff]")
_CITED = re.compile(r"^[ \t]*>[> \t]*", re.MULTILINE)
# Spaces and punctuation, but for the signs of a number.
_GAP = re.compile(r"(?:(?!(?<=\d)[.,:](?=\d)|(?<!\w)-(?=\d))[\s!(),\-./:;?\[\\\]{}|¡¿·‐-―…、。〈-】〔-〗・])+")
_NO_GAP = re.compile(rf"(?<=[{UNSPACED}]) | (?=[{UNSPACED}])")
MIN_CHARS = 4  # shorter clauses ("yes", "tea") stand in too many places to be a trace of one statement
MIN_UNSPACED_CHARS = 3
_FAR = 2  # characters beside a clause that tell whether its word or number goes on


def plain(text: str) -> str:
    """The words of ``text`` alone: copies of them are often typeset, punctuated and spaced in other ways.

    Case, width, accents, quotation marks, apostrophes, emphasis and spacing do not count; punctuation only parts words,
    and nothing in scripts without spaces. Symbols and the signs of numbers stay.
    """
    words = _GAP.sub(" ", fold(_SILENT.sub("", _CITED.sub(" ", text))))
    return _NO_GAP.sub("", words).strip()


def core(clause: str) -> str:
    """``clause`` as ``plain`` has it; empty where it is too short to be looked for."""
    words = plain(clause)
    least = MIN_UNSPACED_CHARS if is_unspaced(words) else MIN_CHARS
    return words if len(words) >= least else ""


def places(text: str, clause: str) -> list[tuple[int, int]]:
    """Where ``clause`` stands in ``text`` as whole words and whole numbers: "York" is not in "Yorkshire", nor 5 in 1.5.

    Scripts without spaces have no borders of words, so there any place counts.
    """
    if not clause:
        return []
    found = []
    start = text.find(clause)
    while start >= 0:
        end = start + len(clause)
        before, after = text[max(0, start - _FAR) : start][::-1], text[end : end + _FAR]
        if not _goes_on(before, clause[0]) and not _goes_on(after, clause[-1]):
            found.append((start, end))
        start = text.find(clause, start + 1)
    return found


def holds_copy(record: Evidence, clauses: Sequence[str]) -> bool:
    """Whether the words of an assistant that ``record`` is, or keeps, hold one of ``clauses``, made by ``plain``."""
    said = record.content if record.speaker is Speaker.ASSISTANT else ""
    texts = [plain(text) for text in (said, record.preceding) if text]
    return any(places(text, clause) for text in texts for clause in clauses)


def _goes_on(outside: str, edge: str) -> bool:
    """Whether the word or number that ends with ``edge`` goes on in ``outside``, read away from it."""
    if not outside or not edge.isalnum():
        return False
    if edge.isdigit() and outside[0] in ".," and outside[1:2].isdigit():
        return True
    return outside[0].isalnum() and not is_unspaced(edge) and not is_unspaced(outside[0])
