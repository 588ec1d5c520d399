"""A call as a request, an answer as a value or an error."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from memwell import errors
from memwell.errors import InputError, MemwellError, UnreachableError
from memwell.interfaces.usecases.table import USE_CASES, UseCase
from memwell.interfaces.usecases.wire import from_wire

CONNECT_RETRIES = 2
TIMEOUT_SECONDS = 60.0
R = TypeVar("R")
_BY_METHOD = {case.method: case for case in USE_CASES.values()}
_URN = "urn:memwell:error:"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One request to make."""

    case: UseCase
    verb: str
    path: str
    query: Mapping[str, Any]
    body: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Owner:
    """The scope that a client stands for; parts not given are the key's or the server's defaults."""

    user_id: str | None = None
    app_id: str | None = None
    agent_id: str | None = None

    @property
    def parts(self) -> dict[str, str]:
        """Those parts that are given, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name)) is not None}

    def changed(self, **parts: str | None) -> Owner:
        return replace(self, **{name: value for name, value in parts.items() if value is not None})


def wanted(method: Callable[..., Any], owner: Owner, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Wanted:
    """The request for a call of ``method`` (of ``Memory``) with these arguments.

    Raises:
        InputError: an argument cannot leave the process.
    """
    case = _BY_METHOD[method]
    given = inspect.signature(method).bind(None, *args, **kwargs).arguments
    arguments = {name: _sent(name, value) for name, value in given.items() if name != "self" and value is not None}
    if not case.whole_store:
        arguments = {**owner.parts, **arguments}
    verb, path = case.route.split()
    for name in re.findall(r"{(\w+)}", path):
        path = path.replace(f"{{{name}}}", quote(str(arguments.pop(name)), safe="") or "-")
    if verb in ("GET", "DELETE"):
        return Wanted(case, verb, path, arguments, None)
    return Wanted(case, verb, path, {}, arguments)


def _sent(name: str, value: Any) -> Any:
    """``value`` as JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: _sent(name, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_sent(name, item) for item in value]
    if callable(value):
        raise InputError(f"{name} is a function", remedy="leave it out: it cannot be sent to a server")
    return value


def value_of(case: UseCase, answer: httpx.Response) -> Any:
    """What ``answer`` says.

    Raises:
        MemwellError: the server refused; the same class and code as ``Memory`` would raise.
        UnreachableError: what answered is no Memwell server.
    """
    return read(answer, lambda body: from_wire(case, body.json()))


def read(answer: httpx.Response, value: Callable[[httpx.Response], R]) -> R:
    """``value`` of an answer that is a success.

    Raises:
        MemwellError: the server refused.
        UnreachableError: what answered is no Memwell server.
    """
    try:
        if answer.is_success:
            return value(answer)
        raise _error(answer.json())
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, MemwellError):
            raise
        raise UnreachableError(
            f"the answer to {answer.request.url.path} (status {answer.status_code}) is not one of Memwell",
            remedy="check the address of the server",
        ) from None


def _error(body: Mapping[str, Any]) -> MemwellError:
    name = str(body["type"]).removeprefix(_URN)
    kind = getattr(errors, name, MemwellError)
    if not isinstance(kind, type) or not issubclass(kind, MemwellError):
        kind = MemwellError
    return kind(body["detail"], remedy=body["remedy"], code=body["code"])


def requested(http: httpx.Client, verb: str, path: str, **parts: Any) -> httpx.Response:
    """The answer to a request.

    Raises:
        UnreachableError: there is none.
    """
    try:
        return http.request(verb, path, **parts)
    except httpx.HTTPError as error:
        raise UnreachableError(
            f"no answer from {http.base_url}: {type(error).__name__}", remedy="check that `memwell serve` runs there"
        ) from None


def settings(url: str, api_key: str | None, timeout: float) -> dict[str, Any]:
    """Arguments of an httpx client."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return {"base_url": url, "headers": headers, "timeout": timeout}
