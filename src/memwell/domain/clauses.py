"""Whether a text holds a clause word for word: where copies of erased words are looked for."""

from __future__ import annotations

from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.text import is_unspaced

_EDGES = " \t\n\r.,;:!?…。，；：！？、“”\"'‘’()（）「」"
MIN_CHARS = 4  # shorter clauses ("yes", "tea") stand in too many places to be a trace of one statement
MIN_UNSPACED_CHARS = 3
_FAR = 2  # characters beside a clause that tell whether its word or number goes on


def core(clause: str) -> str:
    """``clause`` without punctuation at its edges; empty where it is too short to be looked for."""
    stripped = clause.strip(_EDGES)
    least = MIN_UNSPACED_CHARS if is_unspaced(stripped) else MIN_CHARS
    return stripped if len(stripped) >= least else ""


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


def holds_copy(record: Evidence, clause: str) -> bool:
    """Whether the words of an assistant that ``record`` is, or keeps, hold ``clause`` word for word."""
    said = record.content if record.speaker is Speaker.ASSISTANT else ""
    return bool(places(said, clause) or places(record.preceding or "", clause))


def _goes_on(outside: str, edge: str) -> bool:
    """Whether the word or number that ends with ``edge`` goes on in ``outside``, read away from it."""
    if not outside or not edge.isalnum():
        return False
    if edge.isdigit() and outside[0] in ".," and outside[1:2].isdigit():
        return True
    return outside[0].isalnum() and not is_unspaced(edge) and not is_unspaced(outside[0])
