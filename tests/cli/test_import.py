"""Importing chats: all of it once, and every item that is left behind named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.harness import Cli

TURNS: Sequence[dict[str, Any]] = (
    {"role": "user", "content": "I live in Lyon.", "at": "2025-01-10T09:00:00Z"},
    {"role": "assistant", "content": "Nice city.", "at": "2025-01-10T09:00:05Z"},
    {"role": "user", "content": "我对花生过敏。", "at": "2025-01-11T09:00:00Z"},
    {"role": "system", "content": "Be brief."},
)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write(tmp_path / "chat.json", json.dumps(TURNS, ensure_ascii=False, indent=1))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def evidence(cli: Cli) -> int:
    return int(cli.ok("status", "--json").json["evidence"])


def contents(cli: Cli) -> list[str]:
    return sorted(record["content"] for record in cli.ok("list", "--json").json["memories"])


def test_a_chat_is_imported_with_its_times(cli: Cli, chat: Path) -> None:
    report = cli.ok("import", str(chat), "--json").json
    assert (report["messages"], report["stored"], report["left_out"]) == (4, 3, 1)
    assert report["problems"] == []
    assert contents(cli) == ["I live in Lyon.", "我对花生过敏。"]
    said = {record["memory_at"] for record in cli.ok("list", "--json").json["memories"]}
    assert said == {"2025-01-10T09:00:00+00:00", "2025-01-11T09:00:00+00:00"}


def test_importing_again_doubles_nothing(cli: Cli, chat: Path) -> None:
    cli.ok("import", str(chat))
    before = (evidence(cli), cli.ok("list", "--all", "--json").json)
    report = cli.ok("import", str(chat), "--json").json
    assert (report["stored"], report["known"], report["formed"]) == (3, 3, 0)
    assert (evidence(cli), cli.ok("list", "--all", "--json").json) == before


def test_an_import_that_stopped_goes_on(cli: Cli, chat: Path) -> None:
    cli.ok("import", str(chat), "--limit", "1")
    assert contents(cli) == ["I live in Lyon."]
    cli.ok("import", str(chat))
    assert evidence(cli) == 3
    assert contents(cli) == ["I live in Lyon.", "我对花生过敏。"]
    sources = [len(record["sources"]) for record in cli.ok("list", "--json").json["memories"]]
    assert sources == [1, 1]


def test_a_chat_that_has_grown_brings_only_what_is_new(cli: Cli, chat: Path) -> None:
    cli.ok("import", str(chat))
    grown = [{"role": "user", "content": "I have two cats.", "at": "2025-01-01T09:00:00Z"}, *TURNS]
    write(chat, json.dumps(grown))
    cli.ok("import", str(chat))
    assert evidence(cli) == 4
    assert contents(cli) == ["I have two cats.", "I live in Lyon.", "我对花生过敏。"]


def test_one_thing_said_twice_is_two_messages(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path / "twice.json", json.dumps([TURNS[0], TURNS[0]]))
    cli.ok("import", str(file))
    assert evidence(cli) == 2
    assert contents(cli) == ["I live in Lyon."]


def test_bad_items_are_named_and_the_rest_is_imported(cli: Cli, tmp_path: Path) -> None:
    lines = [
        json.dumps(TURNS[0]),
        "{broken",
        json.dumps({"role": "wizard", "content": "x"}),
        json.dumps({"role": "user", "content": "bell \x07"}),
        json.dumps({"role": "user", "content": "I own a boat.", "at": "2025-01-10T09:00:00"}),
        json.dumps(TURNS[2]),
    ]
    file = write(tmp_path / "chat.jsonl", "\n".join(lines))
    done = cli("import", str(file), "--json")
    assert done.code == 7
    assert [problem["line"] for problem in done.json["problems"]] == [2, 3, 4, 5]
    assert contents(cli) == ["I live in Lyon.", "我对花生过敏。"]
    shown = cli("import", str(file))
    assert shown.code == 7
    assert "line 3, message 3: " in shown.err
    assert "'wizard'" in shown.err
    assert "4 items were not imported" in shown.err


def test_a_message_that_contradicts_its_stored_id_is_left_out_alone(cli: Cli, tmp_path: Path) -> None:
    first = [{"role": "user", "content": "I live in Lyon.", "id": "m1"}]
    cli.ok("import", str(write(tmp_path / "chat.json", json.dumps(first))))
    changed = [
        {"role": "user", "content": "I have two cats.", "id": "m0"},
        {"role": "user", "content": "I live in Oslo.", "id": "m1"},
        {"role": "user", "content": "我对花生过敏。", "id": "m2"},
    ]
    done = cli("import", str(write(tmp_path / "chat.json", json.dumps(changed, indent=0))), "--json")
    assert done.code == 7
    assert len(done.json["problems"]) == 1
    assert contents(cli) == ["I have two cats.", "I live in Lyon.", "我对花生过敏。"]


def test_many_messages_go_in_batches(cli: Cli, tmp_path: Path) -> None:
    turns = [{"role": "assistant", "content": f"Remark number {number}."} for number in range(450)]
    report = cli.ok("import", str(write(tmp_path / "long.json", json.dumps(turns))), "--json").json
    assert report["stored"] == 450
    assert evidence(cli) == 450


def test_gzipped_benchmark_documents_keep_their_sessions(cli: Cli, tmp_path: Path) -> None:
    turns = [
        {"id": "a:1", "session": "a", "speaker": "Ann", "role": "user", "at": "2025-01-10T09:00:00Z", "text": "I row."},
        {"id": "b:1", "session": "b", "speaker": "Ann", "role": "user", "at": None, "text": "I live in Lyon."},
    ]
    file = tmp_path / "doc.json.gz"
    file.write_bytes(gzip.compress(json.dumps({"id": "doc", "turns": turns, "questions": []}).encode()))
    cli.ok("import", str(file))
    found = cli.ok("search", "Lyon", "--raw", "5", "--json").json["raw"]
    assert {(item["session_id"], item["message_id"]) for item in found} >= {("b", "b:1")}
    cli.ok("import", str(file), "--session", "all")


def test_a_text_of_two_people_needs_to_know_who_the_user_is(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path / "chat.txt", "Maria: I live in Lyon.\nBob: I live in Oslo.\n")
    refused = cli("import", str(file))
    assert refused.code == 1
    assert "Maria, Bob" in refused.err
    cli.ok("import", str(file), "--me", "Maria")
    assert contents(cli) == ["I live in Lyon."]
    assert evidence(cli) == 2


def test_an_empty_file_is_refused(cli: Cli, tmp_path: Path) -> None:
    for text in ("", "\n\n", "[]"):
        assert cli("import", str(write(tmp_path / "empty.json", text))).code == 1


@pytest.mark.parametrize("text", ["null", " 5\n", "-1.5e3", "true", "[1, 2]", "[\n1,\n2\n]", "{}", '{"a": 1}'])
def test_json_that_is_no_chat_is_refused(cli: Cli, tmp_path: Path, text: str) -> None:
    done = cli("import", str(write(tmp_path / "data.json", text)))
    assert done.code == 1
    assert "no chat in 'data.json'" in done.err
    assert "'role' and 'content'" in done.err
    assert not cli.store.exists()


@pytest.mark.parametrize(
    "text", ["[1] I live in Lyon.", "5 cats live with me.", '"I live in Lyon," she said.', "我住在上海。"]
)
def test_a_text_that_is_no_chat_is_taken_only_where_that_is_said(cli: Cli, tmp_path: Path, text: str) -> None:
    file = str(write(tmp_path / "note.txt", text))
    done = cli("import", file, "--json")
    assert (done.code, json.loads(done.err)["error"]["code"]) == (1, "unknown_format")
    for known in ("--format text", "JSON lines", "Name: words", "ChatGPT", "mem0"):
        assert known in done.err
    assert not cli.store.exists()
    cli.ok("import", file, "--format", "text")
    assert evidence(cli) == 1


def test_nothing_to_read_is_called_empty(cli: Cli) -> None:
    assert "'null' is empty" in cli("import", "/dev/null").err


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input_is_imported(cli: Cli, pack: Callable[[bytes], bytes]) -> None:
    chat = pack(json.dumps(TURNS, ensure_ascii=False).encode())
    assert cli.ok("import", "-", "--json", stdin=chat).json["stored"] == 3
    assert cli.ok("import", "-", "--json", stdin=chat).json["known"] == 3
    assert contents(cli) == ["I live in Lyon.", "我对花生过敏。"]


def test_a_bad_message_of_json_on_one_line_is_named_by_its_number(cli: Cli, tmp_path: Path) -> None:
    turns = [TURNS[0], {"role": "wizard", "content": "x"}, {"role": "user"}, TURNS[2]]
    file = write(tmp_path / "chat.json", json.dumps(turns))
    done = cli("import", str(file), "--json")
    assert done.code == 7
    assert [(problem["line"], problem["message"]) for problem in done.json["problems"]] == [(1, 2), (1, 3)]
    shown = cli("import", str(file)).err
    assert "line 1, message 2: has the role 'wizard'" in shown
    assert "line 1, message 3: " in shown


@pytest.mark.parametrize("which", [(), ("--all",)])
def test_a_bundle_is_no_chat(cli: Cli, chat: Path, tmp_path: Path, which: Sequence[str]) -> None:
    cli.ok("import", str(chat))
    stored = evidence(cli)
    bundle = tmp_path / "mine.bundle"
    cli.ok("export", str(bundle), *which)
    refused = cli("import", str(bundle))
    assert "memwell restore" in refused.err
    assert evidence(cli) == stored
