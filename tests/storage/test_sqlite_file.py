"""The file: its settings, its schema, and what is refused without touching it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from memwell.errors import NotAStoreError, SchemaError, StorageError, StoreBusyError, StoreFullError
from memwell.storage.sqlite import SqliteStore
from memwell.storage.sqlite.connection import Connections
from memwell.storage.sqlite.migrate import migrations, statements
from memwell.testing.doubles import FakeClock, HashEmbedder, make_plan, statement

EMBEDDER = HashEmbedder()
CLOCK = FakeClock()


def _fill(store: SqliteStore, count: int = 3) -> None:
    for number in range(count):
        store.apply(make_plan(f"p{number}", *statement(str(number), f"Statement {number}", EMBEDDER)))


@pytest.mark.parametrize(
    ("pragma", "value"),
    [
        ("journal_mode", "wal"),
        ("synchronous", 2),  # FULL
        ("foreign_keys", 1),
        ("secure_delete", 1),
        ("busy_timeout", 7000),
    ],
)
def test_every_connection_is_set_up_for_durability(path: Path, pragma: str, value: object) -> None:
    SqliteStore(path, clock=CLOCK).close()
    connections = Connections(path, busy_timeout=7.0, max_bytes=None)
    with connections.write() as writer, connections.read() as reader:
        for connection in (writer, reader):
            assert connection.execute(f"PRAGMA {pragma}").fetchone()[0] == value
    connections.close()


def test_the_ledger_is_append_only(store: SqliteStore, path: Path) -> None:
    _fill(store)
    with closing(sqlite3.connect(path)) as connection:
        for change in ("UPDATE ledger SET at = 0", "DELETE FROM ledger"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(change)


def test_the_ledger_holds_no_text(store: SqliteStore, path: Path) -> None:
    store.apply(make_plan("p1", *statement("1", "xylophone", EMBEDDER)))
    with closing(sqlite3.connect(path)) as connection:
        lines = connection.execute("SELECT * FROM ledger").fetchall()
    assert len(lines) == 2
    assert "xylophone" not in repr(lines)


def test_content_hashes_are_keyed_by_store(tmp_path: Path) -> None:
    hashes: set[bytes] = set()
    for name in ("a.db", "b.db"):
        store = SqliteStore(tmp_path / name, clock=CLOCK)
        store.apply(make_plan("p1", *statement("1", "xylophone", EMBEDDER)))
        store.close()
        with closing(sqlite3.connect(tmp_path / name)) as connection:
            hashes.update(row[0] for row in connection.execute("SELECT DISTINCT content_hash FROM ledger"))
    assert len(hashes) == 2


def test_missing_folders_are_made(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "a" / "b" / "memories.db", clock=CLOCK)
    _fill(store)
    assert store.check() == []
    store.close()


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    SqliteStore(path, clock=CLOCK).close()
    store = SqliteStore(path, clock=CLOCK)
    _fill(store)
    assert store.check() == []
    store.close()


def _snapshot(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_newer_schema_is_refused_untouched(path: Path) -> None:
    SqliteStore(path, clock=CLOCK).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = _snapshot(path.parent)
    with pytest.raises(SchemaError, match="schema 99"):
        SqliteStore(path, clock=CLOCK)
    assert _snapshot(path.parent) == before


def test_an_unknown_schema_is_refused_untouched(path: Path) -> None:
    SqliteStore(path, clock=CLOCK).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE schema_migrations SET hash = 'other'")
    before = _snapshot(path.parent)
    with pytest.raises(SchemaError, match="does not know"):
        SqliteStore(path, clock=CLOCK)
    assert _snapshot(path.parent) == before


@pytest.mark.parametrize("content", [b"hello", b"SQLite format 3\x00 but no more", os.urandom(5000)])
def test_what_is_no_database_is_refused_untouched(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(NotAStoreError):
        SqliteStore(path, clock=CLOCK)
    assert _snapshot(path.parent) == {path.name: content}


def test_another_programs_database_is_refused_untouched(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE notes (text)")
    before = _snapshot(path.parent)
    with pytest.raises(NotAStoreError):
        SqliteStore(path, clock=CLOCK)
    assert _snapshot(path.parent) == before


def test_a_folder_in_the_way_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be opened") as caught:
        SqliteStore(tmp_path, clock=CLOCK)
    assert str(tmp_path) in caught.value.message
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="cannot be opened"):
        SqliteStore(tmp_path / "file" / "memories.db", clock=CLOCK)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="rights do not bind the superuser")
def test_a_folder_without_rights_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o500)
    with pytest.raises(StorageError) as caught:
        SqliteStore(folder / "memories.db", clock=CLOCK)
    assert str(folder) in caught.value.message


def test_a_damaged_file_is_reported(path: Path) -> None:
    store = SqliteStore(path, clock=CLOCK)
    _fill(store, 50)
    store.close()
    content = bytearray(path.read_bytes())
    content[3 * 4096 :] = os.urandom(len(content) - 3 * 4096)
    path.write_bytes(bytes(content))
    with pytest.raises(StorageError, match="damaged"):
        SqliteStore(path, clock=CLOCK).check()


def test_a_full_store_keeps_what_it_has(path: Path) -> None:
    store = SqliteStore(path, clock=CLOCK, max_bytes=400_000)
    applied: list[str] = []

    def fill() -> None:
        for number in range(1000):
            store.apply(make_plan(f"p{number}", *statement(str(number), "word " * 200, EMBEDDER)))
            applied.append(f"mem_{number}")

    with pytest.raises(StoreFullError, match=path.name):
        fill()
    with store.view() as view:
        assert len(view.memories(applied)) == len(applied) == view.stats()["memories"] > 0
    assert store.check() == []
    store.close()
    roomy = SqliteStore(path, clock=CLOCK)
    _fill(roomy, len(applied) + 5)
    roomy.close()


def test_a_file_locked_for_too_long_is_reported(path: Path) -> None:
    store = SqliteStore(path, clock=CLOCK, busy_timeout=0.1)
    _fill(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match="locked"):
            store.apply(make_plan("p9", *statement("9", "late", EMBEDDER)))
        with store.view() as view:
            assert view.stats()["memories"] == 3
        other.execute("ROLLBACK")
    store.apply(make_plan("p9", *statement("9", "late", EMBEDDER)))
    store.close()


def test_a_broken_record_is_found(store: SqliteStore, path: Path) -> None:
    _fill(store)
    breaks = {
        "without a source": "DELETE FROM sources WHERE memory = 1",
        "cites characters": "UPDATE sources SET end_char = 9999 WHERE memory = 2",
        "one per revision": "DELETE FROM transitions WHERE memory = 3",
        "lacks or adds": "DELETE FROM memory_words_docsize WHERE id = 2",
        "words of assistants": "INSERT INTO context_words (rowid, words) VALUES (2, 's1stea')",
        "the other end lacks": "INSERT INTO links VALUES (1, 'supersedes', 0, 2)",
        "supersedes itself": "INSERT INTO links VALUES (2, 'supersedes', 0, 1)",
    }
    with closing(sqlite3.connect(path)) as connection, connection:
        for sql in breaks.values():
            connection.execute(sql)
    problems = store.check()
    for words in breaks:
        assert any(words in problem for problem in problems), words


def test_closing_leaves_one_file(path: Path) -> None:
    store = SqliteStore(path, clock=CLOCK)
    with store.view():
        _fill(store)
    with store.view() as one, store.view() as two:
        assert one.stats() == two.stats()
    store.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_statements_are_cut_where_they_end() -> None:
    for migration in migrations():
        for sql in statements(migration.sql):
            assert sqlite3.complete_statement(sql)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_uses_connections_of_its_own(path: Path) -> None:
    script = """
import os, sys
from memwell.storage.sqlite import SqliteStore
from memwell.testing.doubles import FakeClock, HashEmbedder, make_plan, statement
store = SqliteStore(sys.argv[1], clock=FakeClock())
embedder = HashEmbedder()
store.apply(make_plan("p1", *statement("1", "before the fork", embedder)))
with store.view() as view:
    pid = os.fork()
    if pid == 0:
        store.apply(make_plan("p2", *statement("2", "in the child", embedder)))
        with store.view() as own:
            assert own.stats()["memories"] == 2
        store.close()
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert view.stats()["memories"] == 1
store.apply(make_plan("p3", *statement("3", "in the parent", embedder)))
with store.view() as view:
    assert view.stats()["memories"] == 3
assert store.check() == []
store.close()
"""
    subprocess.run([sys.executable, "-c", script, str(path)], check=True, timeout=60)
