"""Rules about text: what may be stored, what is a term, what counts as a repeat."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.domain.text import checked_text, fold, is_unspaced, normal_form, query_terms, terms
from memwell.errors import InputError

TEXT = st.text(max_size=60)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_text"),
        (" \n\t ", "empty_text"),
        (5, "not_text"),
        (None, "not_text"),
        ("a\x00b", "control_character"),
        ("a\x1bb", "control_character"),
        ("\ud83d", "lone_surrogate"),
        ("茶" * 400_000, "text_too_long"),
    ],
)
def test_what_cannot_be_stored_is_refused(text: object, code: str) -> None:
    with pytest.raises(InputError) as caught:
        checked_text("message", text)
    assert caught.value.code == code
    assert "message" in caught.value.message


@pytest.mark.parametrize("text", ["a", " a ", "a\r\n\tb", "👩‍👩‍👧", "茶" * 300_000])
def test_text_stays_as_it_is(text: str) -> None:
    assert checked_text("message", text) is text


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ｃafé", "cafe"),
        ("Ünïcödé", "unicode"),
        ("Ёлка", "елка"),
        ("Straße", "strasse"),
        ("が", "が"),  # the mark tells it from か
        ("हिन्दी", "हिन्दी"),
        ("①", "1"),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(TEXT)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Lyon.", ["i", "live", "in", "lyon"]),
        ("snake_case 3.5", ["snake", "case", "3", "5"]),
        ("喝绿茶", ["喝", "绿", "茶", "喝绿", "绿茶"]),
        ("用Go写代码", ["用", "go", "写", "代", "码", "写代", "代码"]),
        ("!?。", []),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("茶", ["茶"]),
        ("绿茶", ["绿茶"]),
        ("喝绿茶 喝绿茶", ["喝绿", "绿茶"]),
        ("The the tea", ["tea"]),
        ("the", ["the"]),
    ],
)
def test_query_terms(text: str, expected: list[str]) -> None:
    assert query_terms(text, frozenset({"the"})) == expected


@given(TEXT, TEXT)
def test_whatever_a_text_is_asked_by_is_among_its_terms(text: str, more: str) -> None:
    assert set(query_terms(text)) <= set(terms(text))
    # Between spaces, more text around it takes no term away.
    assert set(terms(text)) <= set(terms(f"{more} {text} {more}"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Lyon.", "  i LIVE in   lyon !"),
        ("我喜欢茶。", "我 喜欢 茶"),
        ("ＡＢＣ，１", "abc,1"),
        ("It's tea", "It’s tea"),
    ],
)
def test_trivially_different_repeats_are_equal(one: str, other: str) -> None:
    assert normal_form(one) == normal_form(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C++", "C"), ("C#", "C"), ("-5", "5"), ("1.5", "15"), ("5%", "5"), ("room 12", "room 13"), ("tea", "teas")],
)
def test_what_changes_the_meaning_stays_different(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


@given(TEXT)
def test_a_normal_form_ignores_case_and_spacing(text: str) -> None:
    assert normal_form(f"  {text}\n") == normal_form(text)
    assert normal_form(unicodedata.normalize("NFD", text)) == normal_form(text)


@pytest.mark.parametrize(
    ("text", "unspaced"),
    [
        ("我住在Lyon", False),
        ("我住在上海", True),
        ("I like 茶", False),
        ("カメラ", True),
        ("서울", True),
        ("123", False),
        ("", False),
    ],
)
def test_scripts_are_told_apart(text: str, unspaced: bool) -> None:
    assert is_unspaced(text) is unspaced


def test_control_characters_other_than_tab_and_line_ends_are_refused() -> None:
    controls = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cc"]
    for char in controls:
        if char in "\t\n\r":
            assert checked_text("content", f"a{char}b") == f"a{char}b"
        else:
            with pytest.raises(InputError, match=f"U\\+{ord(char):04X} at character 1"):
                checked_text("content", f"a{char}b")


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_text_is_folded_as_any_other(text: str) -> None:
    assert fold(text) == fold(text + "茶").removesuffix("茶")
