"""A person named by role goes with what is told of the name, where memories say whose name it is."""

from __future__ import annotations

import pytest

from memwell import Memory
from memwell.builtin.persons import ties


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
        ("我姐姐是老师。", ()),
        ("我姐姐是王小明。", (("姐姐", "王小明"),)),
        ("", ()),
    ],
)
def test_what_a_statement_ties(text: str, found: tuple[tuple[str, str], ...]) -> None:
    assert ties(text) == found
