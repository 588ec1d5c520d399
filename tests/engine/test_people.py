"""Names of one person, through the public interface."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memwell import Memory

START = datetime(2024, 1, 1, 12, tzinfo=UTC)


def tell(memory: Memory, *said: str) -> None:
    for day, words in enumerate(said):
        memory.add(words, at=START + timedelta(days=day))


def current(memory: Memory) -> dict[str, str]:
    return {record.content: record.subject for record in memory.list(limit=100).memories}


@pytest.fixture
def real(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "store.db", user_id="ana")


@pytest.mark.parametrize(
    ("told", "before", "after"),
    [
        ("My friend Robert, Bob for short, plays cello.", "Robert lives in York.", "Bob moved to Leeds."),
        ("Everyone calls Robert Bob.", "Bob lives in York.", "Robert moved to Leeds."),
        ("大家都管王小明叫小明。", "王小明住在杭州。", "小明住在苏州。"),
    ],
)
def test_what_one_name_is_told_of_supersedes_what_the_other_was(
    real: Memory, told: str, before: str, after: str
) -> None:
    with real as memory:
        tell(memory, told, before, after)
        assert before not in current(memory)
        assert after in current(memory)


def test_people_are_listed_with_where_their_names_were_told(real: Memory) -> None:
    with real as memory:
        assert memory.people() == ()
        told = memory.add("My friend Robert, Bob for short, plays cello.").memory_ids[0]
        (person,) = memory.people()
        assert person.to_dict() == {
            "name": "friend Robert",
            "aliases": [{"name": "Robert", "memory_id": told}, {"name": "Bob", "memory_id": told}],
        }
        memory.delete(told)
        assert memory.people() == ()


def test_people_of_one_name_stay_apart(real: Memory) -> None:
    with real as memory:
        tell(
            memory,
            "My friend Robert, Bob for short, plays cello.",
            "My colleague Robert, Rob to his friends, plays chess.",
            "Bob lives in York.",
            "Rob lives in Leeds.",
        )
        assert {"Bob lives in York.", "Rob lives in Leeds."} <= current(memory).keys()


def test_one_name_finds_what_was_told_of_the_other(real: Memory) -> None:
    with real as memory:
        tell(memory, "We call Margaret Maggie.", "Margaret keeps bees.", *(f"I read book {n}." for n in range(30)))
        first = [item.content for item in memory.search("What does Maggie keep?").memories[:2]]
        assert "Margaret keeps bees." in first


def test_what_begins_with_a_known_name_is_not_the_users(real: Memory) -> None:
    with real as memory:
        tell(memory, "大家都管王小明叫明明。", "明明搬到苏州了。")
        assert current(memory)["明明搬到苏州了。"] == "明明"


def test_names_are_unlearnt_with_the_memory_that_told_them(real: Memory) -> None:
    with real as memory:
        tell(memory, "Everyone calls Robert Bob.", "Robert lives in York.")
        (told,) = [record for record in memory.list().memories if record.attribute == "alias"]
        memory.forget(memory.preview_forget([told.id]).token)
        memory.add("Bob moved to Leeds.", at=START + timedelta(days=9))
        assert {"Robert lives in York.", "Bob moved to Leeds."} <= current(memory).keys()


def test_a_person_is_forgotten_under_all_names(real: Memory) -> None:
    with real as memory:
        tell(memory, "Everyone calls Robert Bob.", "Robert keeps bees.", "Bob is 60.")
        tell(memory, "Bobsleigh is fun.", "I met Bo in Rome.")
        memory.forget(memory.preview_forget(person="Bob").token)
        assert set(current(memory)) == {"Bobsleigh is fun.", "I met Bo in Rome."}
        assert not any(
            name in item.content for item in memory.search("Robert", raw_limit=9).raw for name in ("Bob.", "bees")
        )


def test_a_namesake_is_not_forgotten_along(real: Memory) -> None:
    with real as memory:
        tell(memory, "My friend Robert goes by Bob.", "My cousin Robert lives in Oslo.", "Bob keeps bees.")
        memory.forget(memory.preview_forget(person="Bob").token)
        assert set(current(memory)) == {"My cousin Robert lives in Oslo."}


@pytest.mark.parametrize(
    "words",
    [
        "I called Tom Smith.",
        "I called Air France.",
        "My boss calls Robert Mondays.",
        "My wife goes by Uber.",
        "Robert goes by Berlin on his way to Prague.",
        "Do not call Tom Tommy.",
        "Nobody calls Robert Bob.",
        "Tom thinks Robert goes by Bob.",
        "李明又叫了外卖。",
        "李明也叫王芳来。",
        "我叫小李来吃饭。",
    ],
)
def test_not_every_call_tells_a_name(real: Memory, words: str) -> None:
    with real as memory:
        tell(memory, words)
        assert memory.people() == ()


@pytest.mark.parametrize(
    ("words", "person", "names"),
    [
        ("王芳的小名叫芳芳。", "王芳", {"王芳", "芳芳"}),
        ("我同事李明的英文名是Tom。", "同事 李明", {"李明", "Tom"}),
        ("Our friends call Robert Bob.", "Robert", {"Robert", "Bob"}),
        ("My wife goes by the name of Sue.", "wife", {"Sue"}),
    ],
)
def test_names_are_read_as_they_are_told(real: Memory, words: str, person: str, names: set[str]) -> None:
    with real as memory:
        tell(memory, words)
        (found,) = memory.people()
        assert (found.name, {alias.name for alias in found.aliases}) == (person, names)


@pytest.mark.parametrize(
    ("words", "named"),
    [("其实我叫陈刚。", True), ("我的猫叫小明。", False), ("我叫了辆出租车。", False), ("我叫孩子吃饭。", False)],
)
def test_the_users_name_is_nobody_elses(real: Memory, words: str, named: bool) -> None:
    with real as memory:
        tell(memory, words)
        (record,) = memory.list()
        assert (record.attribute == "name") is named


def test_the_users_own_names_make_nobody_else(real: Memory) -> None:
    with real as memory:
        tell(memory, "I'm Robert, Bob for short.", "我叫王小明，小名明明。")
        assert set(current(memory).values()) == {"user"}


def by_two(memory: Memory, *said: tuple[str, str]) -> None:
    for day, (name, words) in enumerate(said):
        memory.add([{"role": "user", "name": name, "content": words}], at=START + timedelta(days=day))


def by_speaker(memory: Memory) -> list[tuple[str, str]]:
    return sorted((record.subject, record.content) for record in memory.list(limit=100).memories)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I own a kayak.", "I sold my kayak."),
        ("I live in York.", "I live in Leeds now."),
        ("我住在杭州。", "我搬到苏州了。"),
    ],
)
def test_people_who_speak_in_one_scope_change_nothing_of_each_other(real: Memory, before: str, after: str) -> None:
    with real as memory:
        by_two(memory, ("Ann", before), ("Bob", before), ("Ann", before), ("Bob", after))
        assert by_speaker(memory) == sorted([("Ann", before), ("Bob", after)])
        (kept,) = [record for record in memory.list() if record.subject == "Ann"]
        assert len(kept.sources) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("My sister lives in York.", "My sister lives in Leeds."),
        ("Our cat is called Tom.", "Our cat is called Max."),
        ("我姐姐住在杭州。", "我姐姐住在苏州。"),
    ],
)
def test_people_who_speak_in_one_scope_have_their_own_families(real: Memory, before: str, after: str) -> None:
    with real as memory:
        by_two(memory, ("Ann", before), ("Bob", after))
        assert current(memory).keys() == {before, after}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The deploy window is on Friday.", "The deploy window is on Thursday now."),
        ("周会改到周三了。", "周会现在是周四。"),
        ("Zoe lives in York.", "Zoe moved to Leeds."),
        ("Bob lives in York.", "I live in Leeds now."),
    ],
)
def test_what_concerns_all_is_changed_by_whoever_says_so(real: Memory, before: str, after: str) -> None:
    with real as memory:
        by_two(memory, ("Ann", before), ("Bob", after))
        assert list(current(memory)) == [after]


def test_a_pronoun_said_of_two_people_makes_two_memories(real: Memory) -> None:
    with real as memory:
        tell(memory, "My sister Ann is here. She keeps bees.", "My niece Zoe is here. She keeps bees.")
        bees = [record.subject for record in memory.list(limit=100) if record.content == "She keeps bees."]
        assert len(bees) == len(set(bees)) == 2


def test_a_person_with_a_role_has_their_whole_name(real: Memory) -> None:
    with real as memory:
        tell(memory, "My sister Ann Smith lives in Linz. She has two kids.", "My sister Ann moved to Graz.")
        assert current(memory) == {
            "She has two kids.": "sister Ann Smith",
            "My sister Ann moved to Graz.": "sister Ann",
        }
        assert memory.search("Where does my sister live?").memories[0].content == "My sister Ann moved to Graz."


def test_people_of_one_first_name_and_two_surnames_stay_apart(real: Memory) -> None:
    with real as memory:
        told = ("My friend Ann Smith lives in Linz.", "My friend Ann Jones lives in Graz.")
        tell(memory, *told)
        assert current(memory).keys() == set(told)


@pytest.mark.parametrize(
    ("question", "own", "others"),
    [
        (
            "Where do I live?",
            "Anyway, I moved to Vienna last week.",
            ("My boss Tom lives in Bonn.", "Ann lives in Linz."),
        ),
        ("我住在哪里？", "上周我搬到苏州了。", ("我老板住在南京。", "我姐姐住在杭州。")),
    ],
)
def test_what_is_asked_of_the_user_is_answered_by_the_user(
    real: Memory, question: str, own: str, others: tuple[str, ...]
) -> None:
    with real as memory:
        tell(memory, own, *others, "I like tea.")
        found = memory.search(question).memories
        assert found[0].content == own
        assert list(found) == sorted(found, key=lambda item: -item.score)
        memory.delete(found[0].id)
        assert own not in {item.content for item in memory.search(question).memories}
