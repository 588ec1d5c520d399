"""The verbs of ``memwell``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Annotated

import typer

from memwell.interfaces.cli.output import print_text

EXIT_CODES = (
    "Exit codes: 0 done, 1 unusable input, 2 wrong usage, 3 storage, 4 not found, 5 conflict, 6 provider failed, "
    "7 partly imported, 8 output not writable, 70 internal fault, 130 interrupted."
)
# Module and function of each verb, in the order of the help; a verb of several has an application there.
VERBS: Mapping[str, tuple[str, str]] = {
    "init": ("store", "init"),
    "add": ("write", "add"),
    "search": ("recall", "search"),
    "list": ("recall", "list_memories"),
    "get": ("recall", "get"),
    "history": ("recall", "history"),
    "evidence": ("recall", "evidence"),
    "people": ("recall", "people"),
    "explain": ("recall", "explain"),
    "update": ("write", "update"),
    "delete": ("write", "delete"),
    "correct": ("govern", "correct"),
    "retract": ("govern", "retract"),
    "unarchive": ("govern", "unarchive"),
    "mute": ("govern", "mute"),
    "permit": ("govern", "permit"),
    "observe": ("govern", "observe"),
    "forget": ("govern", "forget"),
    "receipt": ("govern", "receipt"),
    "import": ("imports", "import_chat"),
    "export": ("portable", "export"),
    "restore": ("portable", "restore"),
    "jobs": ("jobs", "list_jobs"),
    "retry": ("jobs", "retry"),
    "worker": ("jobs", "worker"),
    "reembed": ("jobs", "reembed"),
    "status": ("status", "status"),
    "doctor": ("store", "doctor"),
    "demo": ("showcase", "demo"),
    "serve": ("serving", "serve"),
    "mcp": ("serving", "mcp"),
    "rpc": ("serving", "rpc"),
    "keys": ("serving", "keys"),
    "bench": ("bench", "bench"),
}


def build_app(first: str) -> typer.Typer:
    """The command line for arguments that begin with ``first``.

    Where that is a verb, it has no other: making all of them takes longer than most of them run.
    """
    app = typer.Typer(
        help="Local-first long-term memory for AI agents.",
        epilog=EXIT_CODES,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in [first] if first in VERBS else VERBS:
        module, part = VERBS[name]
        verb = getattr(import_module(f"memwell.interfaces.cli.verbs.{module}"), part)
        if isinstance(verb, typer.Typer):
            verb.callback(invoke_without_command=True, help=verb.info.help)(_help_where_alone)
            app.add_typer(verb, name=name)
        else:
            app.command(name)(verb)
    return app


def _help_where_alone(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print_text(context.get_help())


def _print_version(wanted: bool) -> None:
    if wanted:
        from memwell import __version__

        print_text(f"memwell {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Local-first long-term memory for AI agents."""
