"""Who is who in a chat: a file's roles and names to the roles that the engine knows."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from memwell.errors import InputError
from memwell.interfaces.importing.exports import IMPORTED
from memwell.interfaces.importing.items import Item, Message

_ENGINE_ROLES = frozenset({"observed", "import"})


@cache
def _words() -> Mapping[str, str]:
    """Folded label → role."""
    table = tomllib.loads(files(__package__).joinpath("speakers.toml").read_text(encoding="utf-8"))
    return {word: role for role, words in table.items() for word in words}


def settle_roles(items: Iterable[Item], *, me: str) -> list[Item]:
    """Give every message its role.

    A role that the file states counts. Where it only names speakers, the one called ``me`` is the user and all others
    are kept as context, since what they say of themselves is not true of the user.

    Raises:
        InputError: the file names people only, and none is called ``me``.
    """
    settled = list(items)
    owner = me.casefold().strip()
    nameless = [item for item in settled if isinstance(item, Message) and item.role is None]
    names = dict.fromkeys(item.speaker or "" for item in nameless)
    if names and not any(_role_of(name, owner) == "user" for name in names):
        shown = ", ".join(list(names)[:8])
        raise InputError(
            f"no speaker of the chat is called {me!r}; it has: {shown}",
            remedy="say which of them is the user with --me NAME",
            code="unknown_speaker",
        )
    return [_settled(item, owner) if isinstance(item, Message) else item for item in settled]


def of_user(items: Sequence[Item], user: str) -> list[Item]:
    """Without the memories of other users, where the file says whose each is.

    One for which it names nobody is the user's where it names no other user at all; else nobody can tell whose it is.

    Raises:
        InputError: it holds those of other users alone.
    """
    owners = dict.fromkeys(item.owner for item in items if isinstance(item, Message) and item.owner is not None)
    if owners and user not in owners:
        shown = ", ".join(list(owners)[:8])
        raise InputError(
            f"the file has no memories of {user!r}; it has those of {shown}",
            remedy="say which of them is the user with --me NAME",
            code="unknown_speaker",
        )
    if owners.keys() <= {user}:
        return list(items)
    return [item for item in items if not (isinstance(item, Message) and item.role == IMPORTED and item.owner != user)]


def left_out(items: Sequence[Item], kept: Sequence[Item]) -> dict[str | None, int]:
    """How many memories of each other user are among ``items`` and not ``kept``; ``None``: it is not said whose."""
    chosen = set(map(id, kept))
    return Counter(item.owner for item in items if isinstance(item, Message) and id(item) not in chosen)


def _role_of(label: str, owner: str) -> str | None:
    folded = label.casefold().strip()
    return "user" if folded == owner else _words().get(folded)


def _settled(message: Message, owner: str) -> Message:
    if message.role is None:
        name = message.speaker or ""
        role = _role_of(name, owner) or "assistant"
        label = name.casefold().strip() in _words()
        return replace(message, role=role, speaker=None if label else message.speaker)
    folded = message.role.casefold().strip()
    if folded in _ENGINE_ROLES:
        return replace(message, role=folded)
    return replace(message, role=_words().get(folded, message.role))
