"""The verbs of ``memwell``."""

from __future__ import annotations

from typing import Annotated

import typer

from memwell.interfaces.cli.output import print_text
from memwell.interfaces.cli.verbs import govern, imports, jobs, portable, recall, serving, showcase, store, write
from memwell.interfaces.cli.verbs.bench import bench
from memwell.interfaces.cli.verbs.status import status

EXIT_CODES = (
    "Exit codes: 0 done, 1 unusable input, 2 wrong usage, 3 storage, 4 not found, 5 conflict, 6 provider failed, "
    "7 partly imported, 8 output not writable, 70 internal fault, 130 interrupted."
)

app = typer.Typer(
    help="Local-first long-term memory for AI agents.",
    epilog=EXIT_CODES,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from memwell import __version__

        print_text(f"memwell {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Local-first long-term memory for AI agents."""


app.command("init")(store.init)
app.command("add")(write.add)
app.command("search")(recall.search)
app.command("list")(recall.list_memories)
app.command("get")(recall.get)
app.command("history")(recall.history)
app.command("evidence")(recall.evidence)
app.command("people")(recall.people)
app.command("explain")(recall.explain)
app.command("update")(write.update)
app.command("delete")(write.delete)
app.command("correct")(govern.correct)
app.command("retract")(govern.retract)
app.command("unarchive")(govern.unarchive)
app.command("mute")(govern.mute)
app.command("permit")(govern.permit)
app.command("observe")(govern.observe)
app.command("forget")(govern.forget)
app.command("receipt")(govern.receipt)
app.command("import")(imports.import_chat)
app.command("export")(portable.export)
app.command("restore")(portable.restore)
app.command("jobs")(jobs.list_jobs)
app.command("retry")(jobs.retry)
app.command("worker")(jobs.worker)
app.command("reembed")(jobs.reembed)
app.command("status")(status)
app.command("doctor")(store.doctor)
app.command("demo")(showcase.demo)
app.command("serve")(serving.serve)
app.command("mcp")(serving.mcp)
app.command("rpc")(serving.rpc)
app.add_typer(serving.keys, name="keys")
app.add_typer(bench, name="bench")
