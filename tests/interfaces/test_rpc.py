"""RPC over standard input and output, on a child process; its parts alone where a process would show no more."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell import Memory
from memwell.engine.ports import Embedder
from memwell.interfaces.rpc.envelope import MAX_LINE_BYTES, Envelope
from memwell.interfaces.rpc.replay import Replays
from memwell.interfaces.rpc.session import Session
from memwell.interfaces.usecases.table import FILE_CASES, USE_CASES
from tests.interfaces.servers import environment


@pytest.fixture
def bob(tmp_path: Path, embedder: Embedder) -> Iterator[Memory]:
    with Memory(tmp_path / "bob.db", user_id="bob", embedder=embedder) as opened:
        yield opened


@dataclass
class Host:
    """A program that talks to ``memwell rpc``."""

    child: subprocess.Popen[bytes]
    sent: int = 0

    def send(self, method: str, request_id: str | None = None, **params: Any) -> dict[str, Any]:
        self.sent += 1
        request = {"id": request_id or f"r{self.sent}", "method": method, "params": params}
        return self.raw(json.dumps(request, ensure_ascii=False).encode())

    def raw(self, line: bytes) -> dict[str, Any]:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.child.stdin.write(line + b"\n")
        self.child.stdin.flush()
        answer: dict[str, Any] = json.loads(self.child.stdout.readline().decode("ascii"))
        return answer


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    child = subprocess.Popen(
        [sys.executable, "-m", "memwell", "rpc", "--user", "ann"],
        env={**environment(tmp_path), "PYTHONIOENCODING": "cp1252"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    yield Host(child)
    rest, _ = child.communicate(timeout=60)
    assert (rest, child.returncode) == (b"", 0)


def test_a_host_in_another_language_adds_and_finds(host: Host) -> None:
    capabilities = host.send("capabilities")["result"]
    assert capabilities["methods"].keys() == {*USE_CASES, *FILE_CASES}
    added = host.send("add", messages="我住在上海，喜欢喝绿茶。")
    assert added["ok"], added
    found = host.send("search", query="绿茶")
    assert "绿茶" in found["result"]["memories"][0]["content"]
    refused = host.send("get", memory_id="mem_unknown")
    assert (refused["ok"], refused["error"]["code"]) == (False, "not_found")
    assert refused.keys() == {"id", "ok", "error"}
    assert host.send("search", query="x", user_id="eve")["error"]["code"] == "unknown_argument"
    assert host.raw(b"{" * 100)["error"]["code"] == "malformed_json"
    again = host.send("add", "once", messages="I have two cats.")
    repeat = host.send("add", "once", messages="I have two cats.")
    assert repeat["replayed"]
    assert repeat["result"]["memory_ids"] == again["result"]["memory_ids"]
    assert "decisions" not in repeat["result"]
    assert host.send("add", "once", messages="I have three cats.")["error"]["code"] == "idempotency_conflict"


def test_standard_output_holds_answers_alone_whatever_a_library_prints(tmp_path: Path) -> None:
    program = (
        "import os, sys, memwell.engine.recall as recall\n"
        "inner = recall.Recall.search\n"
        "def search(*a, **k):\n"
        "    print('noise', flush=True); os.system('echo noise')\n"
        "    return inner(*a, **k)\n"
        "recall.Recall.search = search\n"
        "from memwell.interfaces.cli import main\n"
        "sys.exit(main(['rpc', '--user', 'ann']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment(tmp_path), "PYTHONIOENCODING": "cp1252"},
        input='{"id": "绿茶", "method": "search", "params": {"query": "绿茶"}}\n'.encode(),
        capture_output=True,
        check=True,
    )
    (line,) = done.stdout.splitlines()
    answer = json.loads(line)
    assert (answer["id"], answer["ok"], answer["result"]["question"]) == ("绿茶", True, "绿茶")
    assert done.stderr.count(b"noise") == 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense", "malformed_json"),
        (b"\xff\xfe", "malformed_json"),
        (b"[" * 100_000, "malformed_json"),
        (b"[]", "malformed_envelope"),
        (b'{"id": "1"}', "malformed_envelope"),
        (b'{"id": 1, "method": "status"}', "malformed_envelope"),
        (b'{"id": "", "method": "status"}', "malformed_envelope"),
        (b'{"id": "1", "method": "status", "params": []}', "malformed_envelope"),
        (b'{"id": "1", "method": "status", "more": 1}', "malformed_envelope"),
        (b'{"id": "1", "method": "close"}', "unknown_method"),
        (b'{"id": "1", "method": "__init__"}', "unknown_method"),
        (b'{"id": "1", "method": "search", "params": {"query": 5}}', "invalid_input"),
        (b'{"id": "1", "method": "search", "params": {}}', "missing_argument"),
        (b'{"id": "1", "method": "search", "params": {"query": "\\ud800"}}', "lone_surrogate"),
        (b'{"id": "\\ud800", "method": "status"}', "malformed_envelope"),
    ],
)
def test_unusable_lines_get_a_stable_code_and_the_next_is_answered(memory: Memory, line: bytes, code: str) -> None:
    answers = io.BytesIO()
    Session(memory, "ann").run(io.BytesIO(line + b"\n\n" + b'{"id": "2", "method": "status"}\n'), answers)
    first, second = (json.loads(answer) for answer in answers.getvalue().splitlines())
    assert first["error"]["code"] == code
    assert second["ok"]
    assert second["id"] == "2"


def test_a_line_that_is_too_long_is_passed_over(memory: Memory) -> None:
    answers = io.BytesIO()
    long = b'{"id": "1", "method": "add", "params": {"messages": "' + b"x" * 3 * MAX_LINE_BYTES + b'"}}\n'
    Session(memory, "ann").run(io.BytesIO(long + b'{"id": "2", "method": "status"}\n'), answers)
    first, second = (json.loads(answer) for answer in answers.getvalue().splitlines())
    assert first["error"]["code"] == "line_too_long"
    assert second["ok"]


def test_a_change_is_done_once_however_often_it_is_sent(memory: Memory) -> None:
    session = Session(memory, "ann")
    (memory_id,) = memory.add("I live in Lyon.").memory_ids
    request = {"id": "1", "method": "update", "params": {"memory_id": memory_id, "content": "I live in Rome."}}
    line = json.dumps(request).encode()
    first, *repeats = [session.answer(line) for _ in range(4)]
    assert not first["replayed"]
    assert all(repeat["replayed"] for repeat in repeats)
    assert {*repeats[0]["result"]["memory_ids"]} == {*first["result"]["memory_ids"]}
    assert "Rome" not in json.dumps(repeats)
    assert len(memory.history(memory_id)) == 2


@given(st.lists(st.sampled_from("abcdef"), max_size=30))
def test_the_cache_is_bounded_and_keeps_no_words(ids: list[str]) -> None:
    replays = Replays(size=3)
    for request_id in ids:
        envelope = Envelope(request_id, "add", {"messages": "words"})
        if replays.answer(envelope) is None:
            replays.keep(envelope, {"memory_ids": ["m"], "content": "words", "decisions": [{"content": "words"}]})
        assert replays.answer(envelope) == {"memory_ids": ["m"]}
    assert sum(replays.answer(Envelope(i, "add", {"messages": "words"})) is not None for i in "abcdef") <= 3


def test_a_host_carries_a_bundle_from_one_session_to_another(memory: Memory, bob: Memory, tmp_path: Path) -> None:
    """Files are named, and what is taken in becomes the user's of the session."""
    file = str(tmp_path / "alice.bundle")

    def ask(session: Session, request_id: str, method: str, **params: Any) -> Any:
        answer = session.answer(json.dumps({"id": request_id, "method": method, "params": params}).encode())
        return answer["result"] if answer["ok"] else answer["error"]["code"]

    memory.add("I live in Lyon. 我喜欢喝绿茶。")
    alice = Session(memory, "alice")
    assert ask(alice, "1", "export_bundle", path=file)["bytes"] == Path(file).stat().st_size
    session = Session(bob, "bob")
    planned = ask(session, "1", "plan_import", path=file)
    assert planned["scopes"][0]["scope"]["user_id"] == "bob"
    assert len(bob.list()) == 0
    assert ask(session, "2", "apply_import", path=file, hash="another") == "portable_plan_stale"
    done = ask(session, "3", "apply_import", path=file, hash=planned["hash"])
    assert done == {"counts": planned["counts"], "replayed": False}
    assert ask(session, "3", "apply_import", path=file, hash=planned["hash"]) == done
    assert ask(session, "1", "plan_import", path=file) == {name: planned[name] for name in ("hash", "counts")}
    assert {record.content for record in bob.list()} == {record.content for record in memory.list()}
    assert ask(session, "3b", "apply_import", path=file, hash=planned["hash"])["replayed"]
    memory.add("I play chess.")
    assert ask(alice, "2", "export_bundle", path=str(tmp_path / "other.bundle"))["bytes"]
    other = ask(session, "3c", "plan_import", path=str(tmp_path / "other.bundle"))["hash"]
    assert other != planned["hash"]
    for wrong in (other, "another", ""):
        assert ask(session, f"3d {wrong}", "apply_import", path=file, hash=wrong) == "portable_plan_stale"
    assert ask(session, "4", "plan_import", path=file, user_id="alice") == "unknown_argument"
    assert ask(session, "5", "plan_import", path=str(tmp_path / "none")) == "invalid_input"
    assert ask(session, "6", "plan_import") == "missing_argument"
    for method in ("plan_import", "export_bundle"):
        assert ask(session, f"nul {method}", method, path="a\0b") == "invalid_input"
    (tmp_path / "torn").write_bytes(Path(file).read_bytes()[:-9])
    assert ask(session, "7", "plan_import", path=str(tmp_path / "torn")).startswith("bundle_")
    assert ask(session, "8", "export_bundle", path=memory.status().location) == "invalid_input"
    memory.export_bundle(tmp_path / "all.bundle", whole_store=True, user_id=None)
    assert ask(session, "9", "plan_import", path=str(tmp_path / "all.bundle")) == "bundle_of_store"
