"""Commands: permissions everywhere, correction, retraction, muting, receipts."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from memwell import Memory, MemwellError
from memwell.domain.command import read_receipt
from memwell.domain.memory import State
from memwell.errors import NotCurrentError, ReceiptError
from memwell.testing.doubles import FakeClock
from tests.govern.test_forget import only


def code_of(call: Callable[[], Any]) -> str:
    with pytest.raises(MemwellError) as caught:
        call()
    return caught.value.code


def test_a_cloud_reader_sees_nothing_without_the_right(mem: Memory) -> None:
    evidence = mem.add("I live in Lyon.").evidence_ids[0]
    key = only(mem, "Lyon")
    mem.permit(evidence, cloud=False)
    assert mem.search("where do I live?", raw_limit=5).memories
    for read in (mem.get, mem.history, mem.explain):
        assert read(key)
        with pytest.raises(MemwellError, match="permit cloud reading"):
            read(key, target="cloud")
    assert mem.list().memories
    assert mem.list(target="cloud").memories == ()
    result = mem.search("where do I live?", raw_limit=5, target="cloud")
    assert (result.memories, result.raw, result.dependencies) == ((), (), ())
    assert "Lyon" not in result.text()
    mem.permit(evidence, local=False)
    assert code_of(lambda: mem.get(key)) == "not_found"
    assert mem.list().memories == ()


def test_history_and_explanation_leave_out_what_may_not_be_read(mem: Memory, clock: FakeClock) -> None:
    first = mem.add("I live in Lyon.")
    clock.advance(timedelta(days=1))
    newer = mem.update(only(mem, "Lyon"), "I live in Porto.").memory_ids[0]
    mem.permit(first.evidence_ids[0], cloud=False)
    assert [m.content for m in mem.history(newer, target="cloud")] == ["I live in Porto."]
    assert mem.explain(newer, target="cloud").replaced == ()
    assert [m.content for m in mem.explain(newer).replaced] == ["I live in Lyon."]


def test_nothing_is_formed_from_a_message_without_the_right(mem: Memory) -> None:
    secret = {"role": "user", "content": "My sister is Zoe.", "permissions": {"infer": False}}
    result = mem.add([secret], session_id="s")
    assert result.memory_ids == ()
    seen: list[str] = []
    working = mem._engine.remember.forming.extractor

    class Listens:
        name = "listens"

        def extract(self, turns: Any, context: Any) -> Any:
            seen.extend(record.content for record in context)
            return working.extract(turns, context)

    object.__setattr__(mem._engine.remember.forming, "extractor", Listens())
    mem.add("She likes tea.", session_id="s")
    assert seen == []
    assert mem.resume() == 0
    assert code_of(lambda: mem.add([{**secret, "permissions": {"fly": True}}])) == "invalid_input"


def test_widened_and_tightened_at_one_instant(mem: Memory) -> None:
    evidence = mem.add("I live in Lyon.").evidence_ids[0]
    mem.permit(evidence, cloud=False)
    mem.permit(evidence, cloud=True)
    assert mem.list(target="cloud").memories == ()


def test_what_is_said_again_after_it_was_withdrawn_is_remembered(mem: Memory) -> None:
    for words in ("I live in Lyon.", "My cat is called Tom."):
        (evidence,) = mem.add(words).evidence_ids
        mem.withdraw(evidence)
        assert words not in [memory.content for memory in mem.list().memories]
        mem.add(words)
        assert words in [memory.content for memory in mem.list().memories]


def test_withdrawn_evidence_is_read_no_more(mem: Memory) -> None:
    evidence = mem.add("I live in Lyon.").evidence_ids[0]
    key = only(mem, "Lyon")
    mem.withdraw(evidence)
    assert mem.list().memories == ()
    assert code_of(lambda: mem.get(key)) == "not_found"
    assert mem.search("Lyon?").memories == ()


def test_a_correction_retracts_and_rests_on_its_own_words(mem: Memory, clock: FakeClock) -> None:
    mem.add("I live in Lyon.")
    wrong = only(mem, "Lyon")
    clock.advance(timedelta(hours=1))
    done = mem.correct(wrong, "I live in Nantes.", command_id="c1")
    assert done.memory_id is not None
    right = mem.get(done.memory_id)
    assert (right.content, right.state, right.links.corrects) == ("I live in Nantes.", State.CURRENT, (wrong,))
    assert mem.get(wrong).state is State.RETRACTED
    assert mem.explain(right.id).quotes[0].text == "I live in Nantes."
    assert mem.correct(wrong, "I live in Nantes.", command_id="c1") == done
    assert code_of(lambda: mem.correct(wrong, "I live in Brest.", command_id="c1")) == "command_id_conflict"
    assert code_of(lambda: mem.correct(wrong, "I live in Brest.")) == "not_current"
    assert code_of(lambda: mem.correct([], "I live in Brest.")) == "invalid_input"
    assert mem.check() == []


def test_a_correction_and_the_message_that_made_it_are_one_source(mem: Memory, clock: FakeClock) -> None:
    mem.add("I live in Lyon.", session_id="s")
    clock.advance(timedelta(hours=1))
    said = "No, that is wrong. I live in Nantes."
    source = {"message_id": "m7", "session_id": "s", "content": said, "quote": "I live in Nantes."}
    done = mem.correct(only(mem, "Lyon"), source=source)
    assert done.memory_id is not None
    delivered = {"role": "user", "content": said, "id": "m7", "permissions": {"cloud": False}}
    result = mem.add([delivered], session_id="s")
    assert result.evidence_ids == (done.evidence_id,)
    assert [m.id for m in mem.list().memories if "Nantes" in m.content] == [done.memory_id]
    assert mem.list(target="cloud").memories == ()
    other = {**delivered, "content": "No. I live in Brest."}
    assert code_of(lambda: mem.add([other], session_id="s")) == "evidence_conflict"
    right = done.memory_id
    twice = {**source, "message_id": "m8", "content": "I live in Nantes. I live in Nantes."}
    assert code_of(lambda: mem.correct(right, source=twice)) == "quote_not_unique"
    assert code_of(lambda: mem.correct(right, source={"quote": "x"})) == "invalid_input"


def test_the_message_may_have_come_first(mem: Memory, clock: FakeClock) -> None:
    mem.add("I live in Lyon.", session_id="s")
    clock.advance(timedelta(hours=1))
    said = "What do you mean?"
    delivered = {"role": "user", "content": said, "id": "m7"}
    known = mem.add([delivered], session_id="s").evidence_ids[0]
    source = {"message_id": "m7", "session_id": "s", "content": said, "quote": said}
    assert mem.correct(only(mem, "Lyon"), source=source).evidence_id == known


def test_retract_archive_and_mute_have_their_inverses(mem: Memory) -> None:
    mem.add("I live in Lyon.")
    key = only(mem, "Lyon")
    assert mem.mute(key).outcome == "applied"
    assert mem.mute(key).outcome == "no_change"
    assert mem.search("where do I live?").memories == ()
    assert [m.id for m in mem.list().memories] == [key]
    mem.unmute(key)
    mem.delete(key)
    assert mem.list().memories == ()
    mem.unarchive(key)
    assert mem.list().memories[0].id == key
    revision = mem.get(key).revision
    assert code_of(lambda: mem.retract(key, expected_revision=1)) == "revision_conflict"
    mem.retract(key, expected_revision=revision)
    assert mem.get(key).state is State.RETRACTED
    assert code_of(lambda: mem.retract(key)) == code_of(lambda: mem.unarchive(key)) == "not_current"


def test_a_receipt_proves_itself_and_holds_no_words(mem: Memory) -> None:
    mem.add("I live in Lyon.")
    done = mem.correct(only(mem, "Lyon"), "I live in Nantes.", command_id="c1")
    written = done.receipt.to_dict()
    assert "Nantes" not in json.dumps(written)
    assert read_receipt(json.loads(json.dumps(written))) == done.receipt == mem.receipt("c1")
    for name in ("actor", "outcome", "targets", "hash"):
        with pytest.raises(ReceiptError):
            read_receipt({**written, name: "other"})
    assert code_of(lambda: read_receipt([])) == "receipt_invalid"
    assert code_of(lambda: mem.receipt("c2")) == "not_found"
    assert code_of(lambda: mem.receipt("c1", user_id="bob")) == "not_found"


def test_commands_of_others_are_refused(mem: Memory) -> None:
    evidence = mem.add("I live in Lyon.").evidence_ids[0]
    key = only(mem, "Lyon")
    for call in (
        lambda: mem.retract(key, user_id="bob"),
        lambda: mem.mute(key, user_id="bob"),
        lambda: mem.permit(evidence, cloud=False, user_id="bob"),
        lambda: mem.withdraw(evidence, user_id="bob"),
        lambda: mem.correct(key, "x", user_id="bob"),
        lambda: mem.permit("ev_none", cloud=False),
    ):
        assert code_of(call) == "not_found"


def test_correcting_what_was_superseded_makes_no_second_current_version(mem: Memory) -> None:
    (first,) = mem.add("I own a zebrano guitar.").memory_ids
    mem.update(first, "I own a cedar guitar.")
    with pytest.raises(NotCurrentError):
        mem.correct(first, "I own a pine guitar.")
    mem.retract(first)
    assert [memory.content for memory in mem.list().memories] == ["I own a cedar guitar."]


@pytest.mark.parametrize("how", ["update", "correct", "say"])
def test_what_takes_over_from_a_muted_memory_is_muted_too(mem: Memory, clock: FakeClock, how: str) -> None:
    mem.add("I live in Lyon.")
    key = only(mem, "Lyon")
    mem.mute(key)
    clock.advance(timedelta(days=1))
    if how == "update":
        mem.update(key, "I live in Nantes.")
    elif how == "correct":
        mem.correct(key, "I live in Nantes.")
    else:
        mem.add("I moved to Nantes.")
    found = mem.search("where do I live?")
    assert (found.memories, found.profile) == ((), ())
    (now,) = mem.list().memories
    assert now.muted_at is not None
    assert mem.get(key).state is not State.CURRENT
    mem.unmute(now.id)
    assert "Nantes" in mem.search("where do I live?").text()
    assert mem.check() == []


def test_saying_a_muted_thing_again_does_not_unmute_it(mem: Memory, clock: FakeClock) -> None:
    mem.add("I am afraid of geese.")
    mem.mute(only(mem, "geese"))
    clock.advance(timedelta(days=1))
    assert mem.add("I am afraid of geese.").status == "known"
    assert mem.search("what am I afraid of?").memories == ()
