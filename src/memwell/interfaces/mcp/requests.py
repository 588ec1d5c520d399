"""What MCP requests do: tools, a resource for each memory, a prompt that brings context."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from memwell.domain.memory import MemoryRecord
from memwell.errors import InputError, MemwellError
from memwell.interfaces.mcp.offered import PROMPT, URI
from memwell.interfaces.mcp.tools import Tool, in_words, read_offer
from memwell.interfaces.python.asynchronous import AsyncMemory
from memwell.interfaces.python.memory import Memory
from memwell.interfaces.serving.access import admitted
from memwell.interfaces.serving.logs import NAME
from memwell.interfaces.usecases.arguments import checked_arguments
from memwell.interfaces.usecases.table import USE_CASES
from memwell.interfaces.usecases.wire import to_wire

LOG = logging.getLogger(NAME)
_RESOURCES_PAGE = 50
_TITLE_CHARS = 60


class Requests:
    """MCP requests carried out on one scope of a memory.

    Args:
        memory: opened for the scope that all requests are about.
        scope: its parts by name, which API keys are checked against.
    """

    def __init__(self, memory: Memory, scope: dict[str, str]) -> None:
        self.memory = AsyncMemory(memory)
        self.scope = scope
        self.offer = read_offer()

    async def call(self, context: Any, name: str, arguments: dict[str, Any]) -> Any:
        """The result of a use case for whoever asks.

        Raises:
            MemwellError: the arguments, the key or the use case itself refuse.
        """
        case = USE_CASES[name]
        state = getattr(context.request, "state", None)
        scope = {} if case.whole_store else self.scope
        admitted(getattr(state, "key", None), case, {**arguments, **scope})
        return await getattr(self.memory, name)(**checked_arguments(case, arguments))

    def list_tools(self) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(name, tool) for name, tool in self.offer.tools.items()])

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self.offer.tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name[:40]!r}")
        try:
            given = dict(params.arguments or {})
            _refuse_unoffered(tool, given)
            result = await self.call(context, params.name, given)
        except MemwellError as error:
            return _failed(f"{error.code}: {error.message} ({error.remedy})")
        except Exception:
            LOG.exception("tool failed", extra={"fields": {"tool": params.name}})
            return _failed("internal: Memwell failed (see its log)")
        words = types.TextContent(text=in_words(tool.case, result))
        return types.CallToolResult(content=[words], structured_content=to_wire(tool.case, result))

    async def list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        page = await _protocol(self.call(context, "list", {"limit": _RESOURCES_PAGE, "cursor": cursor}))
        return types.ListResourcesResult(
            resources=[_resource(record) for record in page.memories], next_cursor=page.cursor
        )

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = params.uri
        if not uri.startswith(URI):
            raise MCPError(types.INVALID_PARAMS, f"resources are {URI}… ")
        case = USE_CASES["explain"]
        found = await _protocol(self.call(context, "explain", {"memory_id": uri.removeprefix(URI)}))
        text = types.TextResourceContents(
            uri=uri, mime_type="application/json", text=json.dumps(to_wire(case, found), ensure_ascii=False)
        )
        return types.ReadResourceResult(contents=[text])

    async def get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        question = (params.arguments or {}).get("question", "")
        if params.name != PROMPT.name or not question.strip():
            raise MCPError(types.INVALID_PARAMS, "the prompt is 'context', with a 'question'")
        found = await _protocol(self.call(context, "search", {"query": question}))
        text = "\n\n".join(part for part in (found.text(), question) if part)
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=PROMPT.description, messages=[message])


async def _protocol(call: Awaitable[Any]) -> Any:
    """The result of ``call``; a refusal becomes an error of the protocol."""
    try:
        return await call
    except MemwellError as error:
        raise MCPError(types.INVALID_PARAMS, str(error), {"code": error.code}) from None
    except Exception:  # the SDK would tell its words to the client and to telemetry
        LOG.exception("request failed")
        raise MCPError(types.INTERNAL_ERROR, "Memwell failed (see its log)") from None


def _described(name: str, tool: Tool) -> types.Tool:
    """A tool as it is listed."""
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=tool.reads_only,
            destructive_hint=name in ("update", "delete"),
            idempotent_hint=tool.reads_only or name == "delete",
            open_world_hint=False,
        ),
    )


def _refuse_unoffered(tool: Tool, given: dict[str, Any]) -> None:
    for name in given:
        if name not in tool.arguments:
            offered = ", ".join(tool.arguments) or "nothing"
            raise InputError(f"unknown argument {name[:40]!r}", remedy=f"it takes {offered}", code="unknown_argument")


def _failed(words: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=words)], is_error=True)


def _resource(record: MemoryRecord) -> types.Resource:
    return types.Resource(uri=f"{URI}{record.id}", name=record.content[:_TITLE_CHARS], mime_type="application/json")
