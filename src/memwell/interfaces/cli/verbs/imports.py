"""The verb import."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from memwell.errors import InputError
from memwell.interfaces.cli.exits import ExitCode
from memwell.interfaces.cli.options import Json, StorePath, User, opened, owner_of
from memwell.interfaces.cli.output import print_fields, print_json, progress, say
from memwell.interfaces.importing.formats import Format, parse
from memwell.interfaces.importing.reading import read_text

if TYPE_CHECKING:
    from memwell.interfaces.importing.writing import Report

_SHOWN_PROBLEMS = 20


def import_chat(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A chat: JSON, JSON lines or text, also gzipped.")],
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
    from memwell.interfaces.importing.roles import settle_roles
    from memwell.interfaces.importing.writing import write_chat

    items = list(parse(read_text(file), form, source=_stem(file), zone=_zone(timezone)))[:limit]
    if not items:
        raise InputError(f"{str(file)!r} holds no messages", remedy="give a file with at least one", code="empty_text")
    owner = owner_of(user)
    settled = settle_roles(items, me=me or owner)
    with opened(store, owner) as memory, progress("import") as show_progress:
        report = write_chat(
            memory,
            settled,
            session_id=session,
            on_progress=lambda done: show_progress(done, len(settled), file.name),
        )
    _show(report, as_json)
    if report.problems:
        raise typer.Exit(ExitCode.PARTLY)


def _stem(file: Path) -> str:
    """Name of the file without its endings, as a name for its session."""
    return file.name.split(".")[0] or file.name


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
        say(f"line {problem.line}: {problem.reason}")
    if len(report.problems) > _SHOWN_PROBLEMS:
        say(f"... and {len(report.problems) - _SHOWN_PROBLEMS} more; --json lists all")
    if report.problems:
        say(f"error: {len(report.problems)} items were not imported; the rest was (correct them and import again)")
