"""The verb import."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import tzinfo
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from memwell.errors import InputError
from memwell.interfaces.cli.exits import ExitCode, StoppedError
from memwell.interfaces.cli.options import Json, StorePath, User, opened, owner_of
from memwell.interfaces.cli.output import print_fields, print_json, progress, say, standard_input
from memwell.interfaces.importing.databases import is_database, read_database
from memwell.interfaces.importing.formats import Format, is_transcript, parse, records, sniff
from memwell.interfaces.importing.items import Item, Message
from memwell.interfaces.importing.reading import read_text

if TYPE_CHECKING:
    from memwell.interfaces.importing.writing import Report

_FORMATS = (
    "messages with 'role' and 'content' as JSON or JSON lines, lines of Name: words, an export of ChatGPT, Claude,"
    " mem0, dual-mem or hy-memory, or a database of one of the last three"
)
_SHOWN_PROBLEMS = 20
_TICK = 0.2  # seconds; where a wait cannot be interrupted, it must end by itself


def import_chat(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A chat (JSON, JSON lines or Name: words, also gzipped; - reads standard input), or another engine's"
            " export or database.",
        ),
    ],
    user: User = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="Session for all of it; else what the file says.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="What the file is; auto looks at it.")] = Format.AUTO,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N items.")] = None,
    me: Annotated[
        str | None, typer.Option("--me", metavar="NAME", help="Which speaker is the user; else the user's name.")
    ] = None,
    timezone: Annotated[
        str | None, typer.Option("--timezone", metavar="ZONE", help="Zone of times that name none: Europe/Paris.")
    ] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Import a chat; importing it again doubles nothing."""
    from memwell.interfaces.importing.roles import left_out, of_user, settle_roles
    from memwell.interfaces.importing.writing import write_chat

    owner = owner_of(user)
    name, items = _items(file, form, _zone(timezone))
    chosen = of_user(items, me or owner)
    if not as_json:
        _tell_left_out(left_out(items, chosen))
    items = chosen[:limit]
    _require_messages(items, name)
    settled = settle_roles(items, me=me or owner)
    with opened(store, owner, make=True) as memory, progress("import") as show_progress:

        def work(go_on: Callable[[], None]) -> Report:
            def advance(done: int) -> None:
                show_progress(done, len(settled), name)
                go_on()

            return write_chat(memory, settled, session_id=session, on_progress=advance)

        report = _stoppable(work, quiet=as_json)
    _show(report, as_json)
    if report.problems:
        raise typer.Exit(ExitCode.PARTLY)


def _items(file: Path, form: Format, zone: tzinfo | None) -> tuple[str, list[Item]]:
    """Name of the chat, and what is in it."""
    source = file.name.split(".")[0] or file.name
    if str(file) != "-" and is_database(file):
        return file.name, list(records(read_database(file), source=source, zone=zone))
    name, text = ("stdin", standard_input()) if str(file) == "-" else (file.name, read_text(file))
    if not text.strip():
        raise InputError(f"{name!r} is empty", remedy=f"give {_FORMATS}", code="empty_text")
    if form is Format.AUTO and sniff(text) is Format.TEXT and not is_transcript(text):
        raise InputError(
            f"{name!r} is of no format that is known",
            remedy=f"give {_FORMATS}; with --format text each paragraph is taken as words of the user",
            code="unknown_format",
        )
    return name, list(parse(text, form, source="stdin" if str(file) == "-" else source, zone=zone))


def _tell_left_out(counts: Mapping[str | None, int]) -> None:
    named = {name: count for name, count in counts.items() if name is not None}
    if named:
        shown = [f"{count:,} of {name}" for name, count in named.items()]
        more = ["..."] if len(shown) > _SHOWN_PROBLEMS else []
        listed = ", ".join([*shown[:_SHOWN_PROBLEMS], *more])
        say(f"{sum(named.values()):,} memories of other users are left out: {listed}")
    if nameless := counts.get(None):
        say(f"{nameless:,} memories are left out that the file names no user for, since it names several users")


def _require_messages(items: Sequence[Item], name: str) -> None:
    if not any(isinstance(item, Message) for item in items):
        found = f": {items[0]}" if items else ""
        raise InputError(
            f"no chat in {name!r}{found}",
            remedy=f"give {_FORMATS}",
            code="empty_text",
        )


def _stoppable(work: Callable[[Callable[[], None]], Report], *, quiet: bool) -> Report:
    """Run ``work`` so that an interruption from the keyboard is answered at once and ends it between two batches.

    It runs in a thread, since native code that embeds a batch would hold the interruption back until it is done.

    Args:
        work: calls the function it is given between batches.
    """
    stop = Event()

    def go_on() -> None:
        if stop.is_set():
            raise StoppedError("what was imported is stored; import again to go on where it stopped")

    with ThreadPoolExecutor(max_workers=1) as pool:
        report = pool.submit(work, go_on)
        try:
            while not wait((report,), timeout=_TICK).done:
                pass
        except KeyboardInterrupt:
            stop.set()
            if not quiet:
                say("stopping after the messages in hand ...")
        return report.result()


def _zone(name: str | None) -> tzinfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise InputError(f"--timezone {name!r} is no known zone", remedy="name it like Europe/Paris or UTC") from None


def _show(report: Report, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
    else:
        print_fields(
            {
                "messages": f"{report.messages}",
                "stored": f"{report.stored} ({report.known} of them before)",
                "left out": f"{report.left_out} (of the system, of tools, or without words)",
                "not imported": f"{len(report.problems)}",
                "memories formed": f"{report.formed}",
            }
        )
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        say(str(problem))
    if len(report.problems) > _SHOWN_PROBLEMS:
        say(f"... and {len(report.problems) - _SHOWN_PROBLEMS} more; --json lists all")
    if report.problems:
        count = len(report.problems)
        what = "1 item was" if count == 1 else f"{count:,} items were"
        say(f"error: {what} not imported; the rest was (correct and import again)")
