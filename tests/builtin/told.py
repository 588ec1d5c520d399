"""What the extractor makes of messages, in short."""

from __future__ import annotations

from memwell.builtin.extractor import BuiltinExtractor
from tests.builtin.test_extractor import make_turn, words

Told = tuple[str, str | None, str | None]


def told(text: str, *before: str) -> list[Told]:
    """Subject, attribute and value of each statement of ``text``, which follows the messages ``before``."""
    turns = [make_turn(each, number=number) for number, each in enumerate([*before, text])]
    context = [turn.evidence for turn in turns[:-1]]
    found = BuiltinExtractor().extract(turns[-1:], context).proposals
    return [(item.subject, item.attribute, item.value) for item in found]


def said(text: str) -> list[str]:
    """The words of each statement of ``text``."""
    turn = make_turn(text)
    return [words(turn, item) for item in BuiltinExtractor().extract([turn], []).proposals]
