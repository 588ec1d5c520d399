"""A memory lives as long as a message that says it: what goes is the message, not what others say too."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memwell import Memory, MemwellError
from memwell.domain.evidence import Evidence, EvidenceStatus, Speaker
from memwell.domain.memory import FormedBy, MemoryRecord, Source
from memwell.domain.support import resting_on_rest
from memwell.domain.text import normal_form
from memwell.testing.doubles import (
    START,
    FakeClock,
    HashEmbedder,
    SequentialIds,
    make_evidence,
    make_memory,
)
from tests.govern.conftest import Scan
from tests.govern.test_bundles import Stores, moved, stores
from tests.govern.test_forget import forgotten, only

__all__ = ["stores"]


def twice(mem: Memory) -> tuple[str, str]:
    """Say one thing in two sessions; ids of the two messages."""
    first = mem.add("I PLAY THE ZITHER. I live in Lyon.", session_id="s1").evidence_ids[0]
    return first, mem.add("I play the zither!", session_id="s2").evidence_ids[0]


def test_a_forgotten_session_leaves_what_another_says_too(mem: Memory, holds: Scan) -> None:
    first, second = twice(mem)
    key = only(mem, "ZITHER")
    preview = mem.preview_forget(session="s1")
    kept = [(item.id, item.what, item.words) for item in preview.items if item.fate == "keep"]
    assert kept == [(key, "memory", "I play the zither!"), (second, "source", "I play the zither!")]
    assert {item.words for item in preview.items if item.fate == "erase" and item.what == "memory"} == {
        "I live in Lyon."
    }
    mem.forget(preview.token)
    left = mem.get(key)
    assert (left.content, left.session_id, [source.evidence_id for source in left.sources]) == (
        "I play the zither!",
        "s2",
        [second],
    )
    assert [quote.text for quote in mem.explain(key).quotes] == ["I play the zither!"]
    assert mem.search("what do I play?").memories[0].id == key
    assert not holds(b"I PLAY THE")
    assert not holds(first.encode() + b" ")
    assert not holds(b"Lyon")
    assert mem.check() == []
    assert mem.history(key)[0].id == key
    forgotten(mem, session="s2")
    assert mem.list(include_history=True).memories == ()
    assert not holds(b"zither")


def test_the_memory_itself_takes_all_that_says_it(mem: Memory, holds: Scan) -> None:
    twice(mem)
    forgotten(mem, ids=[only(mem, "ZITHER")])
    assert not holds(b"zither")
    assert not holds(b"ZITHER")
    assert [memory.content for memory in mem.list()] == ["I live in Lyon."]


def test_a_withdrawn_message_leaves_what_another_says_too(mem: Memory, holds: Scan) -> None:
    first, second = twice(mem)
    key, home = only(mem, "ZITHER"), only(mem, "Lyon")
    receipt = mem.withdraw(first, command_id="w1")
    assert receipt.changed == {"withdraw": (first,), "unsupport": (key,)}
    assert mem.withdraw(first, command_id="w1") == receipt
    assert mem.get(key).content == "I play the zither!"
    assert [memory.id for memory in mem.search("zither").memories] == [key]
    with pytest.raises(MemwellError):
        mem.explain(home)
    mem.withdraw(second)
    assert not mem.search("zither").memories
    assert holds(b"I PLAY THE ZITHER")
    forgotten(mem, ids=[key])
    assert not holds(b"ZITHER")
    assert not holds(b"zither")
    assert mem.check() == []


def test_what_changes_meanwhile_makes_the_token_void(mem: Memory) -> None:
    twice(mem)
    token = mem.preview_forget(session="s1").token
    mem.add("I play the zither.", session_id="s3")
    with pytest.raises(MemwellError) as caught:
        mem.forget(token)
    assert caught.value.code == "forget_scope_changed"


@pytest.mark.parametrize("backup_first", [True, False])
def test_bundles_agree_in_either_order(stores: Stores, backup_first: bool) -> None:
    one, two = stores.open("one"), stores.open("two")
    _, second = twice(one)
    key = only(one, "ZITHER")
    one.export_bundle(stores.file("full"))
    forgotten(one, session="s1")
    one.export_bundle(stores.file("less"))
    for name in ("full", "less") if backup_first else ("less", "full"):
        two.apply_import(two.plan_import(stores.file(name)))
    assert two.get(key).content == "I play the zither!"
    assert [source.evidence_id for source in two.get(key).sources] == [second]
    assert [memory.id for memory in two.list(include_history=True)] == [key]
    assert two.apply_import(two.plan_import(stores.file("full"))).replayed
    assert one.apply_import(one.plan_import(stores.file("full"))).replayed
    assert two.check() == []
    data = b"".join(path.read_bytes() for path in stores.folder.iterdir() if path.name.startswith("two"))
    assert b"I PLAY THE" not in data


def test_a_withdrawn_message_makes_the_round_trip(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    first, _ = twice(one)
    one.withdraw(first)
    moved(one, two, stores.file("first"))
    two.export_bundle(stores.file("second"))
    assert stores.file("first").read_bytes() == stores.file("second").read_bytes()
    forgotten(two, ids=[only(two, "zither")])
    data = b"".join(path.read_bytes() for path in stores.folder.iterdir() if path.name.startswith("two"))
    assert b"ZITHER" not in data


SAID = {
    "s1": "I live in Lyon.",
    "s2": "i live in lyon",
    "s3": "Lyon is where I live now.",
    "s4": "yes",
    "s5": "我住在里昂",
}


def record(session: str, text: str | None = None, **fields: Any) -> Evidence:
    return make_evidence(f"ev_{session}", text or SAID[session], session_id=session, **fields)


def memory(*sessions: str, **fields: Any) -> MemoryRecord:
    sources = tuple(Source(f"ev_{s}", 0, len(SAID[s]), START) for s in sessions)
    return make_memory("mem_1", record(sessions[0]), sources=sources, **fields)


@pytest.mark.parametrize(
    ("made", "lost", "words"),
    [
        (memory("s1", "s2"), "s1", "i live in lyon"),
        (memory("s1", "s2"), "s2", "I live in Lyon."),
        (memory("s1", "s3"), "s1", None),
        (memory("s1", "s3", value="Lyon"), "s1", "Lyon is where I live now."),
        (memory("s1", "s3", value="Lyon", subject="sister Ann"), "s1", None),
        (memory("s1", "s4", value="Lyon"), "s1", None),
        (memory("s1", "s4", "s2", value="Lyon"), "s1", "i live in lyon"),
        (memory("s4", "s1", content="You live in Lyon", formed_by=FormedBy.CONFIRMED), "s1", "You live in Lyon"),
        (memory("s1", "s5", value="Lyon"), "s1", None),
        (memory("s1", "s2", formed_by=FormedBy.DERIVED), "s1", None),
        (memory("s1"), "s1", None),
    ],
)
def test_what_says_the_same(made: MemoryRecord, lost: str, words: str | None) -> None:
    evidence = {f"ev_{session}": record(session) for session in SAID}
    left = resting_on_rest(made, lambda source: source.evidence_id == f"ev_{lost}", evidence)
    assert (None if left is None else left.content) == words
    if left is not None:
        assert f"ev_{lost}" not in {source.evidence_id for source in left.sources}


def test_what_no_longer_speaks_keeps_nothing() -> None:
    evidence = {"ev_s2": record("s2", status=EvidenceStatus.WITHDRAWN)}
    assert resting_on_rest(memory("s1", "s2"), lambda source: source.evidence_id == "ev_s1", evidence) is None


def test_other_words_bring_no_more_than_they_say() -> None:
    told = memory(
        "s1",
        "s3",
        value="Lyon",
        qualifiers={"speaker": "Zoë", "with": "my dog", "where": "Lyon"},
        time_expression="since May",
        occurred_at=START,
        extra={"note": "x"},
    )
    evidence = {"ev_s3": record("s3", name="Ann", speaker=Speaker.USER)}
    left = resting_on_rest(told, lambda source: source.evidence_id == "ev_s1", evidence)
    assert left is not None
    assert (left.qualifiers, left.time_expression, left.occurred_at, left.extra) == (
        {"where": "Lyon", "speaker": "Ann"},
        None,
        None,
        {},
    )
    assert "another says the same" in left.formation.reason


STATEMENTS = (
    ("I play the zither.", "i play the zither", "I PLAY THE ZITHER!"),
    ("I own a kayak.", "i own a kayak", "I OWN A KAYAK!"),
    ("我喜欢绿茶。", "我喜欢绿茶", "我喜欢绿茶！"),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("say", "say", "say", "forget session", "forget message", "withdraw", "forget memory")),
        st.integers(0, 2),
        st.integers(0, 2),
        st.integers(0, 3),
    ),
    min_size=3,
    max_size=25,
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=STEPS)
@example(  # a message that was taken back stays when the last one that says it too is forgotten
    steps=[
        ("say", 1, 2, 1),
        ("say", 1, 1, 0),
        ("withdraw", 0, 0, 3),
        ("forget message", 2, 2, 2),
        ("withdraw", 0, 2, 1),
    ]
)
@example(  # taken back, said again, and then forgotten: what was taken back goes too
    steps=[("say", 1, 2, 3), ("withdraw", 2, 0, 0), ("say", 1, 1, 3), ("forget memory", 1, 0, 2)]
)
@example(  # a message that no memory rests on any more goes with the words when they are said again and forgotten
    steps=[
        ("say", 1, 0, 0),
        ("say", 1, 1, 3),
        ("withdraw", 1, 1, 0),
        ("forget session", 0, 2, 3),
        ("say", 1, 0, 1),
        ("forget memory", 1, 2, 2),
    ]
)
def test_a_statement_is_known_as_long_as_a_message_says_it(steps: list[tuple[str, int, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        ids, clock = SequentialIds(), FakeClock(step=timedelta(seconds=1))
        with Memory(path, user_id="alice", embedder=HashEmbedder(), clock=clock, ids=ids) as mem:
            spoken = _lived(mem, steps)
            assert mem.check() == []
            assert mem.clean() == "complete"
        data = path.read_bytes()
        for texts in STATEMENTS:
            for text in texts:
                assert (text.encode() in data) is any(text in said for _, _, said, _ in spoken.values())


def _lived(mem: Memory, steps: list[tuple[str, int, int, int]]) -> dict[str, tuple[int, str, str, bool]]:
    """Carry out ``steps``; every message that is kept, by id: its statement, session, words and whether it counts."""
    spoken: dict[str, tuple[int, str, str, bool]] = {}
    for what, about, form, number in steps:
        session = f"s{number}"
        if what == "say":
            text = STATEMENTS[about][form]
            key = mem.add(text, session_id=session).evidence_ids[0]
            spoken[key] = (about, session, text, True)
        elif what == "forget session" and any(s == session for _, s, _, _ in spoken.values()):
            forgotten(mem, session=session)
            spoken = {key: said for key, said in spoken.items() if said[1] != session}
        elif what in ("forget message", "withdraw") and spoken:
            key = sorted(spoken)[number % len(spoken)]
            if what == "withdraw":
                mem.withdraw(key)
                spoken[key] = (*spoken[key][:3], False)
            else:
                forgotten(mem, evidence=[key])
                del spoken[key]
        elif what == "forget memory":
            found = [m for m in mem.list(include_history=True) if _statement(m.content) == about]
            if found:
                forgotten(mem, ids=[found[0].id])
                spoken = {key: said for key, said in spoken.items() if said[0] != about}
        known = {_statement(memory.content) for memory in mem.list()}
        assert known == {statement for statement, _, _, counts in spoken.values() if counts}
        for memory in mem.list():
            quotes = mem.explain(memory.id).quotes
            assert quotes
            assert memory.content in {quote.text for quote in quotes}
            assert all(spoken[quote.evidence_id][3] for quote in quotes)
    return spoken


def _statement(text: str) -> int:
    (found,) = [number for number, texts in enumerate(STATEMENTS) if normal_form(text) == normal_form(texts[0])]
    return found


def test_copies_of_the_words_that_are_lost_go_and_those_of_what_stays_do_not(mem: Memory, holds: Scan) -> None:
    mem.add("I play the cello with Zebulon. I live in Lyon.", session_id="s1")
    mem.add("I play the cello.", session_id="s2")
    mem.add([{"role": "assistant", "content": 'You told me "I play the cello with Zebulon" last week.'}])
    mem.add([{"role": "assistant", "content": 'You told me "I play the cello" last year.'}])
    asked = 'You said "I play the cello with Zebulon". Do you like jazz?'
    mem.add([{"role": "assistant", "content": asked}, {"role": "user", "content": "Yes."}], session_id="s3")
    mem.forget(mem.preview_forget(session="s1").token)
    assert not holds(b"Zebulon")
    assert holds(b"last year")


def test_a_message_that_does_not_say_enough_by_itself_stays_as_evidence(mem: Memory, holds: Scan) -> None:
    mem.add("We rehearse in the old mill.", session_id="s1")
    (again,) = mem.add("We do rehearse in the old mill!", session_id="s2").evidence_ids
    assert len(mem.get(only(mem, "mill")).sources) == 2
    mem.forget(mem.preview_forget(session="s1").token)
    assert list(mem.list()) == []
    assert [record.id for record in mem.evidence(session_id="s2")] == [again]
    assert not holds(b"We rehearse")


def test_forgetting_a_memory_takes_its_words_from_messages_that_no_memory_rests_on(mem: Memory, holds: Scan) -> None:
    (first,) = mem.add("I own a kayak. I live in Lyon. It rains.", session_id="s1").evidence_ids
    mem.withdraw(first)
    mem.add("I own a kayak!", session_id="s2")
    mem.add([{"role": "user", "content": "I OWN A KAYAK.", "name": "Ann"}], session_id="s3")
    ann, own = [next(m for m in mem.list() if w in m.content) for w in ("OWN", "own")]
    preview = mem.preview_forget(ids=[own.id])
    assert (first, "black_out", "I own a kayak.") in {(item.id, item.fate, item.words) for item in preview.items}
    mem.forget(preview.token)
    assert not holds(b"I own a kayak")
    assert holds(b"It rains")
    assert mem.get(ann.id) == ann
    assert mem.check() == []
