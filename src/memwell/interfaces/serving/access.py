"""What a key reaches: a pure decision about one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memwell.errors import AccessError, InputError
from memwell.interfaces.serving.keys import Key
from memwell.interfaces.usecases.table import UseCase

DEFAULT_PART = "default"  # of the scope, where a call names no application or agent


def admitted(key: Key | None, case: UseCase, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """``arguments`` with the scope that the key allows and the call means.

    Args:
        key: ``None`` where no key is asked for: everything is allowed.

    Raises:
        AccessError: the key lacks the right (``no_right``), or the call is about what it does not reach
            (``outside_key``), whether or not that exists.
        InputError: the key reaches several users and the call names none.
    """
    if key is None:
        return dict(arguments)
    _check_right(key, case)
    if case.whole_store:
        admitted_to_all(key, case)
        return dict(arguments)
    app = arguments.get("app_id") or (key.apps[0] if len(key.apps) == 1 else DEFAULT_PART)
    if key.apps and app not in key.apps:
        raise _outside("this application")
    user = arguments.get("user_id") or (key.users[0] if len(key.users) == 1 else None)
    if key.users and user is None:
        raise InputError("no user is named", remedy="give user_id: the key is for several users", code="no_user")
    if key.users and user not in key.users:
        raise _outside("this user")
    return {**arguments, "app_id": app, "user_id": user}


def admitted_to_all(key: Key | None, case: UseCase) -> None:
    """Refuse a key that has not the right of ``case``, or reaches only a part of the store.

    Raises:
        AccessError: see ``admitted``.
    """
    if key is not None:
        _check_right(key, case)
        if key.apps or key.users:
            raise _outside("the store as a whole")


def _check_right(key: Key, case: UseCase) -> None:
    if case.right not in key.rights:
        raise AccessError(
            f"the API key has no right to {case.right}", remedy=f"use a key with {case.right}", code="no_right"
        )


def _outside(what: str) -> AccessError:
    return AccessError(f"the API key does not reach {what}", remedy="use a key that does", code="outside_key")
