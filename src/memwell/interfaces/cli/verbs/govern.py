"""Verbs that govern memory: permit, correct, retract, mute, forget, receipt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memwell.errors import InputError
from memwell.interfaces.cli.options import A_TIME, Json, MemoryId, StorePath, User, moment, opened, owner_of
from memwell.interfaces.cli.output import (
    print_fields,
    print_json,
    print_table,
    print_text,
    progress,
    say,
    standard_input,
)

if TYPE_CHECKING:
    from memwell.domain.command import Receipt
    from memwell.engine.forgetting import Forgotten, Preview

Command = Annotated[
    str | None, typer.Option("--command-id", metavar="ID", help="Makes a repeat return the first receipt.")
]
Ids = Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Memories, at most 32.")]


def permit(
    evidence_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a source; see `memwell explain`.")],
    local: Annotated[bool | None, typer.Option(help="May it be recalled for a local reader?")] = None,
    cloud: Annotated[bool | None, typer.Option(help="May it be recalled for a cloud endpoint?")] = None,
    infer: Annotated[bool | None, typer.Option(help="May memories be formed from it?")] = None,
    user: User = None,
    command_id: Command = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Set what may be done with a source."""
    if local is cloud is infer is None:
        raise InputError("no right is named", remedy="give --local, --cloud or --infer, or their --no- forms")
    with opened(store, user) as memory:
        receipt = memory.permit(evidence_id, local=local, cloud=cloud, infer=infer, command_id=command_id)
    _show(receipt, as_json)


def correct(
    memory_id: MemoryId,
    content: Annotated[str, typer.Argument(metavar="TEXT", help="What is right.")],
    message: Annotated[
        str | None, typer.Option("--message", metavar="ID", help="The message that says so, which may still come.")
    ] = None,
    session: Annotated[str, typer.Option("--session", metavar="ID", help="Session of that message.")] = "default",
    user: User = None,
    command_id: Command = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Replace a memory that was never true."""
    source = None if message is None else {"message_id": message, "session_id": session, "quote": content}
    with opened(store, user) as memory:
        done = memory.correct(memory_id, content, source=source, command_id=command_id)
    if as_json:
        print_json(done.to_dict())
    elif done.memory_id is None:
        print_text(f"{memory_id} is corrected once message {message} says so (to take that back: {done.evidence_id})")
    else:
        print_text(f"corrected {memory_id}: {done.memory_id}")


def retract(
    memory_id: MemoryId,
    user: User = None,
    command_id: Command = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Withdraw a memory as never true."""
    with opened(store, user) as memory:
        receipt = memory.retract(memory_id, command_id=command_id)
    _show(receipt, as_json)


def unarchive(
    memory_id: MemoryId,
    user: User = None,
    command_id: Command = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Make a memory that was put away current again."""
    with opened(store, user) as memory:
        receipt = memory.unarchive(memory_id, command_id=command_id)
    _show(receipt, as_json)


def mute(
    memory_id: MemoryId,
    undo: Annotated[bool, typer.Option("--undo", help="Let it be recalled again.")] = False,
    user: User = None,
    command_id: Command = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Keep a memory from being recalled."""
    with opened(store, user) as memory:
        receipt = (memory.unmute if undo else memory.mute)(memory_id, command_id=command_id)
    _show(receipt, as_json)


def observe(
    source_key: Annotated[str, typer.Argument(metavar="KEY", help="The host's name of what is observed.")],
    content: Annotated[str, typer.Argument(metavar="TEXT", help="What it is now; - reads standard input.")],
    version: Annotated[int, typer.Option("--version", metavar="N", help="A number that grows with every change.")],
    valid_from: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help=f"Since when it holds: {A_TIME}")
    ] = None,
    valid_until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help=f"Until when it holds: {A_TIME}")
    ] = None,
    cloud: Annotated[bool, typer.Option("--cloud", help="It may be recalled for a cloud endpoint.")] = False,
    session: Annotated[str, typer.Option("--session", metavar="ID", help="The conversation it is of.")] = "default",
    user: User = None,
    command_id: Command = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Keep what is observed, such as a setting, as it is now."""
    text = standard_input() if content == "-" else content
    with opened(store, owner_of(user), make=True) as memory:
        done = memory.observe(
            source_key,
            text,
            version=version,
            valid_from=moment("--from", valid_from),
            valid_until=moment("--until", valid_until),
            permissions={"cloud": cloud},
            session_id=session,
            command_id=command_id,
        )
    if as_json:
        print_json(done.to_dict())
    elif done.receipt is None:
        print_text(f"{source_key} {version} is known: {done.evidence_id}")
    else:
        print_text(f"{source_key} {version} is kept: {done.evidence_id} (receipt {done.receipt.command_id})")


def forget(
    ids: Ids = None,
    source: Annotated[list[str] | None, typer.Option("--source", metavar="ID", help="A source; repeatable.")] = None,
    session: Annotated[str | None, typer.Option("--session", metavar="ID", help="All said in this session.")] = None,
    person: Annotated[str | None, typer.Option("--person", metavar="NAME", help="All about this person.")] = None,
    query: Annotated[str | None, typer.Option("--query", metavar="WORDS", help="All that holds these words.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="All of the user's memory.")] = False,
    yes: Annotated[
        str | None, typer.Option("--yes", metavar="TOKEN", help="Erase what the preview with this token showed.")
    ] = None,
    user: User = None,
    command_id: Command = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Show what forgetting would erase; erase it with --yes TOKEN."""
    named = bool(ids or source or session or person or query or everything)
    if yes is not None and named:
        raise InputError("--yes stands beside targets", remedy="the token names them; give --yes TOKEN alone")
    with opened(store, owner_of(user)) as memory:
        if yes is not None:
            with progress("forget") as advance:
                done = memory.forget(yes, command_id=command_id, progress=advance)
            _show_forgotten(done, as_json)
            return
        preview = memory.preview_forget(
            ids or (), evidence=source or (), session=session, person=person, query=query, everything=everything
        )
    if as_json:
        print_json(preview.to_dict())
    else:
        _show_preview(preview)


def receipt(
    command_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="A command whose receipt to show.")] = None,
    verify: Annotated[
        Path | None, typer.Option("--verify", metavar="FILE", help="Check a receipt in a file, - for standard input.")
    ] = None,
    user: User = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Show a receipt, or check one that was handed on."""
    if (command_id is None) == (verify is None):
        raise InputError("neither or both of ID and --verify are given", remedy="give one of them")
    if verify is not None:
        found = _read(verify)
    else:
        with opened(store, owner_of(user)) as memory:
            found = memory.receipt(command_id or "")
    if as_json or verify is None:
        print_json(found.to_dict())
    else:
        print_text(f"{found.command_id}: the receipt is as it was written ({found.operation}, {found.outcome})")


def _read(path: Path) -> Receipt:
    from memwell.domain.command import read_receipt
    from memwell.errors import ReceiptError
    from memwell.interfaces.importing.reading import read_text

    text = standard_input() if str(path) == "-" else read_text(path)
    try:
        return read_receipt(json.loads(text))
    except ValueError:
        raise ReceiptError(f"{path} holds no JSON", remedy="give a receipt as `memwell receipt ID` prints it") from None


def _show(receipt: Receipt, as_json: bool) -> None:
    if as_json:
        print_json(receipt.to_dict())
    else:
        print_text(f"{receipt.operation} {' '.join(receipt.targets)}: {receipt.outcome} (receipt {receipt.command_id})")


def _show_preview(preview: Preview) -> None:
    print_table(
        ("what", "fate", "words", "id"),
        [(item.what, item.fate.replace("_", " "), item.words, item.id) for item in preview.items],
        words="words",
    )
    say("nothing is erased yet; to erase exactly this for good:")
    print_text(f"memwell forget --yes {preview.token}")


def _show_forgotten(done: Forgotten, as_json: bool) -> None:
    if as_json:
        print_json(done.to_dict())
        return
    counts = {name.replace("_", " "): str(count) for name, count in done.receipt.details.items()}
    print_fields({**counts, "receipt": done.receipt.command_id, "files": done.storage_cleanup})
    if done.storage_cleanup == "pending":
        say("traces are left in the store's log while another program reads; run `memwell doctor --repair` later")
