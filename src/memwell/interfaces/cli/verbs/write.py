"""Verbs that change memory: add, update, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memwell.errors import InputError
from memwell.interfaces.cli.options import At, Json, MemoryId, StorePath, User, moment, opened, owner_of
from memwell.interfaces.cli.output import print_json, print_table, print_text, say, standard_input

if TYPE_CHECKING:
    from memwell.domain.decision import Decision
    from memwell.engine.results import WriteResult
    from memwell.interfaces.python.memory import Memory

_STATUS = {
    "committed": "stored",
    "known": "nothing new: it was known already",
    "raw_only": "kept as evidence; no memory was formed from it",
    "pending": "kept as evidence; `memwell worker` forms memories from it",
}


def add(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What the user said; - reads standard input.")],
    user: User = None,
    session: Annotated[str, typer.Option("--session", metavar="ID", help="Conversation it belongs to.")] = "default",
    at: At = None,
    request: Annotated[
        str | None, typer.Option("--request-id", metavar="ID", help="Makes a repeat return the first result.")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Form memories now, or leave it to a worker.")] = True,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Add what a user said; show what was formed from it."""
    words = standard_input() if text == "-" else text
    if not words.strip():
        raise InputError("the text is empty", remedy="give what the user said", code="empty_text")
    with opened(store, owner_of(user), make=True) as memory:
        result = memory.add(words, session_id=session, at=moment("--at", at), request_id=request, wait=wait)
        _show(memory, result, as_json)


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
        result = memory.update(memory_id, content, at=moment("--at", at))
        _show(memory, result, as_json)


def delete(memory_id: MemoryId, user: User = None, store: StorePath = None, as_json: Json = False) -> None:
    """Put a memory away; history keeps it."""
    with opened(store, user) as memory:
        record = memory.delete(memory_id)
    if as_json:
        print_json(record.to_dict())
    else:
        print_text(f"archived {record.id}: {record.content}")


def _show(memory: Memory, result: WriteResult, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
        return
    if result.decisions:
        print_table(
            ("id", "action", "kind", "memory"),
            [(d.memory_id or "-", d.action.value, d.kind.value, _words(memory, d)) for d in result.decisions],
            words="memory",
        )
    for passage in result.passed:
        say(f"passed over ({passage.reason}): {passage.text}")
    say(_STATUS.get(result.status, result.status) + (" (first result of this request again)" * result.replayed))


def _words(memory: Memory, decision: Decision) -> str:
    """What a row says beside an id: of something known, also how the memory of that id puts it."""
    if decision.action != "SKIP" or decision.memory_id is None:
        return decision.content
    known = memory.get(decision.memory_id).content
    return (
        f"already known as: {known}" if known == decision.content else f"{decision.content} (already known as: {known})"
    )
