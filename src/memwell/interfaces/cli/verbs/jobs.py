"""Verbs about work that waits: jobs, retry, worker, reembed."""

from __future__ import annotations

from typing import Annotated

import typer

from memwell.interfaces.cli.options import Json, StorePath, opened
from memwell.interfaces.cli.output import local, print_json, print_table, print_text, progress, say


def list_jobs(
    done: Annotated[bool, typer.Option("--all", help="Also those finished in the last seven days.")] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="How many.")] = 100,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """List formation that waits, is under way or has failed for good."""
    with opened(store) as memory:
        jobs = memory.jobs.list(done=done, limit=limit)
    if as_json:
        print_json([job.to_dict() for job in jobs])
    elif jobs:
        print_table(
            ("id", "state", "attempts", "error", "due", "user"),
            [
                (job.id, job.state.value, str(job.attempts), job.error or "-", local(job.due_at), job.scope.user_id)
                for job in jobs
            ],
            words="user",
        )
    else:
        say("no job waits")


def retry(
    job: Annotated[str | None, typer.Argument(metavar="ID", help="Id of a dead job; all where omitted.")] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Let dead jobs be tried again."""
    with opened(store) as memory:
        revived = memory.jobs.retry(job)
    if as_json:
        print_json({"revived": revived})
    else:
        say(f"{revived} to be tried again")


def worker(
    drain: Annotated[bool, typer.Option("--drain", help="End when no job is due.")] = False,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Carry out jobs until interrupted."""
    with opened(store, make=True) as memory:
        if not drain:
            say("working; stop with Ctrl-C")
            memory.jobs.run()
            return
        tried = memory.jobs.work()
        left = len(memory.jobs.list())
    if as_json:
        print_json({"tried": tried, "left": left})
    else:
        print_text(f"{tried} tried, {left} left")


def reembed(store: StorePath = None, as_json: Json = False) -> None:
    """Embed what lacks vectors of the embedder in use."""
    with opened(store) as memory:
        status = memory.status()
        total = round((1 - status.indexed) * status.figures["indexable"])
        with progress("embedding") as show:
            done = memory.reindex(lambda count: show(count, total, ""))
    if as_json:
        print_json({"embedded": done, "model": status.embedder})
    else:
        print_text(f"{done} embedded by {status.embedder}")
