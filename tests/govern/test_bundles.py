"""Bundles: the same bytes after a round trip, whole or not at all, and what was erased stays erased in any order."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import memwell
from memwell import Memory, MemwellError
from memwell.domain.scope import Scope
from memwell.engine.bundle import unpack
from memwell.errors import BundleError, InputError
from memwell.testing.doubles import FakeClock, HashEmbedder, SequentialIds
from tests.govern.test_forget import forgotten, only

RESTORER = Path(__file__).with_name("restorer.py")


class Stores:
    """Opens memories on files of their own that share a clock."""

    def __init__(self, folder: Path, clock: FakeClock, stack: ExitStack) -> None:
        self.folder, self.clock, self._stack = folder, clock, stack

    def open(self, name: str) -> Memory:
        ids = SequentialIds(f"{name}_")
        memory = Memory(self.folder / name, user_id="alice", embedder=HashEmbedder(), clock=self.clock, ids=ids)
        return self._stack.enter_context(memory)

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.bundle"


@pytest.fixture
def stores(tmp_path: Path, clock: FakeClock) -> Iterator[Stores]:
    with ExitStack() as stack:
        yield Stores(tmp_path, clock, stack)


def lived(mem: Memory, clock: FakeClock) -> None:
    """A life with versions, a correction, muting, permissions, a reply and something forgotten."""
    mem.add([{"role": "user", "content": "I live in Lyon. My sister Ann likes tea.", "id": "m1"}], session_id="s")
    clock.advance(timedelta(days=1))
    mem.update(only(mem, "Lyon"), "I live in Porto.")
    clock.advance(timedelta(days=1))
    mem.correct(only(mem, "Ann"), "My sister Ann likes coffee.", command_id="c1")
    mem.mute(only(mem, "Porto"), command_id="c2")
    found = mem.search("what does Ann like?")
    reply = {"role": "assistant", "content": "Coffee it is.", "id": "m2"}
    mem.add([reply], session_id="s", dependencies=found.dependencies)
    kept = mem.add([{"role": "user", "content": "I play chess.", "id": "m3"}], session_id="s")
    mem.permit(kept.evidence_ids[0], cloud=False)
    mem.add([{"role": "user", "content": "I fear zebras.", "id": "m4"}], session_id="s")
    forgotten(mem, ids=[only(mem, "zebras")])


def moved(source: Memory, target: Memory, file: Path, **where: Any) -> Any:
    source.export_bundle(file)
    return target.apply_import(target.plan_import(file, **where))


def test_a_round_trip_gives_the_same_bytes(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    lived(one, stores.clock)
    done = moved(one, two, stores.file("first"))
    assert not done.replayed
    two.export_bundle(stores.file("second"))
    assert stores.file("first").read_bytes() == stores.file("second").read_bytes()
    assert two.check() == one.check() == []
    assert two.list(include_history=True).memories == one.list(include_history=True).memories
    assert two.search("what does Ann like?").to_dict() == one.search("what does Ann like?").to_dict()
    assert two.receipt("c1") == one.receipt("c1")
    assert two.mute(only(two, "Porto"), command_id="c2") == one.receipt("c2")
    assert two.apply_import(two.plan_import(stores.file("first"))).replayed
    assert two.resume() == 0


def test_a_subject_can_be_renamed(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    lived(one, stores.clock)
    moved(one, two, stores.file("first"), user_id="eve")
    assert two.list().memories == ()
    assert {m.content for m in two.list(user_id="eve").memories} == {m.content for m in one.list().memories}
    with pytest.raises(BundleError) as caught:
        two.plan_import(stores.file("first"))
    assert caught.value.code == "bundle_conflict"


@pytest.mark.parametrize("backup_first", [True, False])
def test_what_was_erased_stays_erased_in_either_order(stores: Stores, backup_first: bool) -> None:
    one, two = stores.open("one"), stores.open("two")
    lived(one, stores.clock)
    one.export_bundle(stores.file("full"))
    forgotten(one, person="Ann")
    one.export_bundle(stores.file("less"))
    for name in ("full", "less") if backup_first else ("less", "full"):
        two.apply_import(two.plan_import(stores.file(name)))
    texts = [memory.content for memory in two.list(include_history=True).memories]
    assert not any("Ann" in text for text in texts)
    assert any("chess" in text for text in texts)
    data = b"".join(path.read_bytes() for path in stores.folder.iterdir() if path.name.startswith("two"))
    for trace in (b"Ann likes", b"Coffee it is"):
        assert trace not in data
    assert two.check() == []
    for message in ("I live in Lyon. My sister Ann likes tea.", "I fear zebras."):
        key = "m1" if "Ann" in message else "m4"
        with pytest.raises(MemwellError) as caught:
            two.add([{"role": "user", "content": message, "id": key}], session_id="s")
        assert caught.value.code == "erased_source"


def test_a_plan_holds_for_the_store_it_was_made_for(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    lived(one, stores.clock)
    one.export_bundle(stores.file("full"))
    plan = two.plan_import(stores.file("full"))
    forgotten(one, person="Ann")
    one.export_bundle(stores.file("less"))
    two.apply_import(two.plan_import(stores.file("less")))
    before = two.list(include_history=True).memories
    with pytest.raises(MemwellError) as caught:
        two.apply_import(plan)
    assert caught.value.code == "portable_plan_stale"
    assert two.list(include_history=True).memories == before


def test_one_id_for_two_records_refuses_the_whole_bundle(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    lived(one, stores.clock)
    moved(one, two, stores.file("full"))
    two.unmute(only(two, "Porto"))
    one.add("I like figs.")
    one.export_bundle(stores.file("full"))
    with pytest.raises(BundleError) as caught:
        two.plan_import(stores.file("full"))
    assert caught.value.code == "bundle_conflict"
    assert not any("figs" in memory.content for memory in two.list().memories)


def test_a_message_that_was_stored_here_with_other_words_refuses_the_whole_bundle(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    one.add([{"role": "user", "content": "I live in Lyon.", "id": "m1"}], session_id="s")
    two.add([{"role": "user", "content": "I live in Rome.", "id": "m1"}], session_id="s")
    one.export_bundle(stores.file("one"))
    with pytest.raises(BundleError) as caught:
        two.plan_import(stores.file("one"))
    assert caught.value.code == "bundle_conflict"


def test_a_message_that_both_stores_were_told_is_kept_once(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    for mem in (one, two):
        mem.add([{"role": "user", "content": "I live in Lyon.", "id": "m1"}], session_id="s")
    moved(one, two, stores.file("one"))
    assert len(two.evidence()) == 1
    assert two.check() == []
    forgotten(two, session="s")
    assert two.list(include_history=True).memories == ()


def test_a_bundle_for_the_cloud_leaves_out_what_may_not_go_there(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    lived(one, stores.clock)
    one.export_bundle(stores.file("cloud"), target="cloud")
    two.apply_import(two.plan_import(stores.file("cloud")))
    texts = [memory.content for memory in two.list(include_history=True).memories]
    assert "I play chess." not in texts
    assert "I live in Lyon." in texts
    assert b"chess" not in gzip.decompress(stores.file("cloud").read_bytes())


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    clock = FakeClock()
    with ExitStack() as stack:
        stores = Stores(tmp_path_factory.mktemp("packed"), clock, stack)
        mem = stores.open("one")
        lived(mem, clock)
        mem.export_bundle(stores.file("full"))
        return stores.file("full").read_bytes()


def repacked(packed: bytes, change: Any) -> bytes:
    return gzip.compress(change(gzip.decompress(packed)))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(share=st.floats(0, 0.9999))
def test_a_bundle_cut_anywhere_is_refused(packed: bytes, share: float) -> None:
    with pytest.raises(BundleError):
        unpack(packed[: int(len(packed) * share)])
    lines = gzip.decompress(packed)
    with pytest.raises(BundleError):
        unpack(gzip.compress(lines[: int(len(lines) * share)]))


def test_a_bundle_cut_at_any_sort_of_boundary_is_refused(packed: bytes) -> None:
    lines = gzip.decompress(packed)
    header = lines.index(b"\n")
    second = lines.index(b"\n", header + 1)
    for end in (0, 1, header, header + 1, header + 2, second, second + 1, len(lines) - 1):
        with pytest.raises(BundleError):
            unpack(gzip.compress(lines[:end]))
    for end in (
        0,
        1,
        2,
        9,
        10,
        11,
        len(packed) // 2,
        len(packed) - 9,
        len(packed) - 8,
        len(packed) - 4,
        len(packed) - 1,
    ):
        with pytest.raises(BundleError):
            unpack(packed[:end])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(place=st.floats(0, 0.9999), byte=st.integers(0, 255))
def test_a_bundle_with_a_changed_byte_is_refused_or_the_same(packed: bytes, place: float, byte: int) -> None:
    lines = bytearray(gzip.decompress(packed))
    lines[int(len(lines) * place)] = byte
    try:
        found = unpack(gzip.compress(bytes(lines)), scope=Scope("alice"))
    except BundleError:
        return
    assert found == unpack(packed, scope=Scope("alice"))


def test_what_is_no_bundle(packed: bytes) -> None:
    newer = repacked(packed, lambda lines: lines.replace(b'"version":1', b'"version":2', 1))
    for data, code in (
        (b"", "bundle_invalid"),
        (b"hello", "bundle_invalid"),
        (gzip.compress(b"hello"), "bundle_invalid"),
        (gzip.compress(b"{}\n"), "bundle_invalid"),
        (packed[:-9], "bundle_truncated"),
        (newer, "bundle_newer"),
        (repacked(packed, lambda lines: lines + b"{}\n"), "bundle_truncated"),
        (gzip.compress(bytes(100 * 1024**2)), "bundle_too_large"),
    ):
        with pytest.raises(BundleError) as caught:
            unpack(data)
        assert caught.value.code == code, data[:40]
    assert json.loads(gzip.decompress(packed).split(b"\n")[0])["format"] == "memwell-bundle"


def test_an_export_replaces_nothing_but_a_bundle(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    note = tmp_path / "note.txt"
    note.write_text("dear diary", encoding="utf-8")
    packed = tmp_path / "chat.json.gz"
    packed.write_bytes(gzip.compress(b"[]"))
    with Memory(store, user_id="alice", embedder=HashEmbedder()) as memory:
        memory.add("I live in Oslo.")
        for path in (store, note, packed, tmp_path, Path()):
            with pytest.raises(InputError):
                memory.export_bundle(path)
        bundle = tmp_path / "alice.bundle"
        assert memory.export_bundle(bundle) == memory.export_bundle(bundle) == bundle.stat().st_size
        assert [item.content for item in memory.search("Where do I live?").memories] == ["I live in Oslo."]
    assert note.read_text(encoding="utf-8") == "dear diary"


def two_users(mem: Memory, clock: FakeClock) -> None:
    lived(mem, clock)
    bob = mem.scoped(user_id="bob", app_id="notes")
    bob.add("I collect zithers. I live in Bonn.")
    forgotten(bob, ids=[only(bob, "zithers")])
    mem.add("我住在上海。", user_id="小李")


def test_a_whole_store_makes_a_round_trip(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    two_users(one, stores.clock)
    assert one.export_bundle(stores.file("all"), whole_store=True) == stores.file("all").stat().st_size
    plan = two.plan_import(stores.file("all"))
    assert [part.bundle.scope.user_id for part in plan.scopes] == ["alice", "小李", "bob"]
    assert plan.warnings == ()
    before = two.list().memories
    assert not two.apply_import(plan).replayed
    assert before == ()
    two.export_bundle(stores.file("again"), whole_store=True)
    assert stores.file("all").read_bytes() == stores.file("again").read_bytes()
    assert two.apply_import(two.plan_import(stores.file("all"))).replayed
    assert [m.content for m in two.scoped(user_id="bob", app_id="notes").list().memories] == ["I live in Bonn."]
    assert "上海" in two.search("我住在哪里？", user_id="小李").text()
    assert two.check() == []
    for name in ("one", "two"):
        data = b"".join(path.read_bytes() for path in stores.folder.iterdir() if path.name.startswith(name))
        assert b"zithers" not in data


def test_an_empty_store_makes_a_round_trip(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    one.export_bundle(stores.file("all"), whole_store=True)
    assert two.apply_import(two.plan_import(stores.file("all"))).replayed
    two.export_bundle(stores.file("again"), whole_store=True)
    assert stores.file("all").read_bytes() == stores.file("again").read_bytes()


def test_a_whole_store_goes_into_no_single_scope(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    two_users(one, stores.clock)
    one.export_bundle(stores.file("all"), whole_store=True)
    with pytest.raises(BundleError) as caught:
        two.plan_import(stores.file("all"), user_id="eve")
    assert caught.value.code == "bundle_of_store"
    with pytest.raises(InputError):
        one.export_bundle(stores.file("x"), whole_store=True, user_id="alice")


def test_a_plan_of_a_whole_store_is_done_altogether_or_refused_at_the_start(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    two_users(one, stores.clock)
    one.export_bundle(stores.file("all"), whole_store=True)
    plan = two.plan_import(stores.file("all"))
    bob = one.scoped(user_id="bob", app_id="notes")
    forgotten(bob, ids=[only(bob, "Bonn")])
    bob.export_bundle(stores.file("bob"))
    their = two.scoped(app_id="notes")
    their.apply_import(their.plan_import(stores.file("bob")))
    with pytest.raises(MemwellError) as caught:
        two.apply_import(plan)
    assert caught.value.code == "portable_plan_stale"
    assert two.list(include_history=True).memories == ()
    two.apply_import(two.plan_import(stores.file("all")))
    assert two.scoped(user_id="bob", app_id="notes").list().memories == ()
    assert len(two.list().memories) == len(one.list().memories)


def test_whose_bundle_it_is_is_said_where_another_user_is_bound(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two").scoped(user_id="eve")
    lived(one, stores.clock)
    one.export_bundle(stores.file("alice"))
    plan = two.plan_import(stores.file("alice"))
    assert any("'alice'" in warning and "'eve'" in warning for warning in plan.warnings)
    two.apply_import(plan)
    assert two.list().memories == ()
    assert two.list(user_id="alice").memories == one.list().memories
    other = stores.open("three").scoped(app_id="else")
    with pytest.raises(BundleError, match="'default'"):
        other.plan_import(stores.file("alice"))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(share=st.floats(0, 0.9999), place=st.floats(0, 0.9999), byte=st.integers(0, 255))
def test_a_whole_store_that_is_cut_or_changed_is_refused(
    packed_store: bytes, share: float, place: float, byte: int
) -> None:
    lines = bytearray(gzip.decompress(packed_store))
    with pytest.raises(BundleError):
        unpack(gzip.compress(bytes(lines[: int(len(lines) * share)])))
    lines[int(len(lines) * place)] = byte
    try:
        found = unpack(gzip.compress(bytes(lines)))
    except BundleError:
        return
    assert found == unpack(packed_store)


@pytest.fixture(scope="module")
def packed_store(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    clock = FakeClock()
    with ExitStack() as stack:
        stores = Stores(tmp_path_factory.mktemp("packed"), clock, stack)
        mem = stores.open("one")
        two_users(mem, clock)
        mem.export_bundle(stores.file("full"), whole_store=True)
        return stores.file("full").read_bytes()


def test_a_whole_store_of_crooked_parts_is_refused(packed_store: bytes) -> None:
    for old, new in (
        (b'"scopes":3', b'"scopes":2'),
        (b'"scopes":3', b'"scopes":"3"'),
        (b'{"scope":{"agent_id"', b'{"scope":{"agent_no"'),
        (b'"session_id":"default"', b'"session_id":42'),
        (b'"start":0', b'"start":"0"'),
    ):
        header, _, content = gzip.decompress(packed_store).partition(b"\n")
        changed = content.replace(old, new)
        head = {**json.loads(header.replace(old, new)), "sha256": hashlib.sha256(changed).hexdigest()}
        with pytest.raises(BundleError) as caught:
            unpack(gzip.compress(json.dumps(head).encode() + b"\n" + changed))
        assert caught.value.code == "bundle_invalid"


def test_what_was_made_elsewhere_of_something_erased_here_stays_out(stores: Stores) -> None:
    one, two = stores.open("one"), stores.open("two")
    one.add("I live in Lyon.")
    one.add("I play chess.")
    moved(one, two, stores.file("first"))
    stores.clock.advance(timedelta(days=1))
    two.update(only(two, "Lyon"), "I live in Quibdo.")
    found = two.search("where do I live?")
    two.add([{"role": "assistant", "content": "A flight from there, then."}], dependencies=found.dependencies)
    waits = {"message_id": "m9", "session_id": "s", "quote": "I live in Wexford."}
    two.correct(only(two, "Quibdo"), source=waits)
    two.export_bundle(stores.file("later"))
    forgotten(one, ids=[only(one, "Lyon")])
    plan = one.plan_import(stores.file("later"))
    assert plan.counts["added"] == 0
    one.apply_import(plan)
    assert [memory.content for memory in one.list(include_history=True).memories] == ["I play chess."]
    data = b"".join(path.read_bytes() for path in stores.folder.iterdir() if path.name == "one")
    assert not any(word in data for word in (b"Quibdo", b"A flight", b"Wexford", b"Lyon"))
    assert one.check() == []


def forged(packed: bytes, change: Any) -> bytes:
    """The bundle with ``change`` made to each of its memories, and a header that fits."""
    lines = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    for line in lines:
        if line.get("type") == "memory":
            change(line)
    content = b"".join(json.dumps(line, sort_keys=True, separators=(",", ":")).encode() + b"\n" for line in lines[1:])
    head = {**lines[0], "sha256": hashlib.sha256(content).hexdigest()}
    return gzip.compress(json.dumps(head).encode() + b"\n" + content)


def test_a_memory_that_its_messages_do_not_say_is_named_in_the_plan(packed: bytes, stores: Stores) -> None:
    two = stores.open("two")
    assert not any("such as" in warning for warning in two.plan_import(_written(stores, packed)).warnings)
    other = forged(packed, lambda line: line.update(content="I owe Mallory a fortune."))
    plan = two.plan_import(_written(stores, other))
    assert any("say what the messages they cite do not, such as " in warning for warning in plan.warnings)


@pytest.mark.parametrize("where", [{"evidence_id": "ev_none"}, {"end": 9999}])
def test_a_memory_that_cites_what_is_not_there_is_refused(packed: bytes, stores: Stores, where: Any) -> None:
    two = stores.open("two")
    broken = forged(packed, lambda line: line["sources"][0].update(where))
    with pytest.raises(BundleError, match="not in the bundle") as caught:
        two.plan_import(_written(stores, broken))
    assert caught.value.code == "bundle_invalid"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"sources": []}, "cites no evidence"),
        ({"revision": 7}, "is at revision 7"),
        ({"content": "  "}, "is empty"),
        ({"valid_until": "1999-01-01T00:00:00+00:00"}, "differs from its last transition"),
        ({"id": "mem_same"}, "is there twice"),
    ],
)
def test_a_memory_that_could_not_be_stored_is_refused_by_its_line(
    packed: bytes, stores: Stores, change: Any, fault: str
) -> None:
    two = stores.open("two")
    lines = gzip.decompress(packed).splitlines()
    numbers = [number for number, line in enumerate(lines, 1) if b'"type":"memory"' in line]
    with pytest.raises(BundleError, match=fault) as caught:
        two.plan_import(_written(stores, forged(packed, lambda line: line.update(change))))
    assert caught.value.code == "bundle_invalid"
    assert f"line {numbers['twice' in fault]}: " in caught.value.message
    assert two.list().memories == ()


def test_links_of_which_one_end_knows_nothing_are_refused(packed: bytes, stores: Stores) -> None:
    two = stores.open("two")
    with pytest.raises(BundleError, match="which does not say so") as caught:
        two.plan_import(_written(stores, forged(packed, lambda line: line["links"].update(superseded_by=[]))))
    assert caught.value.code == "bundle_invalid"


def _written(stores: Stores, data: bytes) -> Path:
    stores.file("forged").write_bytes(data)
    return stores.file("forged")


@pytest.mark.parametrize(
    ("point", "number", "whole"),
    [
        ("sqlite.apply.records_written", 1, 0),
        ("sqlite.apply.before_commit", 2, 1),
        ("sqlite.apply.committed", 2, 2),
        ("sqlite.apply.committed", 3, 3),
    ],
)
def test_a_restore_that_is_killed_is_completed_by_the_next(stores: Stores, point: str, number: int, whole: int) -> None:
    one = stores.open("one")
    two_users(one, stores.clock)
    one.export_bundle(stores.file("all"), whole_store=True)
    arguments = [sys.executable, str(RESTORER), str(stores.folder / "two"), str(stores.file("all")), point, str(number)]
    environment = {**os.environ, "PYTHONPATH": str(Path(memwell.__file__).parents[1])}
    child = subprocess.run(arguments, env=environment, check=False, capture_output=True, text=True, timeout=120)
    assert child.returncode == -signal.SIGKILL
    stores.clock.advance(timedelta(minutes=1))  # until nobody waits for the one that died
    two = stores.open("two")
    assert two.check() == []
    plan = two.plan_import(stores.file("all"))
    assert [part.counts["added"] == 0 for part in plan.scopes] == [True] * whole + [False] * (3 - whole)
    assert (plan.hash == child.stdout.strip()) is (whole == 0)
    two.apply_import(plan)
    two.export_bundle(stores.file("again"), whole_store=True)
    assert stores.file("all").read_bytes() == stores.file("again").read_bytes()
    assert two.apply_import(two.plan_import(stores.file("all"))).replayed
    assert two.check() == []
