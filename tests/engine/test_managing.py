from __future__ import annotations

import pytest

from memwell import Memory, MemwellError


@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_change_against_another_revision_is_refused(memory: Memory, change: str) -> None:
    (memory_id,) = memory.add("I live in Lyon.").memory_ids
    seen = memory.get(memory_id).revision
    memory.add("I live in Lyon.", session_id="later")  # said again: the source list grows
    words = ("I live in Paris.",) if change == "update" else ()
    with pytest.raises(MemwellError) as caught:
        getattr(memory, change)(memory_id, *words, expected_revision=seen)
    assert caught.value.code == "precondition_failed"
    assert memory.get(memory_id).state == "current"
    getattr(memory, change)(memory_id, *words, expected_revision=memory.get(memory_id).revision)
    assert memory.get(memory_id).state != "current"
