"""Verbs about bundles: export and restore."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memwell.errors import StaleImportError
from memwell.interfaces.cli.options import Json, StorePath, User, opened, owner_of
from memwell.interfaces.cli.output import print_fields, print_json, print_text, say

_FILE = typer.Argument(metavar="FILE", help="The bundle.")


def export(
    file: Annotated[Path, _FILE],
    user: User = None,
    target: Annotated[
        str | None, typer.Option("--target", help="Leave out what may not be read there: local or cloud.")
    ] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Write all that is kept of a user to a bundle."""
    with opened(store, owner_of(user)) as memory:
        size = memory.export_bundle(file, target=target)
    if as_json:
        print_json({"file": str(file), "bytes": size})
    else:
        print_text(f"{file}: {size:,} bytes")


def restore(
    file: Annotated[Path, _FILE],
    user: User = None,
    yes: Annotated[
        str | None, typer.Option("--yes", metavar="HASH", help="Do what the plan of this hash says.")
    ] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Show what taking in a bundle would do; do it with --yes HASH."""
    with opened(store) as memory:
        plan = memory.plan_import(file, user_id=user)
        if yes is not None and yes != plan.hash:
            raise StaleImportError("--yes names another plan", remedy="look at the plan and give its hash")
        done = None if yes is None else memory.apply_import(plan)
    if as_json:
        print_json((done or plan).to_dict())
        return
    counts = {name: str(count) for name, count in plan.counts.items()}
    print_fields({"user": plan.bundle.scope.user_id, **counts})
    for warning in plan.warnings:
        say(warning)
    if done is None:
        say("nothing is taken in yet; to do exactly this:")
        print_text(f"memwell restore {file} --yes {plan.hash}")
