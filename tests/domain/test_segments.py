"""Sentences and clauses are cut by position and lose nothing."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.domain.memory import Span
from memwell.domain.segments import clauses, sentences
from memwell.errors import InputError


def _sentences(text: str, *abbreviations: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text, frozenset(abbreviations))]


def _clauses(text: str) -> list[str]:
    return [text[span.start : span.end] for span in clauses(text, Span(0, len(text)))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Lyon. I like tea!", ["I live in Lyon.", "I like tea!"]),
        ("我住在上海。我喜欢茶！你呢？", ["我住在上海。", "我喜欢茶！", "你呢？"]),
        ("It costs 3.50 now. Fine", ["It costs 3.50 now.", "Fine"]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("one\ntwo\n\nthree", ["one", "two", "three"]),
        ("Mr. Li is here. Bye", ["Mr. Li is here.", "Bye"]),
        ("...!!!", []),
        ("", []),
        ("他说：“好。”然后走了。", ["他说：“好。”", "然后走了。"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert _sentences(text, "mr.") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Lyon, and I like tea", ["I live in Lyon,", "and I like tea"]),
        ("我住在上海，喜欢茶、咖啡", ["我住在上海，", "喜欢茶、", "咖啡"]),
        ("1,875 steps at 7:30", ["1,875 steps at 7:30"]),
        ("a well-known fact - really", ["a well-known fact -", "really"]),
        (",,,", []),
    ],
)
def test_clauses(text: str, expected: list[str]) -> None:
    assert _clauses(text) == expected


@given(st.text(alphabet='ab1 .,!?。，\n"”-:;', max_size=80))
def test_nothing_but_marks_and_spaces_is_lost(text: str) -> None:
    spans = sentences(text)
    assert all(one.end <= other.start for one, other in itertools.pairwise(spans))
    kept = "".join(text[span.start : span.end] for span in spans)
    assert [char for char in kept if char.isalnum()] == [char for char in text if char.isalnum()]
    for span in spans:
        inner = clauses(text, span)
        assert all(span.start <= part.start and part.end <= span.end for part in inner)
        assert all(one.end <= other.start for one, other in itertools.pairwise(inner))
        words = "".join(text[part.start : part.end] for part in inner)
        assert [char for char in words if char.isalnum()] == [
            char for char in text[span.start : span.end] if char.isalnum()
        ]


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2)])
def test_a_span_has_content(start: int, end: int) -> None:
    with pytest.raises(InputError):
        Span(start, end)
