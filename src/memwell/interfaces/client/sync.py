"""``Client``: ``Memory`` on a server."""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable
from types import TracebackType
from typing import Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

import httpx

from memwell.engine.portable import Imported
from memwell.interfaces.client import bundles
from memwell.interfaces.client.bundles import SentPlan
from memwell.interfaces.client.calls import (
    CONNECT_RETRIES,
    TIMEOUT_SECONDS,
    Owner,
    requested,
    settings,
    value_of,
    wanted,
)
from memwell.interfaces.python.files import named
from memwell.interfaces.python.jobs import Jobs
from memwell.interfaces.python.memory import Memory

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")


class _Connected(Protocol):
    """What makes requests for a scope."""

    _owner: Owner
    _http: httpx.Client


class _Remote(Generic[T, P, R]):
    """A method of ``T`` that a server carries out."""

    def __init__(self, method: Callable[Concatenate[T, P], R]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, instance: None, owner: type[object]) -> Self: ...
    @overload
    def __get__(self, instance: _Connected, owner: type[object]) -> Callable[P, R]: ...
    def __get__(self, instance: _Connected | None, owner: type[object]) -> Self | Callable[P, R]:
        if instance is None:
            return self

        @functools.wraps(self.method)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            asked = wanted(self.method, instance._owner, args, kwargs)
            answer = requested(instance._http, asked.verb, asked.path, params=asked.query, json=asked.body)
            result: R = value_of(asked.case, answer)
            return result

        return call


class RemoteJobs:
    """``Jobs`` of a server: list them and retry what is dead; the server itself carries them out."""

    def __init__(self, owner: Owner, http: httpx.Client) -> None:
        self._owner = owner
        self._http = http

    list = _Remote(Jobs.list)
    retry = _Remote(Jobs.retry)


class Client:
    """The methods of ``Memory``, carried out by ``memwell serve``: the same arguments, results and errors.

    Args:
        url: the server's address, such as ``http://127.0.0.1:8765``.
        api_key: as ``memwell keys create`` showed it, where the server asks for one.
        user_id, app_id, agent_id: the scope that calls are about, unless they name another user.
        timeout: seconds to wait for an answer.

    Raises:
        UnreachableError: (from every method) no Memwell server answers there.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        user_id: str | None = None,
        app_id: str | None = None,
        agent_id: str | None = None,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        self._owner = Owner(user_id, app_id, agent_id)
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(retries=CONNECT_RETRIES), **settings(url, api_key, timeout)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; safe to call twice."""
        self._http.close()

    def scoped(self, *, user_id: str | None = None, app_id: str | None = None, agent_id: str | None = None) -> Self:
        """See ``Memory.scoped``; it shares the connections."""
        other = copy.copy(self)
        other._owner = self._owner.changed(user_id=user_id, app_id=app_id, agent_id=agent_id)
        return other

    @property
    def jobs(self) -> RemoteJobs:
        """See ``Memory.jobs``."""
        return RemoteJobs(self._owner, self._http)

    def export_bundle(
        self,
        path: str | os.PathLike[str],
        *,
        user_id: str | None = None,
        whole_store: bool = False,
        target: str | None = None,
    ) -> int:
        """Write all that is kept of a user, or of everybody, to a file here; see ``Memory.export_bundle``."""
        owner = Owner() if whole_store else self._owner.changed(user_id=user_id)
        query = {"target": target, "whole_store": "true" if whole_store else None}
        return bundles.export(self._http, {**owner.parts, **query}, named(path))

    def plan_import(self, path: str | os.PathLike[str], *, user_id: str | None = None) -> SentPlan:
        """Show what taking in a bundle would do to the server's store; see ``Memory.plan_import``."""
        return bundles.plan(self._http, self._owner.changed(user_id=user_id), named(path))

    def apply_import(self, plan: SentPlan) -> Imported:
        """Take in exactly what ``plan`` shows; see ``Memory.apply_import``."""
        return bundles.apply(self._http, plan)

    add = _Remote(Memory.add)
    search = _Remote(Memory.search)
    get = _Remote(Memory.get)
    list = _Remote(Memory.list)
    evidence = _Remote(Memory.evidence)
    people = _Remote(Memory.people)
    history = _Remote(Memory.history)
    explain = _Remote(Memory.explain)
    update = _Remote(Memory.update)
    delete = _Remote(Memory.delete)
    resume = _Remote(Memory.resume)
    status = _Remote(Memory.status)
    check = _Remote(Memory.check)
    rebuild = _Remote(Memory.rebuild)
    reindex = _Remote(Memory.reindex)
    correct = _Remote(Memory.correct)
    retract = _Remote(Memory.retract)
    unarchive = _Remote(Memory.unarchive)
    mute = _Remote(Memory.mute)
    unmute = _Remote(Memory.unmute)
    observe = _Remote(Memory.observe)
    permit = _Remote(Memory.permit)
    withdraw = _Remote(Memory.withdraw)
    preview_forget = _Remote(Memory.preview_forget)
    forget = _Remote(Memory.forget)
    receipt = _Remote(Memory.receipt)
    clean = _Remote(Memory.clean)
