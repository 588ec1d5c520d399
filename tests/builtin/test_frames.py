"""Dreams, stories, jokes and pasted dialogue: what they tell is not the user's own, what stands beside them is."""

from __future__ import annotations

import pytest

from tests.builtin.told import Told, said, told


@pytest.mark.parametrize(
    "text",
    [
        "I had a dream last night. I lived in Oslo and kept goats.",
        "I dreamt of my aunt. She moved to Oslo. We owned a boat. Then I woke up.",
        "The hero lives in Oslo. He works as a smith.",
        "In my novel, I live in Oslo.",
        "I live in Oslo. Just kidding!",
        "I work at Statoil. That was a lie.",
        "昨晚做了个梦。我住在泰安，还养了羊。",
        "我梦到外婆了。她搬到了泰安。后来就醒了。",
        "主角住在泰安。他在铁匠铺上班。",
        "小说里我住在泰安。",
        "我住在泰安。逗你玩的！",
    ],
)
def test_what_is_only_told_forms_nothing(text: str) -> None:
    assert told(text) == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I dreamt I could fly. Anyway, I moved to Oslo.", ["Anyway, I moved to Oslo."]),
        ("I had a dream. I owned a ship.\n\nMy rent went up to 900.", ["My rent went up to 900."]),
        ("I had a dream. I owned a ship. I live in Oslo.", ["I live in Oslo."]),
        ("I had a dream. My nan flew. My sister works at Kone.", ["My sister works at Kone."]),
        ("In reality I own a bike.", ["In reality I own a bike."]),
        ("The hero lives in Oslo. I like it. I moved to Turku.", ["I moved to Turku."]),
        ("My trip was a nightmare. I lost my bag.", ["My trip was a nightmare.", "I lost my bag."]),
        ("It's my dream to run a farm. I bought land.", ["It's my dream to run a farm.", "I bought land."]),
        ("My dad is my hero.", ["My dad is my hero."]),
        ("I work at Statoil. No kidding, I love it there.", ["I work at Statoil.", "No kidding, I love it there."]),
        ("我做了个梦。我会飞。现实里我住在泰安。", ["现实里我住在泰安。"]),
        ("我做了个梦。我有一艘船。\n\n房租涨到3000了。", ["房租涨到3000了。"]),
        ("我做了个梦。我有一艘船。我现在住在泰安。", ["我现在住在泰安。"]),
        ("主角住在泰安。我自己住在青州。", ["我自己住在青州。"]),
        ("我做梦都想开农场。我买了地。", ["我做梦都想开农场。", "我买了地。"]),
        ("我爸是我的偶像。", ["我爸是我的偶像。"]),
    ],
)
def test_a_tale_ends_where_its_teller_leaves_it(text: str, kept: list[str]) -> None:
    assert said(text) == kept


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom: I moved to Oslo", [("Tom", "residence", "Oslo")]),
        ("My mum: I moved to Oslo", [("mum", "residence", "Oslo")]),
        (
            "[09:15] Ines: I work at Kone.\n[09:16] Me: I live in Oslo.\n[09:17] Ines: I moved to Turku.",
            [("Ines", "employer", "Kone"), ("user", "residence", "Oslo"), ("Ines", "residence", "Turku")],
        ),
        ("Assistant: I live in the cloud.\nMe: I live in Oslo.", [("user", "residence", "Oslo")]),
        (
            "Tom: I moved to Oslo. I like it.\nI live in Turku.",
            [("Tom", "residence", "Oslo"), ("user", "residence", "Turku")],
        ),
        ("My sister:\n- allergic to wool\n- vegan", [("sister", "allergy", "wool"), ("sister", "diet", "vegan")]),
        ("小王：我搬到泰安了", [("小王", "residence", "泰安")]),
        ("妈妈：我搬到泰安了", [("妈妈", "residence", "泰安")]),
        (
            "李娜：我在海信上班\n我：我住在泰安\n李娜：我搬到青州了",
            [("李娜", "employer", "海信"), ("user", "residence", "泰安"), ("李娜", "residence", "青州")],
        ),
        ("助手：我住在云上\n我：我住在泰安", [("user", "residence", "泰安")]),
        ("妈妈：\n- 对羊毛过敏\n- 吃素", [("妈妈", "allergy", "羊毛"), ("妈妈", "diet", "吃素")]),
    ],
)
def test_a_line_of_dialogue_belongs_to_its_speaker(text: str, expected: list[Told]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Update: I moved to Oslo.", ("user", "residence", "Oslo")),
        ("Monday: I moved to Oslo.", ("user", "residence", "Oslo")),
        ("Address: 4 Mill Lane", ("user", "residence", "4 Mill Lane")),
        ("更新：我搬到泰安了。", ("user", "residence", "泰安")),
        ("周末：我搬到泰安了。", ("user", "residence", "泰安")),
        ("地址：泰安市东街4号", ("user", "residence", "泰安市东街4号")),
    ],
)
def test_a_label_that_names_nobody_leaves_the_user_speaking(text: str, expected: Told) -> None:
    assert told(text) == [expected]
