"""The MCP server, spoken to by the official client over both transports."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from memwell.interfaces.mcp.server import McpServer
from memwell.interfaces.mcp.tools import read_offer
from memwell.interfaces.usecases.table import USE_CASES
from tests.interfaces.servers import environment, memwell, serving

# Use cases that no model is offered: care of the store and of permissions is its owner's business, and few tools are
# chosen better than many.
STORE = {"check", "resume", "rebuild", "reindex", "clean", "list_jobs", "retry_jobs"}
NO_TOOL = STORE | {"unarchive", "mute", "unmute", "observe", "permit", "withdraw", "receipt", "evidence", "people"}

Story = Callable[[Client], Awaitable[None]]


def test_every_use_case_is_a_tool_or_is_named_here() -> None:
    assert {*read_offer().tools} | NO_TOOL == {*USE_CASES}
    assert not {*read_offer().tools} & NO_TOOL


@pytest.mark.parametrize("tool", read_offer().tools.values(), ids=lambda tool: tool.case.name)
def test_every_tool_says_in_words_what_it_takes(tool: Any) -> None:
    schema = tool.input_schema
    assert {*schema["required"]} <= {*schema["properties"]} <= {*tool.case.arguments}
    assert all(field["description"] and field["type"] for field in schema["properties"].values())
    assert "user_id" not in schema["properties"]
    Draft202012Validator.check_schema(tool.output_schema)
    assert tool.output_schema["type"] == "object"
    assert len(json.dumps(tool.output_schema)) < 4_000
    assert 40 < len(tool.description) < 600


def over_stdio(home: Path, story: Story, **variables: str) -> None:
    async def run() -> None:
        arguments = ["-m", "memwell", "mcp", "--user", "ann"]
        child = StdioServerParameters(command=sys.executable, args=arguments, env={**environment(home), **variables})
        with open(home / "mcp.log", "w", encoding="utf-8") as log:  # noqa: PTH123
            async with Client(stdio_client(child, errlog=log)) as client:
                await story(client)

    anyio.run(run)


def over_http(home: Path, story: Story, token: str = "") -> None:
    async def run(url: str) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            await story(client)

    with serving(home, "--http", "--user", "ann", verb="mcp") as running:
        anyio.run(run, running.url)


def words(result: Any) -> str:
    return "".join(part.text for part in result.content)


async def story(client: Client) -> None:
    listed = await client.list_tools()
    assert [tool.name for tool in listed.tools] == [*read_offer().tools]
    added = await client.call_tool("add", {"messages": "我住在上海，喜欢喝绿茶。"})
    assert not added.is_error, words(added)
    found = await client.call_tool("search", {"query": "绿茶"})
    assert "绿茶" in words(found)
    assert "绿茶" in found.structured_content["memories"][0]["content"]
    memory_id = found.structured_content["memories"][0]["id"]
    refused = await client.call_tool("get", {"memory_id": "mem_unknown"})
    assert refused.is_error
    assert words(refused).startswith("not_found")
    for arguments in ({"query": 5}, {"query": "x", "user_id": "eve"}, {}):
        assert (await client.call_tool("search", arguments)).is_error
    resources = (await client.list_resources()).resources
    assert f"memwell://memories/{memory_id}" in {resource.uri for resource in resources}
    (content,) = (await client.read_resource(f"memwell://memories/{memory_id}")).contents
    assert json.loads(content.text)["quotes"][0]["text"] in "我住在上海，喜欢喝绿茶。"  # type: ignore[union-attr]
    with pytest.raises(MCPError):
        await client.read_resource("memwell://memories/mem_unknown")
    (message,) = (await client.get_prompt("context", {"question": "绿茶"})).messages
    assert "memwell-memory" in message.content.text  # type: ignore[union-attr]
    with pytest.raises(MCPError):
        await client.call_tool("forget_everything", {})


def test_the_official_client_over_stdio(tmp_path: Path) -> None:
    over_stdio(tmp_path, story)
    assert "绿茶" not in (tmp_path / "mcp.log").read_text(encoding="utf-8")


def test_the_official_client_over_http(tmp_path: Path) -> None:
    over_http(tmp_path, story)


def test_over_http_a_key_is_asked_for_and_bounds_what_can_be_done(tmp_path: Path) -> None:
    reader = json.loads(memwell(tmp_path, "keys", "create", "r", "--right", "read", "--json").stdout)
    other = json.loads(memwell(tmp_path, "keys", "create", "o", "--user", "bob", "--json").stdout)

    async def reads_only(client: Client) -> None:
        assert words(await client.call_tool("add", {"messages": "I live in Lyon."})).startswith("no_right")
        assert not (await client.call_tool("list", {})).is_error

    async def reaches_nothing(client: Client) -> None:
        assert words(await client.call_tool("list", {})).startswith("outside_key")

    over_http(tmp_path, reads_only, reader["key"])
    over_http(tmp_path, reaches_nothing, other["key"])
    with serving(tmp_path, "--http", "--user", "ann", verb="mcp") as running:
        assert httpx2.post(f"{running.url}/mcp", json={}, timeout=60).status_code == 401


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "gbk"])
def test_standard_output_holds_the_protocol_alone_in_utf_8(tmp_path: Path, encoding: str) -> None:
    """Whatever encoding the console has, and whatever a library prints."""
    noisy = "import sys; print('noise'); sys.stdout.flush(); import os; os.system('echo noise')\n"
    program = (
        "import sys, memwell.engine.recall as recall\n"
        "inner = recall.Recall.search\n"
        f"def search(*a, **k):\n    exec({noisy!r})\n    return inner(*a, **k)\n"
        "recall.Recall.search = search\n"
        "from memwell.interfaces.cli import main\n"
        "sys.exit(main(['mcp', '--user', 'ann']))\n"
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    add = {"name": "add", "arguments": {"messages": "我喜欢喝绿茶。"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": add},
    ]
    search = {"name": "search", "arguments": {"query": "绿茶"}}
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**environment(tmp_path), "PYTHONIOENCODING": encoding},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert child.stdin is not None
    assert child.stdout is not None

    def send(message: object) -> None:
        assert child.stdin is not None
        child.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        child.stdin.flush()

    for message in messages:
        send(message)
    answers = [json.loads(child.stdout.readline().decode("utf-8")) for _ in range(2)]
    send({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": search})
    answers.append(json.loads(child.stdout.readline().decode("utf-8")))
    rest, _ = child.communicate(timeout=60)
    assert rest == b""
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert "绿茶" in answers[2]["result"]["content"][0]["text"]


def test_a_client_is_greeted_before_the_store_is_open_and_told_where_it_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "memwell.db").write_bytes(b"no store at all" * 100)
    process = subprocess.Popen(
        [sys.executable, "-m", "memwell", "mcp", "--user", "ann"],
        env=environment(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "prompts/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "status", "arguments": {}}},
    ]
    assert process.stdin is not None
    assert process.stdout is not None
    for request in asked:
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
    answers = {answer["id"]: answer for answer in (json.loads(process.stdout.readline()) for _ in range(3))}
    assert answers[1]["result"]["serverInfo"]["name"] == "memwell"
    assert answers[2]["result"]["prompts"][0]["name"] == "context"
    assert answers[3]["error"]["data"] == {"code": "not_a_store"}
    _, told = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "error:" in told
    assert "Traceback" not in told


def test_a_store_that_nobody_asks_about_is_not_opened() -> None:
    anyio.run(McpServer(lambda: pytest.fail("opened"), {}).close)


def test_greeting_needs_none_of_the_engine() -> None:
    program = "import sys, memwell.interfaces.mcp.server; assert 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], env=environment(Path()), check=True)
