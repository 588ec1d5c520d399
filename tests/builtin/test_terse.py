"""Answers without content form nothing; notes, lists, dictation and misspellings form what they say."""

from __future__ import annotations

import pytest

from tests.builtin.told import Told, said, told


@pytest.mark.parametrize(
    "text",
    [
        "Nothing of the sort.", "Same as always.", "Same here!", "It depends, I guess.", "Not that I know of.",
        "Whatever works.", "Just the usual.", "None of those.", "I don't think so.", "That's about right.", "No idea.",
        "没什么特别的。", "老样子。", "跟往常一样。", "我也差不多。", "看情况吧。", "都可以。", "没有了。",
        "随便。", "不好说。", "就那样吧。",
    ],
)  # fmt: skip
def test_words_that_tell_nothing_form_nothing(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Same job as before.", "Nothing with gluten.", "As usual I work nights.", "I'm in the US.", "I work in IT.",
        "No meat.", "None of my kids eat fish.", "I'm 34.", "Still single.", "I'm from Oz.", "She is my twin.",
        "没什么忌口，就是不吃羊肉。", "跟以前一样在家办公。", "我做IT的。", "不吃肉。", "我34岁。", "还是单身。",
        "我属虎。",
    ],
)  # fmt: skip
def test_few_words_that_tell_something_form_it(text: str) -> None:
    assert said(text) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Rent: £780 a month", [("user", "rent", "£780")]),
        ("New phone = Pixel 9", [("user", "phone", "Pixel 9")]),
        ("Tea: lemon, no sugar.", [("user", None, None)]),
        ("Age: 41. Job: welder.", [("user", "age", "41"), ("user", "job", "welder")]),
        ("Allergies: wool", [("user", "allergy", "wool")]),
        ("- allergic to wool\n- vegan\n- based in Turku", [
            ("user", "allergy", "wool"), ("user", "diet", "vegan"), ("user", "residence", "Turku"),
        ]),
        ("1. I live in Turku\n2. I work at Kone", [("user", "residence", "Turku"), ("user", "employer", "Kone")]),
        ("房租：2700。", [("user", "rent", "2700")]),
        ("手机换了小米", [("user", "phone", "小米")]),
        ("茶：加柠檬，不加糖", [("user", None, None)]),
        ("年龄：41\n职业：焊工", [("user", "age", "41"), ("user", "job", "焊工")]),
        ("过敏：羊毛", [("user", "allergy", "羊毛")]),
        ("- 对羊毛过敏\n- 吃素", [("user", "allergy", "羊毛"), ("user", "diet", "吃素")]),
        ("1、住在泰安\n2、在海信上班", [("user", "residence", "泰安"), ("user", "employer", "海信")]),
    ],
)  # fmt: skip
def test_notes_and_lists(text: str, expected: list[Told]) -> None:
    assert told(text) == expected


def test_a_bullet_is_no_part_of_what_is_remembered() -> None:
    assert said("- allergic to wool\n* size 9 shoes") == ["allergic to wool", "size 9 shoes"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hi im ana i live in oslo i work at kone my brother lives in turku", [
            ("user", "residence", "oslo"), ("user", "employer", "kone"), ("brother", "residence", "turku"),
        ]),
        ("i moved to oslo my sister works at kone", [("user", "residence", "oslo"), ("sister", "employer", "kone")]),
        ("我搬到泰安了 在海信上班 我弟弟住在青州", [
            ("user", "residence", "泰安"), ("user", "employer", "海信"), ("弟弟", "residence", "青州"),
        ]),
        ("我叫安安我住在泰安我在海信上班", [
            ("user", "name", "安安"), ("user", "residence", "泰安"), ("user", "employer", "海信"),
        ]),
        # One statement, though words that open another stand in it.
        ("I hope my sister works at Kone", [("sister", "employer", "Kone")]),
        ("the flat where i live in oslo", [("user", "residence", "oslo")]),
        ("我觉得我喜欢泰安", [("user", "like", "泰安")]),
    ],
)  # fmt: skip
def test_dictated_words_are_cut_into_their_statements(text: str, expected: list[Told]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i liv in Turku", ("user", "residence", "Turku")),
        ("I wrk at Kone", ("user", "employer", "Kone")),
        ("im alergic to wool", ("user", "allergy", "wool")),
        ("my bday is 3 May", ("user", "birthday", "3 May")),
        ("im 34", ("user", "age", "34")),
        ("我现在主在泰安", ("user", "residence", "泰安")),
        # Right as it stands.
        ("I liven up at Kone", ("user", None, None)),
        ("车主在泰安", ("user", None, None)),
    ],
)
def test_common_misspellings_are_understood_and_kept_as_written(text: str, expected: Told) -> None:
    assert told(text) == [expected]
    assert said(text) == [text]
