"""MCP over streamable HTTP, at ``/mcp``, behind the guard that all servers have."""

from __future__ import annotations

from starlette.types import ASGIApp

from memwell.interfaces.mcp.server import McpServer
from memwell.interfaces.serving.guard import Guard, Limits, NoMeter
from memwell.interfaces.serving.keys import KeyFolder


def http_app(own: McpServer, keys: KeyFolder, host: str) -> ASGIApp:
    """The application that answers for ``own``.

    Args:
        host: name under which this machine may be called besides its loopback addresses.
    """
    app = own.server().streamable_http_app(json_response=True, stateless_http=True, host=host)
    return Guard(app, keys=keys, limits=Limits(), meter=NoMeter(), hosts=("127.0.0.1", "localhost", "::1", host))
