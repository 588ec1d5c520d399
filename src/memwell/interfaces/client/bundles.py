"""Bundles between files of this machine and a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from memwell.engine.bundle import unpack
from memwell.engine.portable import Imported
from memwell.errors import InputError
from memwell.interfaces.client.calls import Owner, read, requested
from memwell.interfaces.python.files import check_replaceable, write_whole

_BUNDLE_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class SentPlan:
    """What taking in a bundle would do on a server; ``ImportPlan`` says what each entry means.

    Attributes:
        data: the bundle, which is sent again to be taken in.
        owner: the scope that it was planned for.
    """

    hash: str
    counts: Mapping[str, int]
    warnings: tuple[str, ...]
    shown: Mapping[str, Any]
    data: bytes
    owner: Owner

    def to_dict(self) -> dict[str, Any]:
        return dict(self.shown)


def export(http: httpx.Client, query: Mapping[str, str | None], file: Path) -> int:
    """Write the bundle that ``query`` asks for to ``file`` and return its size.

    Raises:
        InputError: the file is there, and is no bundle, or cannot be written.
    """
    given = {name: value for name, value in query.items() if value is not None}
    data = read(requested(http, "GET", "/v1/bundles", params=given), lambda answer: answer.content)
    check_replaceable(file, lambda found: bool(unpack(found)), "bundle")
    write_whole(file, data)
    return len(data)


def plan(http: httpx.Client, owner: Owner, file: Path) -> SentPlan:
    """The server's plan for the bundle in ``file``.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {str(file)!r}: {error.strerror}", remedy="name a readable file") from None
    shown = read(_sent(http, "/v1/bundles/plan", data, owner.parts), lambda answer: dict(answer.json()))
    return SentPlan(shown["hash"], shown["counts"], tuple(shown["warnings"]), shown, data, owner)


def apply(http: httpx.Client, plan: SentPlan) -> Imported:
    """Let the server do what ``plan`` shows."""
    answer = _sent(http, "/v1/bundles", plan.data, {**plan.owner.parts, "hash": plan.hash})
    return read(answer, lambda answer: Imported(**answer.json()))


def _sent(http: httpx.Client, path: str, data: bytes, query: Mapping[str, str]) -> httpx.Response:
    return requested(http, "POST", path, params=query, content=data, headers={"Content-Type": _BUNDLE_TYPE})
