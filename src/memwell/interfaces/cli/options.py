"""Options and arguments that verbs share, and the store they open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memwell.errors import ConfigurationError, InputError, NotFoundError
from memwell.interfaces.python.loading import loading
from memwell.interfaces.python.times import local_time

if TYPE_CHECKING:
    from memwell.interfaces.python.memory import Memory

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
StorePath = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="PATH", help="The store; else MEMWELL_STORE, MEMWELL_HOME or the user data folder."
    ),
]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Whose memory; else MEMWELL_USER_ID.")]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="Id of a memory.")]
ReadAt = Annotated[str, typer.Option("--target", help="Who reads it: local or cloud.")]
A_TIME = "a date or ISO 8601 time, local where it has no zone."
At = Annotated[str | None, typer.Option("--at", metavar="TIME", help=f"When it was said: {A_TIME}")]


def moment(option: str, text: str | None) -> datetime | None:
    """The time that an option names: ISO 8601, in the local zone where it names none; a date is its midnight.

    Args:
        option: the option as it is written, for the message.

    Raises:
        InputError: it is no time.
    """
    return None if text is None else local_time(option, text)


def opened(store: Path | None, user: str | None = None, *, worker: bool = False, make: bool = False) -> Memory:
    """The memory at ``store``, to be used as a context manager.

    Args:
        worker: form in this process what is to be formed later. A command ends at once, and leaves it to
            `memwell worker`; a server does it itself.
        make: the store is made where there is none; a verb that only reads or changes what is there has no use for an
            empty one.

    Raises:
        NotFoundError: there is none (``no_store``).
    """
    if not make:
        _require_store(store)
    with loading():  # late: it brings numpy and the embedder, which --help has no use for
        from memwell.interfaces.python.memory import Memory
    return Memory(store, user_id=None if user is None else owner_of(user), worker=worker)


def location_of(store: Path | None) -> Path:
    """Where the store is, or would be made, that ``store`` or else the settings name."""
    from memwell.environment import load_settings

    return load_settings(store=store).store_path.expanduser()


@contextmanager
def looked_into(store: Path | None) -> Iterator[Memory]:
    """The memory at ``store``, or an empty one elsewhere where there is none: looking makes nothing."""
    location = location_of(store)
    if location.exists():
        with opened(store) as memory:
            yield memory
        return
    from tempfile import TemporaryDirectory  # late: few verbs look where there is no store

    with TemporaryDirectory(prefix="memwell-") as folder, opened(Path(folder) / location.name, make=True) as memory:
        yield memory


def _require_store(store: Path | None) -> None:
    location = location_of(store)
    if not location.exists():
        raise NotFoundError(
            f"there is no store at {location}",
            remedy="name another with --store, or make one with `memwell init` or `memwell add`",
            code="no_store",
        )


def owner_of(user: str | None) -> str:
    """The user that ``user``, or else the settings, name.

    Raises:
        InputError: neither names one.
    """
    from memwell.environment import load_settings

    owner = load_settings(user_id=user).user_id
    if owner is None or not owner.strip():
        raise InputError("no user is named", remedy="name one with --user NAME or MEMWELL_USER_ID", code="no_user")
    return owner


def needs_extra(extra: str, *modules: str) -> None:
    """Say what to install where a part is missing that only this verb needs."""
    from importlib.util import find_spec

    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise ConfigurationError(
            f"this needs {', '.join(missing)}, which is not installed",
            remedy=f"pip install 'memwell[{extra}]'",
            code="missing_extra",
        )
