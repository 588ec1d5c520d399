"""Corrections that have not taken effect yet are seen, wait for their message, and are never guessed at."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memwell import Memory, MemwellError
from memwell.domain.memory import State
from memwell.engine.results import SearchResult
from memwell.testing.doubles import FakeClock, HashEmbedder, SequentialIds
from tests.govern.conftest import Scan
from tests.govern.test_forget import only

LATER = {"message_id": "m7", "session_id": "s", "quote": "I live in Nantes."}


def deliver(mem: Memory, text: str, key: str = "m7", role: str = "user") -> None:
    mem.add([{"role": role, "content": text, "id": key}], session_id="s")


def waiting(mem: Memory) -> list[tuple[str, str]]:
    found = mem.search("where do I live?")
    return [(item.text, item.reason) for item in found.pending]


def statuses(found: SearchResult) -> dict[str, str | None]:
    return {item.content: item.correction_status for item in (*found.memories, *found.profile)}


def test_a_correction_waits_for_its_message(mem: Memory, clock: FakeClock) -> None:
    mem.add("I live in Lyon.", session_id="s")
    wrong = only(mem, "Lyon")
    done = mem.correct(wrong, source=LATER, command_id="c1")
    assert (done.status, done.memory_id) == ("pending", None)
    assert mem.get(wrong).state is State.CURRENT
    found = mem.search("where do I live?")
    assert statuses(found) == {"I live in Lyon.": "pending"}
    assert waiting(mem) == [("I live in Nantes.", "awaiting_message")]
    assert "(a correction of this is under way)" in found.text()
    assert "Corrections under way" in found.text()
    assert done.evidence_id in found.dependencies
    assert mem.correct(wrong, source=LATER, command_id="c1") == done

    clock.advance(timedelta(minutes=1))
    deliver(mem, "No. I live in Nantes. I like figs.")
    ended = mem.correct(wrong, source=LATER, command_id="c1")
    assert (ended.status, ended.receipt) == ("done", done.receipt)
    assert ended.memory_id is not None
    right = mem.get(ended.memory_id)
    assert (right.content, right.links.corrects) == ("I live in Nantes.", (wrong,))
    assert [quote.message_id for quote in mem.explain(right.id).quotes] == ["m7"]
    assert mem.get(wrong).state is State.RETRACTED
    assert sorted(m.content for m in mem.list().memories) == ["I like figs.", "I live in Nantes."]
    assert waiting(mem) == []
    assert mem.check() == []


def test_a_message_that_is_there_already_needs_no_content(idle: Memory) -> None:
    with idle as mem:
        mem.add("I live in Lyon.", session_id="s")
        message = {"role": "user", "content": "No. I live in Nantes. I like figs.", "id": "m7"}
        mem.add([message], session_id="s", wait=False)
        assert mem.correct(only(mem, "Lyon"), source=LATER).status == "done"
        assert waiting(mem) == []
        mem.resume()
        assert sorted(m.content for m in mem.list().memories) == ["I like figs.", "I live in Nantes."]


@pytest.mark.parametrize(
    ("said", "role", "reason"),
    [
        ("I like figs.", "user", "quote_not_in_message"),
        ("Did I say “I live in Nantes.” or “I live in Nantes.”?", "user", "quote_not_unique"),
        ("I live in Nantes.", "assistant", "not_said_by_user"),
    ],
)
def test_a_message_with_other_words_leaves_the_correction_waiting(
    mem: Memory, clock: FakeClock, said: str, role: str, reason: str
) -> None:
    mem.add("I live in Lyon.", session_id="s")
    wrong = only(mem, "Lyon")
    done = mem.correct(wrong, source=LATER)
    deliver(mem, said, role=role)
    assert waiting(mem) == [("I live in Nantes.", reason)]
    assert mem.get(wrong).state in (State.CURRENT, State.SUPERSEDED)
    mem.withdraw(done.evidence_id)
    assert waiting(mem) == []


@pytest.mark.parametrize("hide", ["mute", "delete"])
def test_a_correction_of_what_was_put_away_is_not_shown(mem: Memory, hide: str) -> None:
    mem.add("I live in Lyon.", session_id="s")
    wrong = only(mem, "Lyon")
    mem.correct(wrong, source=LATER)
    getattr(mem, hide)(wrong)
    assert waiting(mem) == []
    assert "Nantes" not in mem.search("Where do I live?").text()


def test_what_it_corrects_may_be_corrected_otherwise_meanwhile(mem: Memory) -> None:
    mem.add("I live in Lyon.", session_id="s")
    wrong = only(mem, "Lyon")
    mem.correct(wrong, source=LATER)
    right = mem.correct(wrong, "I live in Brest.").memory_id
    assert waiting(mem) == [("I live in Nantes.", "not_current")]
    deliver(mem, "Well, I live in Nantes.")
    assert right is not None
    assert waiting(mem) == [("I live in Nantes.", "not_current")]


def test_what_waits_obeys_rights_and_goes_with_what_it_corrects(mem: Memory, clock: FakeClock, holds: Scan) -> None:
    mem.add("I live in Lyon.", session_id="s")
    done = mem.correct(only(mem, "Lyon"), source={**LATER, "quote": "I live in Zwetsch."})
    mem.permit(done.evidence_id, cloud=False)
    assert mem.search("where?", target="cloud").pending == ()
    mem.forget(mem.preview_forget([only(mem, "Lyon")]).token)
    assert not holds(b"Zwetsch")
    assert waiting(mem) == []
    clock.advance(timedelta(minutes=1))
    deliver(mem, "I live in Zwetsch.")
    assert [m.content for m in mem.list().memories] == ["I live in Zwetsch."]


def test_a_stricter_permission_of_the_quote_holds_for_the_message(mem: Memory) -> None:
    mem.add("I live in Lyon.", session_id="s")
    done = mem.correct(only(mem, "Lyon"), source=LATER)
    mem.permit(done.evidence_id, cloud=False)
    deliver(mem, "Oh no. I live in Nantes.")
    assert [m.content for m in mem.list(target="cloud").memories if "Nantes" in m.content] == []
    assert only(mem, "Nantes")


def test_a_correction_that_waits_travels_in_a_bundle(mem: Memory, tmp_path: Path, clock: FakeClock) -> None:
    mem.add("I live in Lyon.", session_id="s")
    mem.correct(only(mem, "Lyon"), source=LATER)
    mem.export_bundle(tmp_path / "a.bundle")
    ids = SequentialIds("other_")
    with Memory(tmp_path / "b.db", user_id="alice", embedder=HashEmbedder(), clock=clock, ids=ids) as other:
        other.apply_import(other.plan_import(tmp_path / "a.bundle"))
        assert waiting(other) == [("I live in Nantes.", "awaiting_message")]
        deliver(other, "No. I live in Nantes.")
        assert [m.content for m in other.list().memories] == ["I live in Nantes."]


def test_an_interrupted_fulfilment_is_made_up_for(mem: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    mem.add("I live in Lyon.", session_id="s")
    mem.correct(only(mem, "Lyon"), source=LATER)
    embedder = mem._engine.correcting.embedder
    broken = HashEmbedder(dimensions=8)  # vectors of another length are refused
    object.__setattr__(mem._engine.correcting, "embedder", broken)
    with pytest.raises(MemwellError):
        deliver(mem, "Sorry. I live in Nantes.")
    object.__setattr__(mem._engine.correcting, "embedder", embedder)
    assert waiting(mem) == [("I live in Nantes.", "ready")]
    mem.resume()
    assert waiting(mem) == []
    assert [m.content for m in mem.list().memories] == ["I live in Nantes."]


@pytest.mark.parametrize("source", [{"quote": "x"}, {**LATER, "quote": " "}, {**LATER, "message_id": ""}])
def test_a_source_that_cannot_be_used_is_refused(mem: Memory, source: dict[str, str]) -> None:
    mem.add("I live in Lyon.")
    with pytest.raises(MemwellError):
        mem.correct(only(mem, "Lyon"), source=source)
    assert mem.search("where do I live?").pending == ()


@pytest.fixture
def idle(store_path: Path, clock: FakeClock) -> Memory:
    """A memory that forms nothing by itself of what is not waited for."""
    return Memory(store_path, user_id="alice", embedder=HashEmbedder(), clock=clock, ids=SequentialIds(), worker=False)


@pytest.mark.parametrize("said", ["No wait, I misspoke: it is Nantes.", "不对，我说错了，是南特。"])
def test_words_that_correct_mark_the_one_fact_said_just_before(idle: Memory, clock: FakeClock, said: str) -> None:
    with idle as mem:
        mem.add("I live in Lyon.", session_id="s")
        clock.advance(timedelta(minutes=1))
        mem.add(said, session_id="s", wait=False)
        found = mem.search("where do I live?")
        (item,) = found.pending
        assert (item.text, item.reason, item.correction_status) == (said, "forming", "pending")
        assert item.preceding is not None
        assert item.preceding.text == "I live in Lyon."
        assert statuses(found) == {"I live in Lyon.": "pending"}
        mem.resume()
        assert mem.search("where do I live?").pending == ()


def test_words_that_may_correct_several_facts_are_ambiguous(idle: Memory, clock: FakeClock) -> None:
    with idle as mem:
        mem.add("I live in Lyon.", session_id="s")
        mem.add("I drive a red Volvo.", session_id="s")
        clock.advance(timedelta(minutes=1))
        mem.add("Scratch that, I was wrong.", session_id="s", wait=False)
        found = mem.search("where do I live?", limit=10)
        (item,) = found.pending
        assert (item.correction_status, item.preceding, len(item.memory_ids)) == ("ambiguous", None, 2)
        assert set(statuses(found).values()) == {"ambiguous"}
        assert "(may be what a correction is about)" in found.text()


@pytest.mark.parametrize(("session", "minutes"), [("other", 1), ("s", 6)])
def test_facts_of_elsewhere_or_long_ago_are_not_marked(
    idle: Memory, clock: FakeClock, session: str, minutes: int
) -> None:
    with idle as mem:
        mem.add("I live in Lyon.", session_id="s")
        clock.advance(timedelta(minutes=minutes))
        mem.add("Scratch that, I was wrong.", session_id=session, wait=False)
        found = mem.search("where do I live?")
        assert [item.memory_ids for item in found.pending] == [()]
        assert statuses(found) == {"I live in Lyon.": None}


def test_words_that_correct_nothing_are_not_pending(idle: Memory) -> None:
    with idle as mem:
        mem.add("I live in Lyon.", session_id="s")
        mem.add("I like figs.", session_id="s", wait=False)
        found = mem.search("where do I live?")
        assert (found.pending, len(found.provisional)) == ((), 1)
        assert "provisional" in found.text()
