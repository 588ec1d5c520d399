"""Verbs about bundles: export and restore."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Annotated

import typer

from memwell.errors import InputError, StorageError
from memwell.interfaces.cli.options import Json, StorePath, User, location_of, looked_into, opened, owner_of
from memwell.interfaces.cli.output import print_fields, print_json, print_text, progress, say

_FILE = typer.Argument(metavar="FILE", help="The bundle.")


def export(
    file: Annotated[Path, _FILE],
    user: User = None,
    whole_store: Annotated[bool, typer.Option("--all", help="Every user, application and agent of the store.")] = False,
    target: Annotated[
        str | None, typer.Option("--target", help="Leave out what may not be read there: local or cloud.")
    ] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Write all that is kept of a user, or of the store, to a bundle."""
    if whole_store and user is not None:
        raise InputError(f"--user {user} stands beside --all", remedy="give one of them")
    with opened(store, None if whole_store else owner_of(user)) as memory, progress("export") as advance:
        size = memory.export_bundle(file, whole_store=whole_store, target=target, progress=advance)
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
    with looked_into(store) as memory:
        plan = memory.plan_import(file, user_id=user)
    done = None
    if yes is not None:
        plan.check_confirmed(yes)
        with (
            _unmade_where_nothing_came_in(location_of(store)),
            opened(store, make=True) as memory,
            progress("restore") as advance,
        ):
            done = memory.apply_import(plan, progress=advance)
    if as_json:
        print_json((done or plan).to_dict())
        return
    counts = {name: str(count) for name, count in plan.counts.items()}
    users = [part.bundle.scope.user_id for part in plan.scopes]
    print_fields({"user" if len(users) == 1 else "users": "\n".join(users), **counts})
    for warning in plan.warnings:
        say(warning)
    if done is None:
        say("nothing is taken in yet; to do exactly this:")
        named = "" if user is None else f" --user {shlex.quote(user)}"
        print_text(f"memwell restore {shlex.quote(str(file))}{named} --yes {plan.hash}")


@contextmanager
def _unmade_where_nothing_came_in(location: Path) -> Iterator[None]:
    """Where what is done fails, leave no store that it made, unless whole scopes came in."""
    made = [] if location.exists() else [location, *takewhile(lambda folder: not folder.exists(), location.parents)]
    try:
        yield
    except BaseException:
        if made and location.exists() and not _holds_anything(location):
            for suffix in ("", "-wal", "-shm"):
                location.with_name(location.name + suffix).unlink(missing_ok=True)
            for folder in made[1:]:
                folder.rmdir()
        raise


def _holds_anything(location: Path) -> bool:
    try:
        with opened(location) as memory:
            return bool(memory.status().figures["scopes"])
    except StorageError:
        return False  # it was not even made
