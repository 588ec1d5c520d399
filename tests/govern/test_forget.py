"""Forgetting: what the preview shows goes, to the last byte, and nothing else."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memwell import Memory, MemwellError
from memwell.domain.memory import State
from memwell.errors import InputError
from memwell.testing.doubles import ALICE, FakeClock, HashEmbedder
from tests.govern.conftest import Scan


def only(mem: Memory, words: str) -> str:
    """Id of the one memory, current or past, that holds ``words``."""
    (record,) = [m for m in mem.list(include_history=True).memories if words in m.content]
    return record.id


def everything(mem: Memory) -> dict[str, Any]:
    """All that is readable of the scope, by id."""
    with mem._engine.store.view() as view:
        traces = view.traces(ALICE)
        memories = {memory.id: memory for memory in traces.memories()}
        return {**memories, **{record.id: record for record in traces.evidence()}}


def vector(text: str) -> bytes:
    return HashEmbedder().query(text).astype("<f4").tobytes()


def forgotten(mem: Memory, **targets: Any) -> Any:
    return mem.forget(mem.preview_forget(**targets).token)


def test_nothing_of_it_is_left_in_any_file(mem: Memory, holds: Scan) -> None:
    mem.add("Zyxovar grows purple orchids.", at="2025-03-01T10:00:00+00:00")
    mem.add("I live in Lyon.")
    before = everything(mem)
    key = only(mem, "Zyxovar")
    assert holds(b"Zyxovar grows purple") or holds(b"zyxovar")
    preview = mem.preview_forget([key])
    assert {item.words for item in preview.items} == {"Zyxovar grows purple orchids."}
    assert everything(mem) == before
    done = mem.forget(preview.token, command_id="c1")
    assert done.storage_cleanup == "complete"
    for trace in (b"Zyxovar", b"zyxovar", b"yxova", b"Zyxovar gr", b"orchid", vector("Zyxovar grows purple orchids.")):
        assert not holds(trace)
    after = everything(mem)
    assert after == {k: v for k, v in before.items() if k in after}
    assert len(before) - len(after) == 2
    assert mem.receipt("c1") == done.receipt
    assert mem.check() == []
    assert not mem.search("who grows orchids?").memories or "orchid" not in mem.search("orchids?").text()


def test_a_whole_chain_goes(mem: Memory, clock: FakeClock, holds: Scan) -> None:
    mem.add("I live in Quibdo.")
    clock.advance(timedelta(days=1))
    mem.add("I moved to Wexford.")
    clock.advance(timedelta(days=1))
    newest = mem.update(only(mem, "Wexford"), "I live in Zaventem.").memory_ids[0]
    first = mem.history(newest)[0].id
    forgotten(mem, ids=[first])
    assert not any(holds(word) for word in (b"Quibdo", b"Wexford", b"Zaventem"))
    assert mem.list(include_history=True).memories == ()


def test_one_of_two_people_in_one_message_goes(mem: Memory, holds: Scan) -> None:
    mem.add("My brother Xaverio loves rum cakes. My sister Ann drinks green tea.", session_id="s")
    ann = mem.get(only(mem, "Ann"))
    preview = mem.preview_forget(person="Xaverio")
    assert [(item.fate, item.words) for item in preview.items if item.fate == "keep"] == [("keep", ann.content)]
    mem.forget(preview.token)
    assert not holds(b"Xaverio")
    assert not holds(b"rum cakes")
    assert mem.get(ann.id) == ann
    (quote,) = mem.explain(ann.id).quotes
    assert quote.text == ann.content
    assert mem.check() == []


def test_a_message_that_was_forgotten_is_refused_when_sent_again(mem: Memory) -> None:
    message = {"role": "user", "content": "I collect zithers.", "id": "m1", "at": "2025-01-01T10:00:00+00:00"}
    mem.add([message], session_id="s", request_id="r1")
    forgotten(mem, ids=[only(mem, "zithers")])
    without_id = {key: value for key, value in message.items() if key != "id"}
    for again, request in ((message, None), (message, "r1"), (message, "r2"), (without_id, None)):
        with pytest.raises(MemwellError) as caught:
            mem.add([again], session_id="s", request_id=request)
        assert caught.value.code == "erased_source"
    assert mem.list(include_history=True).memories == ()
    mem.add("I collect zithers.", at="2025-06-01T10:00:00+00:00")
    assert len(mem.list().memories) == 1


def test_copies_in_replies_go_and_look_alikes_stay(mem: Memory, holds: Scan) -> None:
    mem.add("I live in Yorkmoor.", session_id="a")
    mem.add(
        [
            {"role": "assistant", "content": "You said: I live in Yorkmoor. Shall I book?"},
            {"role": "user", "content": "Yes, book it for Monday."},
            {"role": "assistant", "content": "I live in Yorkmoors is a song."},
        ],
        session_id="b",
    )
    preview = mem.preview_forget([only(mem, "Yorkmoor")])
    assert {item.what for item in preview.items} == {"memory", "source", "reply", "context"}
    mem.forget(preview.token)
    assert not holds(b"You said: I live in Yorkmoor.")
    assert holds(b"I live in Yorkmoors is a song.")


def test_replies_go_with_what_they_were_made_from(mem: Memory, holds: Scan) -> None:
    mem.add("I am allergic to quinces.")
    result = mem.search("what am I allergic to?")
    reply = {"role": "assistant", "content": "No quince jelly for you, then: zwetschgen instead."}
    mem.add([reply], session_id="b", dependencies=result.dependencies)
    mem.add([{"role": "assistant", "content": "Unrelated: umbrellas."}], session_id="b")
    forgotten(mem, ids=[only(mem, "quinces")])
    assert not holds(b"zwetschgen")
    assert holds(b"umbrellas")
    with pytest.raises(MemwellError) as caught:
        mem.add([reply], session_id="c", dependencies=result.dependencies)
    assert caught.value.code == "erased_source"


@pytest.mark.parametrize("how", [{"session": "s1"}, {"query": "velvet drums"}, {"everything": True}])
def test_other_ways_to_name_it(mem: Memory, holds: Scan, how: dict[str, Any]) -> None:
    mem.add([{"role": "user", "content": "I play velvet drums."}], session_id="s1")
    mem.add([{"role": "user", "content": "I like plain tea."}], session_id="s2")
    forgotten(mem, **how)
    assert not holds(b"velvet")
    assert holds(b"plain tea") is ("everything" not in how)


def test_a_source_can_be_named(mem: Memory, holds: Scan) -> None:
    evidence = mem.add("Is it raining in Brindisi?").evidence_ids[0]
    forgotten(mem, evidence=[evidence])
    assert not holds(b"Brindisi")


def test_chinese_goes_too(mem: Memory, holds: Scan) -> None:
    mem.add("我住在攀枝花。我喜欢喝绿茶。")
    forgotten(mem, ids=[only(mem, "攀枝花")])
    assert not holds("攀枝花".encode())
    assert not holds("攀枝".encode())
    assert holds("喜欢喝绿茶".encode())
    assert mem.check() == []


def test_a_token_holds_for_what_it_showed(mem: Memory, clock: FakeClock) -> None:
    mem.add("I live in Lyon.")
    mem.add("I like tea.", session_id="s")
    key = only(mem, "Lyon")
    token = mem.preview_forget([key]).token
    mem.add("I play chess.")
    other = mem.preview_forget(session="s").token
    mem.add("I like cake.", session_id="s")
    for bad, code in (
        ("", "forget_scope_required"),
        ("nonsense", "forget_scope_changed"),
        (token[:-4], "forget_scope_changed"),
        (other, "forget_scope_changed"),
    ):
        with pytest.raises(MemwellError) as caught:
            mem.forget(bad)
        assert caught.value.code == code
    with pytest.raises(MemwellError) as caught:
        mem.forget(token, user_id="bob")
    assert caught.value.code == "forget_scope_changed"
    first = mem.forget(token, command_id="c1")
    assert mem.forget(token, command_id="c1").receipt == first.receipt
    with pytest.raises(MemwellError) as caught:
        mem.forget(mem.preview_forget(session="s").token, command_id="c1")
    assert caught.value.code == "command_id_conflict"
    with pytest.raises(MemwellError) as caught:
        mem.forget(token, command_id="c2")
    assert caught.value.code == "forget_scope_changed"


def test_a_changed_target_makes_the_token_void(mem: Memory) -> None:
    mem.add("I live in Lyon.")
    key = only(mem, "Lyon")
    token = mem.preview_forget([key]).token
    mem.mute(key)
    with pytest.raises(MemwellError) as caught:
        mem.forget(token)
    assert caught.value.code == "forget_scope_changed"
    assert mem.get(key).state is State.CURRENT


def test_a_batch_of_which_a_part_is_gone_already_does_nothing(mem: Memory, clock: FakeClock) -> None:
    for text in ("I live in Lyon.", "I like tea.", "I play chess."):
        mem.add(text)
        clock.advance(timedelta(minutes=1))
    batch = mem.preview_forget([only(mem, "Lyon"), only(mem, "tea")]).token
    forgotten(mem, ids=[only(mem, "Lyon")])
    before = everything(mem)
    with pytest.raises(MemwellError) as caught:
        mem.forget(batch)
    assert caught.value.code == "forget_scope_changed"
    assert everything(mem) == before
    assert only(mem, "tea")


def test_overlapping_chains_of_a_batch_go_once(mem: Memory) -> None:
    mem.add("I live in Lyon.")
    first = only(mem, "Lyon")
    second = mem.update(first, "I live in Nantes.").memory_ids[0]
    evidence = mem.explain(second).quotes[0].evidence_id
    preview = mem.preview_forget([first, second], evidence=[evidence])
    assert len(preview.items) == len({item.id for item in preview.items})
    done = mem.forget(preview.token)
    assert done.receipt.details["memories"] == 2
    assert everything(mem) == {}


def test_what_cannot_be_previewed(mem: Memory) -> None:
    mem.add("I live in Lyon.")
    key = only(mem, "Lyon")
    for targets, code in (
        ({"ids": ["mem_none"]}, "not_found"),
        ({}, "forget_targets"),
        ({"ids": [f"m{n}" for n in range(33)]}, "forget_targets"),
        ({"ids": [key], "user_id": "bob"}, "not_found"),
        ({"session": "none"}, "not_found"),
        ({"query": "zeppelin"}, "not_found"),
        ({"person": "Zeppelin"}, "not_found"),
    ):
        with pytest.raises(MemwellError) as caught:
            mem.preview_forget(**targets)
        assert caught.value.code == code, targets
    forgotten(mem, ids=[key])
    with pytest.raises(MemwellError) as caught:
        mem.preview_forget([key])
    assert caught.value.code == "erased_source"


def test_forgetting_waits_for_messages_that_are_being_formed(mem: Memory, clock: FakeClock) -> None:
    mem.add("I live in Lyon.")
    token = mem.preview_forget([only(mem, "Lyon")]).token

    class Dies:
        name = "dies"

        def extract(self, turns: Any, context: Any) -> Any:
            raise MemwellError("broken", remedy="none")

    working = mem._engine.remember.forming.extractor
    object.__setattr__(mem._engine.remember.forming, "extractor", Dies())
    with pytest.raises(MemwellError):
        mem.add("My secret is kumquats.", session_id="late")
    with pytest.raises(MemwellError) as caught:
        mem.forget(token)
    assert caught.value.code == "formation_in_progress"
    clock.advance(timedelta(minutes=11))
    assert mem.forget(token).storage_cleanup == "complete"
    object.__setattr__(mem._engine.remember.forming, "extractor", working)
    forgotten(mem, session="late")
    assert mem.resume() == 0
    assert mem.list().memories == ()


def test_an_open_reader_puts_the_cleaning_off(mem: Memory, store_path: Path, holds: Scan) -> None:
    mem.add("I live in Zanzibarra.")
    with mem._engine.store.view() as view:
        assert view.traces(ALICE).memories()
        assert forgotten(mem, everything=True).storage_cleanup == "pending"
        assert mem.status().figures["cleanup"] == "pending"
    assert mem.clean() == "complete"
    assert not holds(b"Zanzibarra")
    assert mem.status().figures["cleanup"] == "complete"


def test_a_late_worker_is_fenced_off(mem: Memory, holds: Scan) -> None:
    working = mem._engine.remember.forming.extractor

    class ForgetsMeanwhile:
        name = "slow"

        def extract(self, turns: Any, context: Any) -> Any:
            forgotten(mem, session="s")
            return working.extract(turns, context)

    object.__setattr__(mem._engine.remember.forming, "extractor", ForgetsMeanwhile())
    with pytest.raises(MemwellError) as caught:
        mem.add("My passport is vermilion.", session_id="s")
    assert caught.value.code == "erased_source"
    assert mem.list(include_history=True).memories == ()
    assert not holds(b"vermilion")
    assert mem.check() == []


def test_too_many_replies_are_not_followed(mem: Memory) -> None:
    mem.add("I am allergic to quinces.")
    key = only(mem, "quinces")
    mem.add([{"role": "assistant", "content": f"Reply {n}."} for n in range(65)], dependencies=[key])
    with pytest.raises(MemwellError) as caught:
        mem.preview_forget([key])
    assert caught.value.code == "dependency_limit"


def test_the_words_of_a_query_may_stand_in_any_number_of_memories(mem: Memory, holds: Scan) -> None:
    for number in range(40):
        mem.add(f"I own a zebrano guitar number {number}.")
    preview = mem.preview_forget(query="zebrano guitar")
    mem.forget(preview.token)
    assert not holds(b"zebrano")


def test_a_text_is_no_list_of_ids(mem: Memory) -> None:
    with pytest.raises(InputError, match="list of ids"):
        mem.preview_forget("mem_1")


def test_a_token_that_was_used_names_the_receipt(mem: Memory) -> None:
    mem.add("I collect zithers.")
    preview = mem.preview_forget([only(mem, "zithers")])
    mem.forget(preview.token, command_id="first")
    with pytest.raises(MemwellError, match="by command first") as caught:
        mem.forget(preview.token, command_id="second")
    assert caught.value.code == "forget_scope_changed"
    assert mem.forget(preview.token, command_id="first").replayed


def test_progress_is_told(mem: Memory) -> None:
    mem.add("I collect zithers.")
    steps: list[tuple[int, int, str]] = []
    mem.forget(mem.preview_forget([only(mem, "zithers")]).token, progress=lambda *step: steps.append(step))
    assert steps == [(0, 2, "erasing"), (1, 2, "cleaning the files"), (2, 2, "")]


def test_a_query_takes_replies_too(mem: Memory, holds: Scan) -> None:
    mem.add(
        [
            {"role": "user", "content": "I keep zorse foals."},
            {"role": "assistant", "content": "Your Zorse foals are nice."},
            {"role": "user", "content": "I like tea."},
        ]
    )
    forgotten(mem, query="zorse")
    assert not holds(b"zorse")
    assert not holds(b"Zorse")
    assert [m.content for m in mem.list()] == ["I like tea."]
