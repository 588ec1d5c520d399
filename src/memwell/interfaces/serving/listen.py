"""Listening: on this machine by default, elsewhere only with keys and TLS."""

from __future__ import annotations

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from memwell.errors import ConfigurationError
from memwell.interfaces.serving.keys import KeyFolder

HEADER_SECONDS = 10.0  # within which a connection must have sent the head of a request
_IDLE_SECONDS = 15
_SHUTDOWN_SECONDS = 30
_BACKLOG = 2_048


class _Connection(H11Protocol):
    """A connection that is closed where the head of a request does not come in in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._forget()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach ``host``."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_exposure(host: str, keys: KeyFolder, *, tls: bool, plain_http: bool) -> None:
    """Refuse to be reachable from other machines without API keys, or unencrypted unless that is asked for.

    Raises:
        ConfigurationError: says what is missing.
    """
    if is_loopback(host):
        return
    if not keys.in_force:
        raise ConfigurationError(
            f"other machines could reach {host}, and there is no API key",
            remedy="make one with `memwell keys create`, or listen on 127.0.0.1",
            code="exposed",
        )
    if not tls and not plain_http:
        raise ConfigurationError(
            f"other machines could reach {host} without encryption",
            remedy="give --tls-cert and --tls-key, or --plain-http where a proxy encrypts",
            code="exposed",
        )


def listen(
    app: ASGIApp,
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    tls: tuple[Path, Path] | None = None,
) -> None:
    """Serve ``app`` until the process is told to stop; then answer what is under way and return.

    Args:
        port: 0 for a free one.
        announce: called with the URL once connections are taken.
        tls: certificate and private key, PEM.

    Raises:
        ConfigurationError: the address or the certificate cannot be used.
    """
    options: dict[str, Any] = {}
    if tls is not None:
        options = {"ssl_certfile": str(tls[0]), "ssl_keyfile": str(tls[1])}
    config = uvicorn.Config(
        app,
        http=_Connection,
        ws="none",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        **options,
    )
    try:
        config.load()
    except OSError as error:
        raise ConfigurationError(f"the certificate cannot be used: {error}", remedy="give PEM files") from None
    with _bound(host, port) as listener:
        name = f"[{host}]" if ":" in host else host
        # uvicorn sends itself the signal again once all is answered; by then it has been obeyed.
        signal.signal(signal.SIGTERM, lambda *_: None)
        announce(f"{'https' if tls else 'http'}://{name}:{listener.getsockname()[1]}")
        uvicorn.Server(config).run(sockets=[listener])


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends each answer at once; without, its second packet waits 40 ms for the client.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigurationError(
            f"cannot listen on {host}, port {port}: {error.strerror}", remedy="choose another --port or --host"
        ) from None
    return listener
