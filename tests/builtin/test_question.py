"""What the question reader sees in a question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.builtin.question import BuiltinQuestionReader

ASKED_AT = datetime(2025, 6, 11, 12, 0, tzinfo=UTC)
READER = BuiltinQuestionReader()


@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("Where do I live?", True),
        ("What is my favourite soup?", True),
        ("我住哪？", True),
        ("我最喜欢什么汤？", True),
        ("Remind me, where do I park?", True),
        ("Where does Anjali live?", False),
        ("Tell me about Anjali.", False),
        ("Where does my sister live?", False),
        ("我姐姐住哪？", False),
        ("小葛能吃辣吗？", False),
        ("告诉我小葛住哪。", False),
    ],
)
def test_about_the_owner(text: str, owner: bool) -> None:
    assert READER.read(text, ASKED_AT).about_owner is owner


@pytest.mark.parametrize(
    ("text", "past"),
    [
        ("Where did I use to live? Which town was it before?", True),
        ("What car did I drive previously?", True),
        ("我以前住在哪里？", True),
        ("我曾经养过什么？", True),
        ("What was my old address?", True),
        ("Where do I live?", False),
        ("How old am I?", False),
        ("Who in my family is 60 years old?", False),
        ("我现在住在哪里？", False),
    ],
)
def test_about_the_past(text: str, past: bool) -> None:
    assert READER.read(text, ASKED_AT).about_past is past


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("Where has Ana been?", True),
        ("Which books by Verne have we read together?", True),
        ("HAS she ever sung?", True),
        ("What did Ana have for lunch?", False),
        ("Does he have a car that has four doors?", False),
        ("What hasty words fell?", False),
        ("When was the party?", False),
        ("我住哪？", False),
    ],
)
def test_asks_for_several(text: str, several: bool) -> None:
    assert READER.read(text, ASKED_AT).asks_several is several


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Where does Anjali work?", ("Anjali",)),
        ("Who is Bob?", ("Bob",)),
        ("What did Ana give to Bob?", ("Ana",)),
        ("When is Robert’s birthday?", ("Robert",)),
        ("Today's plan", ()),
        ("What's my PIN?", ()),
        ("What does Mum like?", ()),
        ("What are the User's preferences?", ()),
        ("Is Monday free?", ()),
        ("Which Python version does the server need?", ()),
        ("小葛能吃辣吗？", ("小葛",)),
        ("请问王芳喜欢什么？", ("王芳",)),
        ("Docker怎么部署？", ()),
        ("周末去哪里？", ()),
        ("老板叫什么？", ()),
    ],
)
def test_people_whom_it_asks_about(text: str, people: tuple[str, ...]) -> None:
    assert READER.read(text, ASKED_AT).people == people


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Where does Anjali work?", ("Anjali",)),
        ("Anjali's dog, what breed is it?", ("Anjali's",)),
        ("What did I tell Bob about Lisbon?", ("Bob", "Lisbon")),
        ("What should I cook?", ()),
        ("What's my PIN?", ()),
        ("小葛能吃辣吗？", ("小葛",)),
        ("我和Kevin在哪里吃的饭？", ("Kevin",)),
    ],
)
def test_names(text: str, names: tuple[str, ...]) -> None:
    assert READER.read(text, ASKED_AT).names == names


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("What did I do yesterday?", (2025, 6, 10), (2025, 6, 11)),
        ("What happened in March 2024?", (2024, 3, 1), (2024, 4, 1)),
        ("Whom did I meet on 2025-01-02?", (2025, 1, 2), (2025, 1, 3)),
        ("Where did I go last week?", (2025, 6, 2), (2025, 6, 9)),
        ("我昨天做了什么？", (2025, 6, 10), (2025, 6, 11)),
        ("2024年3月我去了哪里？", (2024, 3, 1), (2024, 4, 1)),
        ("去年我在哪里上班？", (2024, 1, 1), (2025, 1, 1)),
    ],
)
def test_periods(text: str, first: tuple[int, int, int], end: tuple[int, int, int]) -> None:
    (period,) = READER.read(text, ASKED_AT).periods
    assert period.start == datetime(*first, tzinfo=UTC)
    assert period.end == datetime(*end, tzinfo=UTC)


def test_terms_leave_stop_words_out_unless_nothing_else_remains() -> None:
    assert READER.read("Where do I keep the ladder?", ASKED_AT).terms == ("keep", "ladder")
    assert "绿茶" in READER.read("我喜欢的绿茶是什么？", ASKED_AT).terms
    assert READER.read("who am I", ASKED_AT).terms


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert READER.read(text, ASKED_AT).text == text
