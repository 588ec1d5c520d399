"""Verbs that change memory: add, update, delete."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from memwell.interfaces.cli.options import At, Json, MemoryId, StorePath, User, opened
from memwell.interfaces.cli.output import print_json, print_table, print_text, say

if TYPE_CHECKING:
    from memwell.engine.results import WriteResult

_STATUS = {
    "committed": "stored",
    "known": "nothing new: it was known already",
    "raw_only": "kept as evidence; no memory was formed from it",
}


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the user said; - reads standard input.")],
    user: User = None,
    session: Annotated[str, typer.Option("--session", metavar="ID", help="Conversation it belongs to.")] = "default",
    at: At = None,
    request: Annotated[
        str | None, typer.Option("--request-id", metavar="ID", help="Makes a repeat return the first result.")
    ] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Add what a user said; show what was formed from it."""
    words = _standard_input() if text == "-" else text
    with opened(store, user) as memory:
        result = memory.add(words, session_id=session, at=at, request_id=request)
    _show(result, as_json)


def update(
    memory_id: MemoryId,
    content: Annotated[str, typer.Argument(metavar="TEXT", help="What is true now.")],
    at: At = None,
    user: User = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Let a newer version take over; history keeps the old one."""
    with opened(store, user) as memory:
        result = memory.update(memory_id, content, at=at)
    _show(result, as_json)


def delete(memory_id: MemoryId, user: User = None, store: StorePath = None, as_json: Json = False) -> None:
    """Put a memory away; history keeps it."""
    with opened(store, user) as memory:
        record = memory.delete(memory_id)
    if as_json:
        print_json(record.to_dict())
    else:
        print_text(f"archived {record.id}: {record.content}")


def _standard_input() -> str:
    from memwell.interfaces.importing.reading import decode

    return decode(sys.stdin.buffer.read(), "standard input")


def _show(result: WriteResult, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
        return
    if result.decisions:
        print_table(
            ("id", "action", "kind", "memory"),
            [(d.memory_id or "-", d.action.value, d.kind.value, d.content) for d in result.decisions],
            fixed=("id", "action", "kind"),
        )
    for passage in result.passed:
        say(f"passed over ({passage.reason}): {passage.text}")
    say(_STATUS.get(result.status, result.status) + (" (first result of this request again)" * result.replayed))
