"""Verbs that serve other programs: serve, mcp, rpc, keys."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from memwell.errors import ConfigurationError, InputError
from memwell.interfaces.cli.options import Json, StorePath, User, needs_extra, opened, owner_of
from memwell.interfaces.cli.output import local, print_json, print_table, print_text, say
from memwell.interfaces.python.loading import loading

if TYPE_CHECKING:
    from memwell.interfaces.serving.keys import KeyFolder

Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65_535, help="Port; 0 takes a free one.")]
TlsCert = Annotated[Path | None, typer.Option("--tls-cert", help="Certificate, PEM.")]
TlsKey = Annotated[Path | None, typer.Option("--tls-key", help="Its private key, PEM.")]
PlainHttp = Annotated[
    bool, typer.Option("--plain-http", help="Let other machines in unencrypted, such as behind a proxy.")
]
Rate = Annotated[int, typer.Option("--rate", min=0, help="Requests a minute for each key; 0: any number.")]
MaxBody = Annotated[int, typer.Option("--max-body", min=1, help="Bytes in the body of a request.")]
MaxUnderWay = Annotated[int, typer.Option("--max-under-way", min=1, help="Requests at one moment.")]
LogLevel = Annotated[str, typer.Option("--log-level", help="debug, info, warning or error.")]


def serve(
    host: Host = "127.0.0.1",
    port: Port = 8765,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    plain_http: PlainHttp = False,
    rate: Rate = 0,
    max_body: MaxBody = 8_000_000,
    max_under_way: MaxUnderWay = 2_000,
    log_level: LogLevel = "info",
    store: StorePath = None,
) -> None:
    """Serve the store over HTTP until stopped."""
    needs_extra("server", "fastapi", "uvicorn", "prometheus_client")
    with loading():
        from memwell.interfaces.rest.app import build_app
        from memwell.interfaces.serving.guard import Limits
        from memwell.interfaces.serving.listen import check_exposure, listen

    tls = _tls(tls_cert, tls_key)
    keys = key_folder(store)
    check_exposure(host, keys, tls=tls is not None, plain_http=plain_http)
    limits = Limits(body_bytes=max_body, under_way=max_under_way, per_minute=rate)
    _log(log_level)
    with opened(store, worker=True, make=True) as memory:
        memory.warm()
        listen(build_app(memory, keys, limits=limits, hosts=[host]), host, port, _announce, tls=tls)


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP at /mcp instead of standard input.")] = False,
    host: Host = "127.0.0.1",
    port: Port = 8766,
    plain_http: PlainHttp = False,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    log_level: LogLevel = "warning",
    user: User = None,
    store: StorePath = None,
) -> None:
    """Serve one user's memory to models over MCP."""
    needs_extra("mcp", "mcp", "uvicorn")
    with loading():
        import asyncio

        from memwell.interfaces.mcp.server import McpServer, serve_stdio

    tls = _tls(tls_cert, tls_key)
    owner = owner_of(user)
    scope = scope_of(owner)
    _log(log_level)
    if not http:
        asyncio.run(serve_stdio(lambda: opened(store, owner, worker=True, make=True), scope))
        return
    from memwell.interfaces.mcp.http import http_app
    from memwell.interfaces.serving.listen import check_exposure, listen

    keys = key_folder(store)
    check_exposure(host, keys, tls=tls is not None, plain_http=plain_http)
    with opened(store, owner, worker=True, make=True) as memory:
        own = McpServer(lambda: memory, scope)
        own.open()
        listen(http_app(own, keys, host), host, port, _announce, tls=tls)


def rpc(log_level: LogLevel = "warning", user: User = None, store: StorePath = None) -> None:
    """Serve one user's memory to a host by lines of JSON."""
    needs_extra("rpc", "pydantic")
    with loading():
        from memwell.interfaces.rpc.session import Session

    owner = owner_of(user)
    _log(log_level)
    with protocol_output() as answers, opened(store, owner, worker=True, make=True) as memory:
        memory.warm()
        Session(memory, owner).run(sys.stdin.buffer, answers)


@contextmanager
def protocol_output() -> Iterator[BinaryIO]:
    """Standard output for a protocol alone: whatever else is printed meanwhile goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with os.fdopen(os.dup(kept), "wb") as output:
        try:
            yield output
        finally:
            output.flush()
            sys.stdout.flush()
            os.dup2(kept, sys.stdout.fileno())
            os.close(kept)


def _announce(url: str) -> None:
    say(f"memwell listens on {url}")


def _log(level: str) -> None:
    from memwell.interfaces.serving.logs import log_to_stderr

    if level not in ("debug", "info", "warning", "error"):
        raise InputError(f"--log-level is {level!r}", remedy="use debug, info, warning or error")
    log_to_stderr(level)


def _tls(cert: Path | None, key: Path | None) -> tuple[Path, Path] | None:
    if (cert is None) != (key is None):
        raise ConfigurationError("--tls-cert and --tls-key belong together", remedy="give both or none")
    return (cert, key) if cert and key else None


def scope_of(user: str) -> dict[str, str]:
    """The scope of ``user`` as the settings complete it."""
    from memwell.environment import load_settings

    settings = load_settings(user_id=user)
    return {"user_id": user, "app_id": settings.app_id, "agent_id": settings.agent_id}


keys = typer.Typer(help="API keys of the servers.")


@keys.command("create")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the key is for.")],
    right: Annotated[
        list[str] | None,
        typer.Option("--right", help="read, write or govern; repeat for several. Default: read, write."),
    ] = None,
    app: Annotated[list[str] | None, typer.Option("--app", help="Only this application; repeat for several.")] = None,
    user: Annotated[list[str] | None, typer.Option("--user", help="Only this user; repeat for several.")] = None,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Make a key and show it, this once."""
    from memwell.builtin.system import SystemClock
    from memwell.interfaces.usecases.table import Right

    try:
        rights = [Right(value) for value in right or ("read", "write")]
    except ValueError as error:
        raise InputError(str(error), remedy="use read, write or govern") from None
    key, token = key_folder(store).create(name, rights, app or (), user or (), SystemClock())
    if as_json:
        print_json({**key.to_dict(), "key": token})
    else:
        print_text(token)
        say(f"key {key.id} for {key.name}: keep it, it is not shown again")


@keys.command("list")
def list_keys(store: StorePath = None, as_json: Json = False) -> None:
    """List the keys, revoked ones too."""
    found = key_folder(store).list()
    if as_json:
        print_json([key.to_dict() for key in found])
        return
    rows = [
        (
            key.id,
            key.name,
            ", ".join(sorted(key.rights)),
            ", ".join((*key.apps, *key.users)) or "all",
            local(key.created_at),
            local(key.revoked_at),
        )
        for key in found
    ]
    print_table(("id", "name", "rights", "reaches", "made", "revoked"), rows, words="name")


@keys.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a key.")],
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Refuse a key from now on, also in running servers."""
    from memwell.builtin.system import SystemClock

    key = key_folder(store).revoke(key_id, SystemClock())
    if as_json:
        print_json(key.to_dict())
    else:
        say(f"key {key.id} for {key.name} is revoked")


def key_folder(store: Path | None) -> KeyFolder:
    """The keys of the store that the options and settings name."""
    from memwell.environment import load_settings
    from memwell.interfaces.serving.keys import KeyFolder

    return KeyFolder(load_settings(store=store).store_path.expanduser().absolute())
