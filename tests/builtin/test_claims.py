"""What is said without being vouched for gives nobody a fact; what is, still does."""

from __future__ import annotations

import pytest

from memwell.builtin.extractor import BuiltinExtractor
from memwell.domain.memory import Polarity
from tests.builtin.test_extractor import make_turn
from tests.builtin.told import said, told


@pytest.mark.parametrize(
    "text",
    [
        # Told to others, or pretended.
        "I told the dentist I live in Gouda.",
        "We've always told the neighbours that we moved to Gouda.",
        "I lied to the clerk that I live in Gouda.",
        "I pretended I work at Ahold.",
        "I let them think I work at Ahold.",
        "On the form I wrote on the application that I live in Gouda.",
        "我跟牙医说我住在泰安。",
        "我骗房东说我住在泰安。",
        "我谎称我在大商上班。",
        "我对外宣称说我29岁。",
        # Said by others about the user.
        "I'm told I moved to the Gouda office.",
        "People say I live in Gouda.",
        "Tomas swears I live in Gouda.",
        "According to the form, I live in Gouda.",
        "听说我住在泰安。",
        "据说我搬到泰安了。",
        "他们都说我住在泰安。",
        "The doctor said I'm allergic to wool.",
        "医生说我对羊毛过敏。",
        # Said to be untrue.
        "It's a lie that I live in Gouda.",
        "It is not true that I work at Ahold.",
        "That I live in Gouda is false.",
        "It's just a rumour that I moved to Gouda.",
        "我住在泰安是假的。",
        "说我在大商上班纯属谣言。",
        "我住在泰安，这不是真的。",
    ],
)
def test_what_nobody_vouches_for_keeps_its_words_without_an_attribute(text: str) -> None:
    assert [(attribute, value) for _, attribute, value in told(text)] == [(None, None)]
    assert said(text) == [text]


@pytest.mark.parametrize("text", ["It's false that I live in Gouda.", "我住在泰安是假的。"])
def test_what_is_said_to_be_untrue_is_denied(text: str) -> None:
    (proposal,) = BuiltinExtractor().extract([make_turn(text)], []).proposals
    assert proposal.polarity is Polarity.NEGATIVE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I told you I live in Gouda.", "Gouda"),
        ("As I told you, I live in Gouda.", "Gouda"),
        ("It's true that I live in Gouda.", "Gouda"),
        ("It's not a lie that I live in Gouda.", "Gouda"),
        ("I don't lie: I live in Gouda.", "Gouda"),
        ("Honestly, I live in Gouda.", "Gouda"),
        ("I have to say I live in Gouda.", "Gouda"),
        ("My boss told me to rest. I live in Gouda.", "Gouda"),
        ("我跟你说过我住在泰安。", "泰安"),
        ("说真的，我住在泰安。", "泰安"),
        ("我没骗人，我住在泰安。", "泰安"),
        ("老板让我休息。我住在泰安。", "泰安"),
    ],
)
def test_what_the_user_says_themself_is_a_fact(text: str, value: str) -> None:
    assert ("user", "residence", value) in told(text)


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("Tom told me that Ann lives in Gouda.", "Ann", "Gouda"),
        ("My mum said my cousin Beth moved to Gouda.", "cousin Beth", "Gouda"),
        ("He says my aunt lives in Gouda.", "aunt", "Gouda"),
        ("I think my uncle lives in Gouda.", "uncle", "Gouda"),
        ("I'm sure she lives in Gouda.", "someone", "Gouda"),
        ("My nan says she lives in Gouda.", "nan", "Gouda"),
        ("小刘告诉我小陈住在泰安。", "小陈", "泰安"),
        ("我妈说我表姐住在泰安。", "表姐", "泰安"),
        ("听说小陈搬到泰安了。", "小陈", "泰安"),
        ("我觉得我舅舅住在泰安。", "舅舅", "泰安"),
        ("我室友说他住在泰安。", "室友", "泰安"),
    ],
)
def test_a_report_is_about_whom_it_tells_of(text: str, subject: str, value: str) -> None:
    assert told(text) == [(subject, "residence", value)]
