"""Databases of other engines as memories to import: the history of mem0, and Chroma, in which several keep theirs.

The files are only read. Each row becomes imported evidence, from which memories are formed like from everything else.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from memwell.errors import InputError
from memwell.interfaces.importing.exports import IMPORTED, OWNER

MAGIC = b"SQLite format 3\x00"
_HISTORY = frozenset({"memory_id", "new_memory", "event", "created_at"})
_CHROMA = frozenset({"id", "key", "string_value", "int_value"})
_KNOWN = "the history database of mem0 and a chroma.sqlite3 of mem0, dual-mem or hy-memory"
_DOCUMENT = "chroma:document"
_TEXTS = ("data", "memory", _DOCUMENT)
_TIMES = ("memory_at", "updated_at", "created_at", "gmt_created")
# What an engine keeps of a conversation word for word, besides the memories it made of it.
_RAW_LAYERS = ("L1_RAW",)
_CURRENT = ("", "ACTIVE", None)


def is_database(path: Path) -> bool:
    """Whether the file begins as an SQLite database does."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False  # whoever reads it says why it cannot be read


def read_database(path: Path) -> list[dict[str, Any]]:
    """The memories that stand in the database of another engine, as messages; what it has deleted is left out.

    Raises:
        InputError: it is of no engine that is known, or cannot be read.
    """
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            if _columns(connection, "history") >= _HISTORY:
                return list(_history(connection))
            if _columns(connection, "embedding_metadata") >= _CHROMA:
                return list(_messages(_chroma(connection)))
            if _columns(connection, "ledger") and _columns(connection, "memories"):
                raise InputError(
                    f"{str(path)!r} is a store of Memwell",
                    remedy="open it with --store, or bring it over with `memwell export --all` and `memwell restore`",
                    code="unknown_format",
                )
    except sqlite3.Error as error:
        raise InputError(f"{str(path)!r} cannot be read as a database: {error}", remedy="give a whole copy") from None
    raise InputError(
        f"{str(path)!r} is a database of no engine that is known",
        remedy=f"known are {_KNOWN}; of others give an export as JSON",
        code="unknown_format",
    )


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    return frozenset(row["name"] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,)))


def _history(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """The last state of every memory; the history names no users, so it is everybody's."""
    deleted = "is_deleted" if "is_deleted" in _columns(connection, "history") else "0"
    updated = "updated_at" if "updated_at" in _columns(connection, "history") else "NULL"
    query = (
        f"SELECT memory_id, new_memory, event, coalesce({updated}, created_at) AS at, {deleted} AS deleted"
        " FROM history ORDER BY rowid"
    )
    last: dict[str, sqlite3.Row] = {}
    for row in connection.execute(query):
        last[row["memory_id"]] = row
    for key, row in last.items():
        if row["event"] != "DELETE" and not row["deleted"] and row["new_memory"]:
            yield _message(key, row["new_memory"], row["at"], None)


def _chroma(connection: sqlite3.Connection) -> Iterator[Mapping[str, Any]]:
    """The metadata of every record, with its document."""
    found: dict[int, dict[str, Any]] = {}
    value = "coalesce(m.string_value, m.int_value, m.float_value)"
    query = (
        f"SELECT e.id, e.embedding_id, m.key, {value} AS value FROM embeddings e JOIN embedding_metadata m USING (id)"
    )
    for row in connection.execute(f"{query} ORDER BY e.id"):
        found.setdefault(row["id"], {"id": row["embedding_id"]})[row["key"]] = row["value"]
    for record in found.values():
        if record.get("status") in _CURRENT and record.get("layer") not in _RAW_LAYERS:
            yield record


def _messages(records: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for record in records:
        text = next((record[name] for name in _TEXTS if record.get(name)), None)
        if text is not None:
            at = next((record[name] for name in _TIMES if record.get(name) not in (None, "", -1)), None)
            owned = {OWNER: str(record["user_id"])} if record.get("user_id") else {}
            yield {**_message(record["id"], text, at, record.get("session_id")), **owned}


def _message(key: object, content: object, at: object, session: object) -> dict[str, Any]:
    fields = {"role": IMPORTED, "content": content, "id": key, "at": at, "session_id": session or None}
    return {name: value for name, value in fields.items() if value is not None}
