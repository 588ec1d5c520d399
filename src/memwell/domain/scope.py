"""Scope: the hard isolation wall. Boundary: the soft filter for engineering memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from memwell.errors import InputError

MAX_ID_CHARS = 256


def checked_id(name: str, value: object) -> str:
    """Return ``value`` if it can serve as an identifier, else raise ``InputError``.

    Args:
        name: the argument's name, for the message.
        value: 1 to 256 printable characters.
    """
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"{name} is {value!r}",
            remedy=f"pass a non-empty {name}, such as {name}='alice'",
            code=f"no_{name.removesuffix('_id')}",
        )
    if len(value) > MAX_ID_CHARS or not value.isprintable():
        long = len(value) > MAX_ID_CHARS
        fault = f"has {len(value):,} characters" if long else "contains unprintable characters"
        raise InputError(
            f"{name} {value[:40]!r} {fault}",
            remedy=f"use 1 to {MAX_ID_CHARS} printable characters",
        )
    return value


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is: application, user and agent. Nothing crosses a scope.

    Raises:
        InputError: a part is empty, too long or unprintable.
    """

    user_id: str
    app_id: str = "default"
    agent_id: str = "default"

    def __post_init__(self) -> None:
        checked_id("user_id", self.user_id)
        checked_id("app_id", self.app_id)
        checked_id("agent_id", self.agent_id)

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where engineering memory applies; all ``None`` means everywhere in the scope."""

    workspace_id: str | None = None
    branch: str | None = None
    boundary_scope: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        return asdict(self)
