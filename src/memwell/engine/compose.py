"""Context text: what a search found, as lines for a prompt, fenced and labelled as data."""

from __future__ import annotations

from collections.abc import Sequence

from memwell.domain.memory import MemoryRecord, State
from memwell.engine.fence import CLOSE, NOTICE, OPEN, harmless
from memwell.engine.items import MemoryItem, PendingCorrection, RawItem

DEFAULT_TEXT_CHARS = 5_000
_TITLES = ("Memories", "Profile", "Procedures")
_CORRECTED = {"pending": "(a correction of this is under way)", "ambiguous": "(may be what a correction is about)"}


def context_text(
    groups: tuple[Sequence[MemoryItem], Sequence[MemoryItem], Sequence[MemoryItem]],
    *,
    pending: Sequence[PendingCorrection],
    provisional: Sequence[RawItem],
    raw: Sequence[RawItem],
    max_chars: int,
) -> str:
    """Sections of one line per item, in rank order; a line that does not fit is left out, a later one may.

    Args:
        groups: memories, profile and procedures.
        max_chars: upper bound on the result's length, fence included.

    Returns:
        Empty text where nothing was found or nothing fits.
    """
    sections = [
        *((title, [memory_line(item) for item in group]) for title, group in zip(_TITLES, groups, strict=True)),
        ("Corrections under way", [_correction_line(item) for item in pending]),
        ("Said lately, provisional", [_quote_line(item) for item in provisional]),
        ("Quotes", [_quote_line(item) for item in raw]),
    ]
    lines = [OPEN, NOTICE]
    room = max_chars - sum(len(line) + 1 for line in (*lines, CLOSE)) + 1
    written = False
    for title, rows in sections:
        heading = f"## {title}"
        for row in rows:
            cost = len(row) + 1 + (len(heading) + 1 if heading else 0)
            if cost > room:
                continue
            room -= cost
            if heading:
                lines.append(heading)
                heading = ""
            lines.append(row)
            written = True
    return "\n".join([*lines, CLOSE]) if written else ""


def memory_line(item: MemoryItem) -> str:
    """One line: date, whom it is about if not the user, the words, validity and relations."""
    memory = item.memory
    about = "" if memory.subject == "user" else f"[{harmless(memory.subject)}] "
    parts = [f"- {memory.memory_at:%Y-%m-%d}: {about}{harmless(memory.content)}"]
    if item.correction_status is not None:
        parts.append(_CORRECTED[item.correction_status])
    if memory.state is not State.CURRENT:
        parts.append(f"({memory.state})")
    if memory.valid_until is not None:
        parts.append(f"(valid: {memory.valid_from:%Y-%m-%d} → {memory.valid_until:%Y-%m-%d})")
    parts += [f"(previously, {_dated(other)})" for other in item.previous]
    parts += [f"(conflicts, both unretracted: {_dated(other)})" for other in item.conflicts]
    return " ".join(parts)


def _dated(memory: MemoryRecord) -> str:
    return f"{memory.memory_at:%Y-%m-%d}: {harmless(memory.content)}"


def _quote_line(item: RawItem) -> str:
    evidence = item.evidence
    speaker = harmless(evidence.name or evidence.speaker.value)
    return f"- {evidence.occurred_at:%Y-%m-%d} {speaker}: “{harmless(item.content)}”"


def _correction_line(item: PendingCorrection) -> str:
    before = f" (after “{harmless(item.preceding.text)}”)" if item.preceding else ""
    return f"- {item.said_at:%Y-%m-%d}: “{harmless(item.text)}”{before}"
