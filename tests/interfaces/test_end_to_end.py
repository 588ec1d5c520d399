"""The same story on every interface: what is said, found, changed, explained, refused and put away is the same."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch

import anyio.from_thread
import httpx
import pytest
from mcp.client.client import Client as McpClient
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from memwell import AsyncMemory, Memory, MemwellError
from memwell.client import AsyncClient, Client
from memwell.interfaces.cli import main
from memwell.interfaces.usecases.table import USE_CASES
from memwell.interfaces.usecases.wire import to_wire
from tests.interfaces.servers import environment, serving

Answer = dict[str, Any]


class Ask(Protocol):
    """Asks an interface for a use case; gives its answer as JSON, or ``{"code": …}`` where it is refused."""

    def __call__(self, name: str, **arguments: Any) -> Answer: ...


def attempt(name: str, call: Callable[[], Any]) -> Answer:
    try:
        return to_wire(USE_CASES[name], call())
    except MemwellError as error:
        return {"code": error.code}


@contextmanager
def in_python(home: Path) -> Iterator[Ask]:
    with Memory(home / "memwell.db", user_id="ann") as memory:
        yield lambda name, **arguments: attempt(name, lambda: getattr(memory, name)(**arguments))


@contextmanager
def in_asyncio(home: Path) -> Iterator[Ask]:
    with asyncio.Runner() as runner:
        memory = AsyncMemory(Memory(home / "memwell.db", user_id="ann"))
        yield lambda name, **arguments: attempt(name, lambda: runner.run(getattr(memory, name)(**arguments)))
        runner.run(memory.close())


@contextmanager
def by_command(home: Path) -> Iterator[Ask]:
    words = ("messages", "query", "memory_id", "content")  # given without the name of an option

    def ask(name: str, **arguments: Any) -> Answer:
        plain = [str(arguments.pop(word)) for word in words if word in arguments]
        options = [part for key, value in arguments.items() for part in (f"--{key.replace('_', '-')}", str(value))]
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            failed = main([name, *plain, *options, "--json"])
        if failed:
            return {"code": json.loads(err.getvalue())["error"]["code"]}
        answer = json.loads(out.getvalue())
        return answer if isinstance(answer, dict) else {USE_CASES[name].returns: answer}

    with patch.dict(os.environ, {"MEMWELL_HOME": str(home), "MEMWELL_USER_ID": "ann"}):
        yield ask


@contextmanager
def over_rest(home: Path) -> Iterator[Ask]:
    with serving(home) as running, httpx.Client(base_url=running.url, timeout=60) as http:

        def ask(name: str, **arguments: Any) -> Answer:
            verb, path = USE_CASES[name].route.split()
            path = path.replace("{memory_id}", arguments.pop("memory_id", ""))
            sent = {"user_id": "ann", **arguments}
            in_url = verb in ("GET", "DELETE")
            answer = http.request(verb, path, params=sent if in_url else None, json=None if in_url else sent)
            body: Answer = answer.json()
            return body if answer.is_success else {"code": body["code"]}

        yield ask


@contextmanager
def by_client(home: Path) -> Iterator[Ask]:
    with serving(home) as running, Client(running.url, user_id="ann") as client:
        yield lambda name, **arguments: attempt(name, lambda: getattr(client, name)(**arguments))


@contextmanager
def by_async_client(home: Path) -> Iterator[Ask]:
    with serving(home) as running, asyncio.Runner() as runner:
        client = AsyncClient(running.url, user_id="ann")
        yield lambda name, **arguments: attempt(name, lambda: runner.run(getattr(client, name)(**arguments)))
        runner.run(client.close())


@contextmanager
def by_mcp(opened: Callable[[], McpClient]) -> Iterator[Ask]:
    with anyio.from_thread.start_blocking_portal() as portal, ExitStack() as stack:
        client: McpClient = stack.enter_context(portal.wrap_async_context_manager(opened()))

        def ask(name: str, **arguments: Any) -> Answer:
            result = portal.call(client.call_tool, name, arguments)
            if result.is_error:
                (content,) = result.content
                assert isinstance(content, TextContent)
                return {"code": content.text.partition(":")[0]}
            structured: Answer = result.structured_content
            return structured

        yield ask


@contextmanager
def over_mcp_stdio(home: Path) -> Iterator[Ask]:
    arguments = ["-m", "memwell", "mcp", "--user", "ann"]
    child = StdioServerParameters(command=sys.executable, args=arguments, env=environment(home))
    with by_mcp(lambda: McpClient(stdio_client(child))) as ask:
        yield ask


@contextmanager
def over_mcp_http(home: Path) -> Iterator[Ask]:
    with (
        serving(home, "--http", "--user", "ann", verb="mcp") as running,
        by_mcp(lambda: McpClient(streamable_http_client(f"{running.url}/mcp"))) as ask,
    ):
        yield ask


@contextmanager
def by_rpc(home: Path) -> Iterator[Ask]:
    child = subprocess.Popen(
        [sys.executable, "-m", "memwell", "rpc", "--user", "ann"],
        env=environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    stdin, stdout, sent = child.stdin, child.stdout, 0

    def ask(name: str, **arguments: Any) -> Answer:
        nonlocal sent
        sent += 1
        stdin.write(json.dumps({"id": str(sent), "method": name, "params": arguments}).encode() + b"\n")
        stdin.flush()
        answer = json.loads(stdout.readline())
        result: Answer = answer["result"] if answer["ok"] else {"code": answer["error"]["code"]}
        return result

    with ExitStack() as stack:
        stack.callback(child.communicate, timeout=60)
        yield ask


WAYS = (in_python, in_asyncio, by_command, over_rest, by_client, by_async_client, over_mcp_stdio, over_mcp_http, by_rpc)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_same_story_on_every_interface(way: Callable[[Path], AbstractContextManager[Ask]], tmp_path: Path) -> None:
    with way(tmp_path) as ask:
        told(ask)
    with Memory(tmp_path / "memwell.db", user_id="ann") as memory:  # what any of them wrote, all of them read
        assert [record.content for record in memory.list().memories] == ["I live in Paris now."]
        assert memory.check() == []


def told(ask: Ask) -> None:
    added = ask("add", messages="I live in Lyon.", at="2026-03-01T09:30:00+01:00")
    (lyon,) = added["memory_ids"]
    (tea,) = ask("add", messages="我喜欢喝绿茶。")["memory_ids"]
    assert ask("search", query="绿茶", limit=1)["memories"][0]["id"] == tea
    found = ask("search", query="Where do I live?", limit=1)["memories"][0]
    assert (found["id"], found["memory_at"], found["state"]) == (lyon, "2026-03-01T08:30:00+00:00", "current")
    assert ask("get", memory_id=lyon)["content"] == "I live in Lyon."
    (paris,) = ask("update", memory_id=lyon, content="I live in Paris now.")["memory_ids"]
    assert [record["id"] for record in ask("history", memory_id=lyon)["memories"]] == [lyon, paris]
    explained = ask("explain", memory_id=lyon)
    assert [quote["text"] for quote in explained["quotes"]] == ["I live in Lyon."]
    assert [record["id"] for record in explained["replaced_by"]] == [paris]
    past = ask("search", query="Where do I live?", as_of="2026-04-01T00:00:00+00:00", limit=1)
    assert past["memories"][0]["id"] == lyon
    first = ask("list", limit=1)
    second = ask("list", limit=1, cursor=first["cursor"])
    assert {first["memories"][0]["id"], second["memories"][0]["id"]} == {tea, paris}
    assert second["cursor"] is None
    assert ask("delete", memory_id=tea)["state"] == "archived"
    assert ask("update", memory_id=lyon, content="I live in Rome.") == {"code": "not_current"}
    assert ask("get", memory_id="mem_unknown") == {"code": "not_found"}
    assert ask("search", query=" ") == {"code": "empty_text"}
    assert ask("list", kind="colour") == {"code": "unknown_kind"}
    assert ask("status")["by_state"] == {"current": 1, "superseded": 1, "archived": 1}
