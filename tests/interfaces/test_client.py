"""The clients, on a server of their own."""

from __future__ import annotations

import asyncio
import http.server
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memwell import MemwellError
from memwell.client import AsyncClient, Client
from memwell.errors import IdempotencyConflictError, InputError, NotFoundError, PreconditionError, UnreachableError
from tests.interfaces.servers import Running, memwell, serving


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("client")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Running]:
    with serving(home) as running:
        yield running


def test_calls_results_and_errors_are_those_of_memory(server: Running) -> None:
    with Client(server.url, user_id="ann") as memory:
        said = datetime(2026, 3, 1, tzinfo=UTC)
        message = {"role": "user", "content": "I live in Lyon.", "at": said}
        (memory_id,) = memory.add([message], request_id="r1").memory_ids
        assert memory.add([message], request_id="r1").replayed
        with pytest.raises(IdempotencyConflictError):
            memory.add("I live in Rome.", request_id="r1")
        found = memory.search("where does she live?", as_of=datetime(2026, 4, 1, tzinfo=UTC))
        assert found.memories[0].memory.memory_at == said
        assert "Lyon" in found.text()
        assert memory.list(limit=1).memories == (memory.get(memory_id),)
        with pytest.raises(PreconditionError):
            memory.update(memory_id, "I live in Rome.", expected_revision=7)
        with pytest.raises(NotFoundError):
            memory.scoped(user_id="eve").get(memory_id)
        with pytest.raises(NotFoundError):
            memory.get("../../health")
        with pytest.raises(InputError) as caught:
            memory.search("x", target="moon")
        assert caught.value.code == "invalid_input"
        with pytest.raises(InputError, match="function"):
            memory.reindex(print)
        with pytest.raises(TypeError):
            memory.search()  # type: ignore[call-arg]
        assert memory.check() == []
        assert memory.status().figures["memories"] >= 1


def test_what_is_pending_and_provisional_comes_over_the_wire(server: Running) -> None:
    with Client(server.url, user_id="dora") as memory:
        (wrong,) = memory.add("I live in Lyon.", session_id="s").memory_ids
        source = {"message_id": "m7", "session_id": "s", "quote": "I live in Nantes."}
        done = memory.correct(wrong, source=source)
        assert (done.status, done.memory_id) == ("pending", None)
        found = memory.search("where do I live?")
        (item,) = found.pending
        assert (item.text, item.reason, item.memory_ids) == ("I live in Nantes.", "awaiting_message", (wrong,))
        assert [item.correction_status for item in (*found.memories, *found.profile)] == ["pending"]
        assert "I live in Nantes." in found.text()


def test_many_calls_at_once_from_one_client(server: Running) -> None:
    async def story() -> None:
        async with AsyncClient(server.url, user_id="bea") as memory:
            await memory.add("I live in Oslo.")
            found = await asyncio.gather(*(memory.search("Where do I live?") for _ in range(30)))
            assert all("Oslo" in result.text() for result in found)
            with pytest.raises(NotFoundError):
                await memory.get("mem_unknown")

    asyncio.run(story())


def test_where_nothing_listens_the_client_says_so() -> None:
    with Client("http://127.0.0.1:9", user_id="ann") as memory, pytest.raises(UnreachableError) as caught:
        memory.list()
    assert "memwell serve" in caught.value.remedy


@pytest.mark.parametrize("answer", [b"<html>hello</html>", b"[]", b'{"error": 1}'])
def test_where_something_else_answers_the_client_says_so(answer: bytes) -> None:
    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Other) as other:
        serving_thread = threading.Thread(target=other.serve_forever)
        serving_thread.start()
        try:
            with Client(f"http://127.0.0.1:{other.server_port}") as memory, pytest.raises(UnreachableError):
                memory.list(user_id="ann")
        finally:
            other.shutdown()
            serving_thread.join()


def test_a_key_opens_the_server(server: Running, home: Path) -> None:
    token = memwell(home, "keys", "create", "agent", "--user", "cat").stdout.strip()
    with Client(server.url) as memory, pytest.raises(MemwellError) as caught:
        memory.list(user_id="cat")
    assert caught.value.code == "no_key"
    with Client(server.url, api_key=token) as memory:
        assert memory.add("I live in Bern.").memory_ids
        with pytest.raises(MemwellError) as caught:
            memory.list(user_id="dan")
        assert caught.value.code == "outside_key"
