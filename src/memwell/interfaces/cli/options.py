"""Options and arguments that verbs share, and the store they open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
At = Annotated[str | None, typer.Option("--at", metavar="TIME", help="When it was said, ISO 8601 with a zone.")]


def opened(store: Path | None, user: str | None = None) -> Memory:
    """The memory at ``store``, to be used as a context manager."""
    from memwell.interfaces.python.memory import (
        Memory,  # late: it brings numpy and the embedder, which --help has no use for
    )

    return Memory(store, user_id=user)


def owner_of(user: str | None) -> str:
    """The user that ``user``, or else the settings, name.

    Raises:
        InputError: neither names one.
    """
    from memwell.composition import load_settings
    from memwell.domain.scope import checked_id

    return checked_id("user_id", load_settings(user_id=user).user_id)
