"""What the decision model reads and answers: the order of its classes, shared by training and use."""

from __future__ import annotations

from collections.abc import Sequence

# Memories that one pass can weigh against each other.
SLOTS = 5
# Relations of a sentence to one memory; any other memory stands.
RELATIONS = ("OVERRIDE", "CORRECT", "NEGATE", "SKIP", "CONFLICT")
# Decisions without a target.
FREE = ("SUPPLEMENT", "TEMPORAL", "RAW_ONLY")
# Days between a memory and the sentence, upper bounds; beyond the last is one more class.
GAPS = (0, 7, 60, 400)
KINDS = ("identity", "state", "preference", "fact", "event", "relationship", "intention", "procedure", "none")
SUBJECTS = ("user", "other", "none")
ATTRIBUTES = (
    "residence", "origin", "work", "education", "health", "diet", "family", "partner", "people", "pet", "home",
    "vehicle", "device", "software", "skill", "hobby", "sport", "routine", "schedule", "money", "contact", "name",
    "age", "belief", "taste", "plan", "travel", "project", "system", "role", "possession", "place", "event", "other",
    "none",
)  # fmt: skip
# Longest input, in word pieces: of the sentence, of its message on either side, of each memory.
SENTENCE_PIECES, BESIDE_PIECES, MEMORY_PIECES = 48, 20, 32


def gap_class(days: int) -> int:
    """The class of a time between memory and sentence; 0 is kept for what is no memory."""
    return 1 + next((number for number, bound in enumerate(GAPS) if abs(days) <= bound), len(GAPS))


def beside(sentence: str, message: str) -> tuple[str, str]:
    """What the message says before and after ``sentence``; all of it is before where it does not hold the sentence."""
    before, _, after = message.partition(sentence) if sentence else (message, "", "")
    return before.strip(), after.strip()


def sequence(
    sentence: Sequence[int], before: Sequence[int], after: Sequence[int], memories: Sequence[tuple[Sequence[int], int]]
) -> tuple[list[int], list[int], list[int]]:
    """Word pieces, slots and gap classes of one pass.

    Args:
        sentence, before, after: word pieces without marks: of the sentence and of its message on either side.
        memories: word pieces and gap class of each, at most ``SLOTS``.
    """
    start, end = 0, 2
    parts = [(sentence[:SENTENCE_PIECES], 0, 0)]
    if before or after:
        parts += [(before[-BESIDE_PIECES:], 1, 0), (after[:BESIDE_PIECES], 1, 0)]
    parts += [(pieces[:MEMORY_PIECES], 2 + slot, gap) for slot, (pieces, gap) in enumerate(memories)]
    ids, slots, gaps = [start], [0], [0]
    for pieces, slot, gap in parts:
        ids += [*pieces, end]
        slots += [slot] * (len(pieces) + 1)
        gaps += [gap] * (len(pieces) + 1)
    return ids, slots, gaps
