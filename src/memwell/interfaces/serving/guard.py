"""The guard in front of an application: keys, limits, metrics and logs for every request."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memwell.errors import AccessError, InputError, LimitError, MemwellError
from memwell.interfaces.serving.keys import Key, KeyFolder
from memwell.interfaces.serving.logs import NAME
from memwell.interfaces.serving.problems import internal, problem
from memwell.telemetry import under_way

LOG = logging.getLogger(NAME)
_WITH_BODY = ("POST", "PUT", "PATCH")
_CALLERS_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server takes.

    Attributes:
        body_bytes: size of a request's body.
        body_seconds: how long a body may take to come in.
        under_way: requests being answered or waiting at one moment; more are told to come again.
        per_minute: requests of one key, or of one address where no key is asked for; 0: any number.
    """

    body_bytes: int = 8_000_000
    body_seconds: float = 30.0
    under_way: int = 2_000
    per_minute: int = 0


class Meter(Protocol):
    """Where figures of requests go."""

    def began(self) -> None: ...
    def ended(self, method: str, route: str, status: int, seconds: float) -> None: ...


class NoMeter:
    """A meter that keeps nothing."""

    def began(self) -> None:
        """Nothing."""

    def ended(self, method: str, route: str, status: int, seconds: float) -> None:
        """Nothing."""


@dataclass(slots=True)
class _Rate:
    """A bucket for each caller that fills steadily and holds a tenth of a minute's worth, at least ten requests."""

    per_minute: int
    now: Callable[[], float]
    buckets: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def take(self, caller: str) -> bool:
        if not self.per_minute:
            return True
        room = max(self.per_minute / 10, 10.0)
        moment = self.now()
        level, since = self.buckets.pop(caller, (room, moment))
        level = min(room, level + (moment - since) * self.per_minute / 60)
        allowed = level >= 1
        self.buckets[caller] = (level - allowed, moment)
        if len(self.buckets) > _CALLERS_KEPT:
            self.buckets.popitem(last=False)
        return allowed


class Guard:
    """ASGI middleware in front of everything else.

    Args:
        app: what it guards; finds the key in ``scope["state"]["key"]``.
        keys: once it holds one, every request needs one, but for ``open_paths``.
        hosts: values of the ``Host`` header that are answered where no key is asked for, so that a web page cannot
            reach a server on this machine under a name of its own.
        other_bodies: types of the bodies of those paths that take no JSON.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: KeyFolder,
        limits: Limits,
        meter: Meter,
        hosts: Iterable[str],
        open_paths: Iterable[str] = (),
        other_bodies: Mapping[str, str] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.app = app
        self.keys = keys
        self.limits = limits
        self.meter = meter
        self.hosts = frozenset(hosts)
        self.open_paths = frozenset(open_paths)
        self.other_bodies = other_bodies or {}
        self.rate = _Rate(limits.per_minute, now)
        self.under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        told = {"request_id": request_id, "method": scope["method"]}
        with under_way("request", Headers(scope=scope), **told) as spot:
            status = await self._answered(scope, receive, send, request_id)
            spot.set(route=_route(scope), status=status)
            spot.outcome = "internal" if status >= 500 else spot.outcome

    async def _answered(self, scope: Scope, receive: Receive, send: Send, request_id: str) -> int:
        """Answer, count and log one request; gives the status of the answer."""
        began = time.perf_counter()
        status = 500
        started = False

        async def answer(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                headers["X-Content-Type-Options"] = "nosniff"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        self.under_way += 1
        self.meter.began()
        try:
            await self._guarded(scope, receive, answer)
        except MemwellError as error:
            if not started:
                await problem(error)(scope, receive, answer)
        except Exception:
            LOG.exception("request failed", extra={"fields": {"request_id": request_id}})
            if not started:
                await internal(request_id)(scope, receive, answer)
        finally:
            self.under_way -= 1
            seconds = time.perf_counter() - began
            self.meter.ended(scope["method"], _route(scope), status, seconds)
            key: Key | None = scope["state"].get("key")
            fields = {
                "request_id": request_id,
                "method": scope["method"],
                "route": _route(scope),
                "status": status,
                "ms": round(seconds * 1000, 1),
                "key": key and key.id,
            }
            LOG.info("request", extra={"fields": fields})
        return status

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.under_way > self.limits.under_way:
            raise LimitError("too many requests are under way", remedy="come again in a second", code="overloaded")
        headers = Headers(scope=scope)
        key = self._key(scope["path"], headers)
        scope["state"]["key"] = key
        caller = key.id if key else (scope.get("client") or ("-",))[0]
        if not self.rate.take(caller):
            raise LimitError(
                f"more than {self.limits.per_minute:,} requests a minute",
                remedy="come again later",
                code="too_many_requests",
            )
        if scope["method"] in _WITH_BODY:
            receive = await self._body(scope["path"], headers, receive)
        await self.app(scope, receive, send)

    def _key(self, path: str, headers: Headers) -> Key | None:
        if not self.keys.in_force:
            self._refuse_foreign_pages(headers)
            return None
        if path in self.open_paths:
            return None
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise AccessError("an API key is needed", remedy="send it as 'Authorization: Bearer mw_…'", code="no_key")
        return self.keys.find(token.strip())

    def _refuse_foreign_pages(self, headers: Headers) -> None:
        origin = headers.get("origin")
        named = [_host(headers.get("host", ""))] + ([] if origin is None else [_host(origin.partition("://")[2])])
        for host in named:
            if host not in self.hosts:
                raise AccessError(
                    "the request was made under another name than this machine's",
                    remedy=f"use {' or '.join(sorted(self.hosts))}, or make an API key",
                    code="foreign_host",
                )

    async def _body(self, path: str, headers: Headers, receive: Receive) -> Receive:
        """Take in the whole body, so that a slow or endless one costs no thread; gives it again as one message."""
        length = headers.get("content-length", "")
        if length.isdigit() and int(length) > self.limits.body_bytes:
            raise self._too_large()
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] != "http.request":
                        return _once(message, receive)
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self.limits.body_bytes:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        break
        except TimeoutError:
            raise LimitError(
                f"the body took longer than {self.limits.body_seconds:g} s", remedy="send it faster", code="too_slow"
            ) from None
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        wanted = self.other_bodies.get(path, "application/json")
        if size and kind != wanted:
            raise InputError(
                f"the body is not declared as {wanted}",
                remedy=f"send it with 'Content-Type: {wanted}'",
                code="unsupported_media_type",
            )
        return _once({"type": "http.request", "body": b"".join(parts), "more_body": False}, receive)

    def _too_large(self) -> LimitError:
        return LimitError(
            f"the body has more than {self.limits.body_bytes:,} bytes",
            remedy="send it in several requests",
            code="too_large",
        )


def _route(scope: Scope) -> str:
    """The path with names for its parameters, which may be anything; a dash where none was found."""
    return str(getattr(scope.get("route"), "path", "-"))


def _host(value: str) -> str:
    """The host of ``host:port``, with or without brackets."""
    return value.rpartition(":")[0].strip("[]") if value.rpartition(":")[2].isdigit() else value.strip("[]")


def _once(message: Message, receive: Receive) -> Receive:
    waiting = [message]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
