"""Databases of other engines, small ones in their shapes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.harness import Cli

HISTORY = """CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
    created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"""
CHROMA = """
CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT, embedding_id TEXT, seq_id BLOB, created_at TIMESTAMP);
CREATE TABLE embedding_metadata (id INTEGER, key TEXT, string_value TEXT, int_value INTEGER, float_value REAL,
    bool_value INTEGER, PRIMARY KEY (id, key));
"""


def history(path: Path, *rows: tuple[str, str | None, str | None, str, str, int]) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(HISTORY)
        for number, (memory, old, new, event, at, deleted) in enumerate(rows):
            row = (str(number), memory, old, new, event, at, None, deleted, None, "user")
            connection.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()
    return path


def chroma(path: Path, *records: dict[str, Any]) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(CHROMA)
        for number, record in enumerate(records, 1):
            key = record.pop("id")
            connection.execute("INSERT INTO embeddings VALUES (?, 's', ?, NULL, NULL)", (number, key))
            for name, value in record.items():
                text, whole = (value, None) if isinstance(value, str) else (None, value)
                row = (number, name, text, whole)
                connection.execute("INSERT INTO embedding_metadata VALUES (?, ?, ?, ?, NULL, NULL)", row)
        connection.commit()
    return path


def contents(cli: Cli) -> list[str]:
    return sorted(memory["content"] for memory in cli.ok("list", "--json").json["memories"])


def test_the_history_of_mem0_gives_the_last_state_of_each_memory(cli: Cli, tmp_path: Path) -> None:
    file = history(
        tmp_path / "history.db",
        ("a", None, "I live in Lyon", "ADD", "2025-02-01T10:00:00-08:00", 0),
        ("b", None, "I own a cat", "ADD", "2025-02-01T10:00:01-08:00", 0),
        ("c", None, "I play the cello", "ADD", "2025-02-01T10:00:02-08:00", 0),
        ("a", "I live in Lyon", "I live in Oslo", "UPDATE", "2025-02-02T10:00:00-08:00", 0),
        ("b", "I own a cat", None, "DELETE", "2025-02-03T10:00:00-08:00", 1),
        ("d", None, "我喜欢喝绿茶", "ADD", "2025-02-04T10:00:00-08:00", 0),
    )
    before = file.read_bytes()
    for _ in range(2):
        cli.ok("import", str(file))
        assert contents(cli) == ["I live in Oslo", "I play the cello", "我喜欢喝绿茶"]
    assert file.read_bytes() == before
    (memory,) = [m for m in cli.ok("list", "--json").json["memories"] if "Oslo" in m["content"]]
    assert memory["memory_at"].startswith("2025-02-02T18:00")


def test_a_time_without_a_zone_needs_one(cli: Cli, tmp_path: Path) -> None:
    file = history(tmp_path / "history.db", ("a", None, "I live in Lyon", "ADD", "2025-02-01T10:00:00", 0))
    refused = cli("import", str(file))
    assert (refused.code, "--timezone" in refused.err) == (1, True)
    cli.ok("import", str(file), "--timezone", "UTC")


def test_memories_in_chroma_are_those_of_the_user(cli: Cli, tmp_path: Path) -> None:
    dual = {"user_id": "ann", "status": "ACTIVE", "layer": "L2_FACT", "session_id": "s9", "gmt_created": 1735725601}
    file = chroma(
        tmp_path / "chroma.sqlite3",
        {"id": "m1", "data": "I play the cello", "user_id": "ann", "created_at": "2025-02-01T10:00:00+00:00"},
        {"id": "n1", "chroma:document": "I own two cats", "memory_at": -1, **dual},
        {"id": "n2", "chroma:document": "I owned a dog", **dual, "status": "SUPERSEDED"},
        {"id": "n3", "chroma:document": "Hi! I own two cats, you know.", **dual, "layer": "L1_RAW"},
        {"id": "n4", "chroma:document": "I like rain", **dual, "user_id": "bob"},
        {"id": "n5", **dual},
    )
    cli.ok("import", str(file))
    assert contents(cli) == ["I own two cats", "I play the cello"]
    refused = cli("import", str(file), "--user", "eve")
    assert (refused.code, "ann, bob" in refused.err) == (1, True)
    cli.ok("import", str(file), "--user", "eve", "--me", "bob")
    assert "I like rain" in cli.ok("list", "--user", "eve").out


def test_other_databases_are_refused(cli: Cli, tmp_path: Path) -> None:
    cli.ok("add", "I live in Lyon.")
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE stuff (x)")
    torn = history(tmp_path / "torn.db", *[("a", None, "I live in Lyon" * 500, "ADD", "2025-02-01T10:00:00Z", 0)] * 3)
    torn.write_bytes(torn.read_bytes()[:6000])
    for file, words in ((tmp_path / "other.db", "no engine"), (cli.store, "a store of Memwell"), (torn, "database")):
        done = cli("import", str(file), "--json")
        assert done.code == 1
        assert words in json.loads(done.err)["error"]["message"]
    assert contents(cli) == ["I live in Lyon."]
    empty = history(tmp_path / "empty.db")
    assert cli("import", str(empty)).code == 1


@pytest.mark.parametrize("name", ["none.db", "."])
def test_what_cannot_be_opened_is_refused(cli: Cli, tmp_path: Path, name: str) -> None:
    assert cli("import", str(tmp_path / name)).code == 1
