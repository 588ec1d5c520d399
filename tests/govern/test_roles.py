"""A person named by role goes with what is told of the name, where memories say whose name it is."""

from __future__ import annotations

import pytest

from memwell import Memory
from memwell.builtin.naming import ties


def told(mem: Memory, *texts: str) -> None:
    for text in texts:
        mem.add(text)


def goes(mem: Memory, person: str) -> set[str]:
    return {item.words for item in mem.preview_forget(person=person).items if item.what == "memory"}


@pytest.mark.parametrize(
    ("role", "tie", "name", "other"),
    [
        ("sister", "Ann is my sister.", "Ann plays chess.", "Eve is my best friend."),
        ("sister", "My sister's name is Ann.", "Ann plays chess.", "Tom is my brother."),
        ("Sister", "My sister Ann likes tea.", "Ann plays chess.", "Tom is my brother."),
        ("sister", "We call my sister Annie.", "Annie plays chess.", "Tom is my brother."),
        ("姐姐", "小红是我姐姐。", "小红住在上海。", "小明是我弟弟。"),
        ("姐姐", "我姐姐叫小红。", "小红住在上海。", "小明是我弟弟。"),
    ],
)
def test_a_role_finds_what_its_name_finds(mem: Memory, role: str, tie: str, name: str, other: str) -> None:
    told(mem, tie, name, other)
    assert goes(mem, role) == {tie, name}
    mem.forget(mem.preview_forget(person=role).token)
    assert [memory.content for memory in mem.list()] == [other]


@pytest.mark.parametrize(
    ("person", "gone", "left"),
    [
        (
            "sister",
            ("My sister is Ann Smith.", "Ann Smith plays chess.", "Ann has a dog."),
            ("Ann-Kathrin lives in York.",),
        ),
        ("sister", ("I visited my sister Ann Smith in York.", "Ann Smith plays chess."), ("Ben Smith plays golf.",)),
        ("sister", ("My little sister Ann likes tea.", "Ann plays chess."), ("Eve plays golf.",)),
        ("little sister", ("My little sister Ann likes tea.", "Ann plays chess."), ("My big sister Eve plays golf.",)),
        ("sister", ("My sister is ann.", "Ann plays chess."), ("Eve plays golf.",)),
        ("my sister", ("My sister Ann doesn't like tea.", "Ann plays chess."), ("Eve plays golf.",)),
        ("我姐姐", ("我姐姐叫小红。", "小红住在上海。"), ("小明住在北京。",)),
        ("我的姐姐", ("我姐姐小红喜欢喝茶。", "小红住在上海。"), ("小明住在北京。",)),
        ("boss", ("My boss is Dr. Anna Weiss.", "Anna Weiss likes tea."), ("Eve plays golf.",)),
    ],
)
def test_a_role_is_understood_as_people_say_it(
    mem: Memory, person: str, gone: tuple[str, ...], left: tuple[str, ...]
) -> None:
    told(mem, *gone, *left)
    assert goes(mem, person) == {*gone}


@pytest.mark.parametrize(
    ("person", "gone", "left"),
    [
        ("sister", ("My sister Ann likes tea.", "Ann plays golf."), ("Tom's sister is Eve.", "Eve plays chess.")),
        ("sister", ("My sister Ann lives in Rome.",), ("My sister-in-law Eve lives in York.", "Eve plays chess.")),
        ("girlfriend", ("My girlfriend Ann lives in Rome.", "Ann sings."), ("My ex-girlfriend Eve lives in York.",)),
        ("ex-girlfriend", ("My ex-girlfriend Eve lives in York.",), ("My girlfriend Ann lives in Rome.",)),
        ("姐姐", ("我姐姐住在北京。",), ("小明的姐姐住在上海。", "他姐姐喜欢喝茶。", "我朋友的姐姐喜欢画画。")),
    ],
)
def test_the_people_of_others_stay(mem: Memory, person: str, gone: tuple[str, ...], left: tuple[str, ...]) -> None:
    told(mem, *gone, *left)
    assert goes(mem, person) == {*gone}


@pytest.mark.parametrize(
    ("person", "gone", "left"),
    [
        (
            "Mark",
            ("Mark is my brother.", "Mark sings in a choir.", "I met Mark in York."),
            ("I always mark my books.", "I once paid 5 mark for a beer.", "Mark my words: I live in Rome."),
        ),
        ("will", ("Will is my boss.", "My uncle Will lives in Lyon."), ("I will move to Rome.", "I wrote a will.")),
        (
            "May",
            ("May is my aunt.", "I met May in York."),
            ("My garden is lovely in May.", "I moved to Lyon on May 5."),
        ),
    ],
)
def test_a_word_that_is_a_name_as_well_is_followed_as_a_name(
    mem: Memory, person: str, gone: tuple[str, ...], left: tuple[str, ...]
) -> None:
    told(mem, *gone, *left)
    mem.add([{"role": "assistant", "content": "You will mark it in May."}])
    preview = mem.preview_forget(person=person)
    assert {item.words for item in preview.items if item.what == "memory"} == {*gone}
    assert not [item for item in preview.items if item.what == "reply"]


def test_a_name_that_was_corrected_ties_nobody(mem: Memory) -> None:
    (wrong,) = mem.add("My sister is Ann.").memory_ids
    told(mem, "Ann plays chess.", "Anna plays golf.")
    mem.correct(wrong, "My sister is Anna.")
    assert goes(mem, "sister") == {"My sister is Ann.", "My sister is Anna.", "Anna plays golf."}


def test_other_names_of_the_person_go_too(mem: Memory) -> None:
    told(mem, "My sister Ann, Annie for short, likes tea.", "Annie plays chess.", "I live in Lyon.")
    assert goes(mem, "sister") == {"My sister Ann, Annie for short, likes tea.", "Annie plays chess."}


def test_of_two_of_one_role_only_the_role_itself_is_looked_for(mem: Memory) -> None:
    told(mem, "Ann is my sister.", "Eve is my sister.", "Ann plays chess.", "Eve plays chess.")
    assert goes(mem, "sister") == {"Ann is my sister.", "Eve is my sister."}


def test_a_namesake_keeps_the_name_out(mem: Memory) -> None:
    told(mem, "Ann is my sister.", "My colleague Ann plays chess.", "My sister likes tea.")
    assert goes(mem, "sister") == {"Ann is my sister.", "My sister likes tea."}


def test_what_no_longer_holds_ties_nobody(mem: Memory) -> None:
    told(mem, "Ann is not my sister.", "Ann plays chess.")
    assert goes(mem, "sister") == {"Ann is not my sister."}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ann is my older sister.", (("older sister", "Ann"),)),
        ("My boss is Bob.", (("boss", "Bob"),)),
        ("My sister is tired.", ()),
        ("Maybe Ann is my sister.", ()),
        ("Ann isn’t my sister.", ()),
        ("I met Ann at my sister's.", ()),
        ("My sister Ann isn't here.", (("sister", "Ann"),)),
        ("I told my sister Monday is fine.", ()),
        ("Tom's sister is Eve.", ()),
        ("My friend Tom’s sister is Eve.", (("friend", "Tom"),)),
        ("My sister is Ann Smith.", (("sister", "Ann Smith"),)),
        ("我姐姐小红住在上海。", (("姐姐", "小红"),)),
        ("我姐姐是老师。", ()),
        ("我姐姐是王小明。", (("姐姐", "王小明"),)),
        ("", ()),
    ],
)
def test_what_a_statement_ties(text: str, found: tuple[tuple[str, str], ...]) -> None:
    assert ties(text) == found
