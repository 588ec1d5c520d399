"""The MCP server. A client is greeted at once; then the store is opened and the models are loaded."""

from __future__ import annotations

import asyncio
import logging
import tomllib
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from memwell import __version__
from memwell.errors import MemwellError
from memwell.interfaces.mcp.offered import PROMPT, TEMPLATE
from memwell.interfaces.python.loading import loading

if TYPE_CHECKING:
    from memwell.interfaces.mcp.requests import Requests
    from memwell.interfaces.python.memory import Memory

LOG = logging.getLogger("memwell.serving")


class McpServer:
    """The SDK's server; what needs the store waits until it is open.

    Args:
        open_memory: opens it for the scope that all requests are about; called once, in a thread.
        scope: its parts by name, which API keys are checked against.
    """

    def __init__(self, open_memory: Callable[[], Memory], scope: dict[str, str]) -> None:
        self._open = open_memory
        self._scope = scope
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memwell opening")
        self._opened: Future[Requests] | None = None

    def open(self) -> Future[Requests]:
        """Let the store be opened in a thread, unless it is already."""
        if self._opened is None:
            self._opened = self._thread.submit(self._load)
        return self._opened

    def _load(self) -> Requests:
        with loading():  # late: it brings numpy, which no greeting needs
            from memwell.interfaces.mcp.requests import Requests

        memory = self._open()
        memory.warm()
        return Requests(memory, self._scope)

    async def _requests(self) -> Requests:
        try:
            return await asyncio.wrap_future(self.open())
        except MemwellError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error), {"code": error.code}) from None

    async def close(self) -> None:
        """Release the store.

        Raises:
            MemwellError: it could not be opened.
        """
        self._thread.shutdown(wait=False)
        if self._opened is not None:
            await (await asyncio.wrap_future(self._opened)).memory.close()

    def server(self) -> Server[Any]:
        """The SDK's server with all handlers."""
        words = tomllib.loads(files(__package__).joinpath("tools.toml").read_text(encoding="utf-8"))
        server: Server[Any] = Server(
            "memwell",
            version=__version__,
            title="Memwell",
            instructions=words["instructions"].strip(),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        server.middleware.append(self._open_afterwards)
        return server

    async def _open_afterwards(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Answer first: opening would take turns with the greeting, which needs nothing of it."""
        try:
            return await call_next(ctx)
        finally:
            self.open()

    async def _list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        return (await self._requests()).list_tools()

    async def _call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await (await self._requests()).call_tool(context, params)

    async def _list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        return await (await self._requests()).list_resources(context, params)

    async def _list_templates(self, context: Any, params: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[TEMPLATE])

    async def _read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        return await (await self._requests()).read_resource(context, params)

    async def _list_prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[PROMPT])

    async def _get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        return await (await self._requests()).get_prompt(context, params)


async def serve_stdio(open_memory: Callable[[], Memory], scope: dict[str, str]) -> None:
    """Answer on standard input and output until the input ends.

    Raises:
        MemwellError: the store could not be opened, which every request was told too.
    """
    own = McpServer(open_memory, scope)
    server = own.server()
    try:
        async with stdio_server() as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())
    finally:
        await own.close()
