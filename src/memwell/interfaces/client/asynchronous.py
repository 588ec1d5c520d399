"""``AsyncClient``: ``Memory`` on a server, for asyncio programs."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import httpx

from memwell.interfaces.client.calls import (
    CONNECT_RETRIES,
    TIMEOUT_SECONDS,
    Owner,
    settings,
    unreachable,
    value_of,
    wanted,
)
from memwell.interfaces.python.memory import Memory

P = ParamSpec("P")
R = TypeVar("R")


class _Remote(Generic[P, R]):
    """A method of ``Memory`` that a server carries out."""

    def __init__(self, method: Callable[Concatenate[Memory, P], R]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    @overload
    def __get__(self, instance: None, owner: type[AsyncClient]) -> Self: ...
    @overload
    def __get__(self, instance: AsyncClient, owner: type[AsyncClient]) -> Callable[P, Coroutine[Any, Any, R]]: ...
    def __get__(
        self, instance: AsyncClient | None, owner: type[AsyncClient]
    ) -> Self | Callable[P, Coroutine[Any, Any, R]]:
        if instance is None:
            return self

        @functools.wraps(self.method)
        async def call(*args: P.args, **kwargs: P.kwargs) -> R:
            request = wanted(self.method, instance._owner, args, kwargs)
            try:
                answer = await instance._http.request(
                    request.verb, request.path, params=request.query, json=request.body
                )
            except httpx.HTTPError as error:
                raise unreachable(str(instance._http.base_url), error) from None
            result: R = value_of(request.case, answer)
            return result

        return call


class AsyncClient:
    """``Client`` for asyncio programs.

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
        self._http = httpx.AsyncClient(
            transport=httpx.AsyncHTTPTransport(retries=CONNECT_RETRIES), **settings(url, api_key, timeout)
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; safe to call twice."""
        await self._http.aclose()

    def scoped(self, *, user_id: str | None = None, app_id: str | None = None, agent_id: str | None = None) -> Self:
        """See ``Memory.scoped``; it shares the connections."""
        other = copy.copy(self)
        other._owner = self._owner.changed(user_id=user_id, app_id=app_id, agent_id=agent_id)
        return other

    add = _Remote(Memory.add)
    search = _Remote(Memory.search)
    get = _Remote(Memory.get)
    list = _Remote(Memory.list)
    evidence = _Remote(Memory.evidence)
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
