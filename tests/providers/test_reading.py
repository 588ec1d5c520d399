"""Reading a chat model's answer, however it is wrapped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.providers.reading import UnusableError, read_json

VALUE = {"items": [{"turn": "t1", "parts": ["s1"], "note": "a, b ] } ```"}], "名": "上海"}
TEXT = json.dumps(VALUE, ensure_ascii=False)


@pytest.mark.parametrize(
    "answer",
    [
        TEXT,
        f"```json\n{json.dumps({'items': []})}\n```".replace('{"items": []}', '{"items": [], }'),
        f"<think>It may be {{wrong}} or [1] </think>\n{TEXT}",
        f"Here is [the answer] you want:\n{TEXT}\nAnything else?",
        TEXT.replace("]", " , \n]", 1),
        f"<THINK>first</THINK><think>second</think>{TEXT}",
    ],
)
def test_the_answer_is_found(answer: str) -> None:
    assert read_json(answer) in (VALUE, {"items": []})


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("", "empty_response"),
        ("  \n", "empty_response"),
        ("<think>so it must be {}", "empty_response"),
        ("I cannot do that.", "json_parse_failed"),
        ('{"items": [{"turn": "t1", "parts": ["s1"]}, {"turn"', "json_parse_failed"),
        ('```json\n{"items": [{"turn": "t1"}, \n', "json_parse_failed"),
        ("{'items': []}", "json_parse_failed"),
    ],
)
def test_what_is_no_whole_answer_is_refused(answer: str, code: str) -> None:
    with pytest.raises(UnusableError) as refused:
        read_json(answer)
    assert refused.value.code == code


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), json_values))
def test_json_by_itself_is_read_as_it_is(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    if "<think" not in text.lower() and "<reasoning" not in text.lower() and "```" not in text:
        assert read_json(text) == value


@given(st.data())
def test_no_cut_answer_is_taken_for_a_whole_one(data: st.DataObject) -> None:
    end = data.draw(st.integers(0, len(TEXT) - 1))
    with pytest.raises(UnusableError):
        read_json(TEXT[:end])
