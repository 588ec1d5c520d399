"""The guard's limits, with a clock and an application of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from memwell.interfaces.serving.guard import Guard, Limits, NoMeter
from memwell.interfaces.serving.keys import KeyFolder


class Hands:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    message = await receive()
    await PlainTextResponse(message.get("body", b""))(scope, receive, send)


def guard(tmp_path: Path, limits: Limits, now: Hands | None = None) -> Guard:
    return Guard(
        echo, keys=KeyFolder(tmp_path / "m.db"), limits=limits, meter=NoMeter(), hosts=["x"], now=now or Hands()
    )


def client(app: Guard) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x")


def test_callers_get_their_share_of_requests_and_more_with_time(tmp_path: Path) -> None:
    now = Hands()

    async def story() -> None:
        async with client(guard(tmp_path, Limits(per_minute=120), now)) as http:
            answers = [(await http.get("/")).status_code for _ in range(15)]
            assert answers == [200] * 12 + [429] * 3
            refused = await http.get("/")
            assert refused.json()["code"] == "too_many_requests"
            assert refused.headers["retry-after"]
            now.seconds += 1
            assert [(await http.get("/")).status_code for _ in range(3)] == [200, 200, 429]

    asyncio.run(story())


def test_more_requests_than_can_be_under_way_are_told_to_come_again(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:
        await go_on.wait()
        await PlainTextResponse("done")(scope, receive, send)

    async def story() -> None:
        app = guard(tmp_path, Limits(under_way=3))
        app.app = wait
        async with client(app) as http:
            calls = [asyncio.create_task(http.get("/")) for _ in range(3)]
            while app.under_way < 3:
                await asyncio.sleep(0)
            refused = await http.get("/")
            assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
            go_on.set()
            assert [(await call).status_code for call in calls] == [200] * 3
            assert (await http.get("/")).status_code == 200
            assert app.under_way == 0

    asyncio.run(story())


@pytest.mark.parametrize(("size", "status"), [(0, 200), (100, 200), (101, 413)])
def test_bodies_are_taken_up_to_their_limit(tmp_path: Path, size: int, status: int) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(size):
            yield b"1"

    async def story() -> None:
        kind = {"Content-Type": "application/json"}
        async with client(guard(tmp_path, Limits(body_bytes=100))) as http:
            for content in (b"1" * size, parts()):
                answer = await http.post("/", content=content, headers=kind)
                assert answer.status_code == status
                assert answer.text == "1" * size or answer.json()["code"] == "too_large"

    asyncio.run(story())


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    sent: list[dict[str, object]] = []

    async def never() -> dict[str, object]:
        await asyncio.Event().wait()
        raise AssertionError

    async def keep(message: dict[str, object]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"host", b"x")], "client": ("x", 1)}
    asyncio.run(guard(tmp_path, Limits(body_seconds=0.01))(scope, never, keep))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408


def test_a_fault_of_the_application_tells_the_caller_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def fail(scope: Scope, receive: Receive, send: Send) -> None:
        raise ValueError("secret words")

    async def story() -> None:
        app = guard(tmp_path, Limits())
        app.app = fail
        async with client(app) as http:
            answer = await http.get("/")
            assert (answer.status_code, answer.json()["code"]) == (500, "internal")
            assert answer.headers["x-request-id"] in answer.json()["detail"]
            assert "secret" not in answer.text

    asyncio.run(story())
