from __future__ import annotations

from memwell import Memory
from memwell.domain.decision import Action
from memwell.testing.doubles import START


def observed(text: str) -> list[dict[str, object]]:
    return [{"role": "observed", "content": text, "at": START}]


def test_observed_records_that_look_alike_stay_apart_and_the_same_words_repeat(memory: Memory) -> None:
    memory.add(observed("短信：您的快递已到驿站，取件码 3-1-204"))
    alike = memory.add(observed("短信：您的快递已到驿站，取件码 3-1-205"))
    again = memory.add(observed("短信：您的快递已到驿站，取件码 3-1-204 "))
    assert [decision.action for decision in alike.decisions] == [Action.SUPPLEMENT]
    assert [decision.action for decision in again.decisions] == [Action.SKIP]
    assert again.status == "known"
    assert len(memory.list().memories) == 2


def test_observed_records_are_kept_whole(memory: Memory) -> None:
    words = "Meeting with Ana on 3 May 2025 at 10:00. Bring the plans! Who else comes?"
    written = memory.add(observed(words))
    assert [(decision.content, decision.confidence) for decision in written.decisions] == [(words, 1.0)]
