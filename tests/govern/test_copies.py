"""Copies of what is forgotten go from the words of assistants, however they are typeset there."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from memwell import Memory
from memwell.errors import NotFoundError
from memwell.testing.doubles import FakeClock
from tests.govern.conftest import Scan

COPIES = [
    ("I live in Quibdo near the river.", "So: I LIVE IN QUIBDO NEAR THE RIVER, got it."),
    ("I don't like my boss's plan Zebra.", "You wrote “I don’t like my boss’s plan Zebra”."),
    ("I don’t like my boss’s plan Zebra.", "Noted:\n> I don't like *my* boss's plan **Zebra**."),
    ("I live in Quibdo near the river.", "Noted: I  live in\nQuibdo, near the river; thanks."),
    ("I live in Quibdo near the river.", "Ｉ ｌｉｖｅ ｉｎ Ｑｕｉｂｄｏ near the river!"),
    ("我住在上海，喜欢喝龙井茶。", "记住了：「我住在上海,喜欢喝 **龙井茶**」"),
    ("我用 Python 写代码。", "好的，我用Ｐｙｔｈｏｎ写代码，记下了。"),
    ("Meine Straße ist die Große Gasse.", "Notiert: MEINE STRASSE IST DIE GROSSE GASSE."),
]


@pytest.mark.parametrize(("said", "copy"), COPIES)
def test_a_copy_in_other_typesetting_goes(mem: Memory, said: str, copy: str) -> None:
    kept = "Anything else? I live in Lima."
    mem.add([{"role": "user", "content": said}], session_id="one")
    for text in (copy, kept):
        mem.add([{"role": "assistant", "content": text}, {"role": "user", "content": "ok"}], session_id="two")
    (memory,) = [memory for memory in mem.list() if memory.content in said]
    preview = mem.preview_forget([memory.id])
    assert {item.words for item in preview.items if item.what in ("reply", "context")} == {copy}
    mem.forget(preview.token)
    left = mem.evidence(session_id="two")
    assert {record.content for record in left} == {kept, "ok"}
    assert {record.preceding for record in left} - {None} == {kept}


def test_other_words_stay(mem: Memory) -> None:
    mem.add("I live in York.")
    replies = ["I live in Yorkshire.", "I live in New York.", "I lived in York.", "我住在约克。"]
    for text in replies:
        mem.add([{"role": "assistant", "content": text}])
    (memory,) = mem.list()
    mem.forget(mem.preview_forget([memory.id]).token)
    assert {record.content for record in mem.evidence()} == {*replies}


def asked(mem: Memory, query: str) -> list[tuple[str, str, str]]:
    preview = mem.preview_forget(query=query)
    mem.forget(preview.token)
    return [(item.what, item.fate, item.words) for item in preview.items if item.fate != "keep"]


@pytest.mark.parametrize(
    ("said", "query", "left"),
    [
        ("I like tea. Zebras, hm? I play chess.", "zebra", "I like tea. ███████████ I play chess."),
        (
            "I like tea. A zebra to the moon? I play chess.",
            "zebra moon",
            "I like tea. ████████████████████ I play chess.",
        ),
        ("我喜欢喝茶。斑马呢？我住在上海。", "斑马", "我喜欢喝茶。████我住在上海。"),
    ],
)
def test_words_that_are_asked_for_take_their_sentences_and_no_memory_beside_them(
    mem: Memory, said: str, query: str, left: str
) -> None:
    mem.add(said)
    asked(mem, query)
    assert [source.content for source in mem.evidence()] == [left]
    assert {memory.content.strip(".。") for memory in mem.list()} == set(re.split("[.。] ?█+ ?", left.strip(".。")))
    with pytest.raises(NotFoundError):
        mem.preview_forget(query=query)
    assert mem.check() == []


def test_words_of_several_sentences_take_the_whole_message(mem: Memory) -> None:
    mem.add("Zebras, hm? On the moon, hm? I play chess.")
    asked(mem, "zebra moon")
    assert not mem.evidence()
    assert not mem.list()


def test_words_in_a_turn_that_is_only_kept_with_a_message_go(mem: Memory, clock: FakeClock, holds: Scan) -> None:
    (key,) = mem.add("I live in Rome.").memory_ids
    told = {"message_id": "m7", "session_id": "s", "content": "No, I live in Oslo.", "quote": "I live in Oslo."}
    mem.correct(key, "I live in Oslo.", source={**told, "preceding": "So you live in Quibdo?"})
    clock.advance(timedelta(hours=1))  # a message that the host has not delivered yet is waited for
    assert asked(mem, "Quibdo") == [("context", "erase", "So you live in Quibdo?")]
    assert [memory.content for memory in mem.list()] == ["I live in Oslo."]
    assert not holds(b"uibdo")


def test_who_said_it_is_found_as_well_as_what_was_said(mem: Memory, holds: Scan) -> None:
    mem.add([{"role": "user", "content": "I like tea.", "name": "Quibdora"}])
    asked(mem, "Quibdora")
    assert not mem.evidence()
    assert not holds(b"uibdora")
