"""Whether a text holds a clause word for word: where copies of erased words are looked for."""

from __future__ import annotations

import re

from memwell.domain.text import is_unspaced

_EDGES = " \t\n\r.,;:!?…。，；：！？、“”\"'‘’()（）「」"
MIN_CHARS = 4  # shorter clauses ("yes", "tea") stand in too many places to be a trace of one statement
MIN_UNSPACED_CHARS = 3


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
    for match in re.finditer(re.escape(clause), text):
        before, after = text[: match.start()], text[match.end() :]
        if not _goes_on(before[::-1], clause[0]) and not _goes_on(after, clause[-1]):
            found.append((match.start(), match.end()))
    return found


def _goes_on(outside: str, edge: str) -> bool:
    """Whether the word or number that ends with ``edge`` goes on in ``outside``, read away from it."""
    if not outside or not edge.isalnum():
        return False
    if edge.isdigit() and outside[0] in ".," and outside[1:2].isdigit():
        return True
    return outside[0].isalnum() and not is_unspaced(edge) and not is_unspaced(outside[0])
