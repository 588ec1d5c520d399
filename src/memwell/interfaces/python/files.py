"""Files that are written for the user: whole or not at all, and never over something else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from memwell.errors import InputError, MemwellError


def named(path: str | os.PathLike[str]) -> Path:
    """The file of that name.

    Raises:
        InputError: no file can have it.
    """
    if "\0" in os.fspath(path):
        raise InputError(f"{os.fspath(path)!r} holds a null character", remedy="name a file")
    return Path(path)


def check_replaceable(file: Path, is_one: Callable[[bytes], object], what: str) -> None:
    """Refuse to write over what is no ``what``, the store itself above all, and into a folder that is not there.

    Args:
        is_one: reads the bytes that are there, and raises a ``MemwellError`` where they are something else.

    Raises:
        InputError: names the file and what to name instead.
    """
    if file.is_dir() or not file.name:
        raise InputError(f"{str(file)!r} is a folder", remedy="name a file in it")
    if not file.parent.is_dir():
        raise InputError(f"there is no folder {str(file.parent)!r}", remedy="make it, or name a file in another one")
    if not file.exists():
        return
    try:
        is_one(file.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {str(file)!r}: {error.strerror}", remedy="name a new file") from None
    except MemwellError:
        raise InputError(f"{str(file)!r} is there already and is no {what}", remedy="name a new file") from None


def write_whole(file: Path, data: bytes) -> None:
    """Put ``data`` in the place of ``file`` once all of it is written.

    Raises:
        InputError: it cannot be written.
    """
    part = file.with_name(f"{file.name}.part")
    try:
        part.write_bytes(data)
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(
            f"{str(file)!r} cannot be written: {error.strerror}", remedy="name a file in a folder you may write to"
        ) from None
