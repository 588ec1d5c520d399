"""Copies of what is forgotten go from the words of assistants, however they are typeset there."""

from __future__ import annotations

import pytest

from memwell import Memory

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
