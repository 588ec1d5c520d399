"""Sessions of the OpenAI Agents SDK: the same history as the SDK's own, and memories besides."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
from agents.memory import Session, SessionSettings, SQLiteSession
from openai import AsyncOpenAI

from memwell import AsyncMemory, Memory, MemwellError
from memwell.adapters.openai_agents import MemwellSession
from memwell.client import AsyncClient
from memwell.testing.scripted import ScriptedServer
from tests.interfaces.servers import Running

Story = Callable[[Session], Awaitable[None]]

ITEMS: list[Any] = [
    {"role": "user", "content": "I live in Lyon."},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [
            {"type": "output_text", "text": "Noted: Lyon.", "annotations": [], "logprobs": []},
            {"type": "output_text", "text": "Anything else?", "annotations": []},
        ],
    },
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Lyon"}'},
    {"type": "function_call_output", "call_id": "c1", "output": 'sunny\n"25°"'},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "我喜欢喝绿茶。"}, {"type": "input_image", "image_url": "data:,"}],
    },
    {"role": "assistant", "content": "好。", "status": None},
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": ""},
    {"role": "user", "content": "I live in Lyon."},
]


@asynccontextmanager
async def own(server: Running, folder: Path) -> AsyncIterator[Session]:
    session = SQLiteSession("s1", folder / "own.db")
    yield session
    session.close()


@asynccontextmanager
async def embedded(server: Running, folder: Path) -> AsyncIterator[Session]:
    async with AsyncMemory(Memory(folder / "memory.db", user_id="ann")) as memory:
        yield MemwellSession("s1", memory)


@asynccontextmanager
async def served(server: Running, folder: Path) -> AsyncIterator[Session]:
    async with AsyncClient(server.url, user_id=f"agents-{uuid4()}") as memory:
        yield MemwellSession("s1", memory)


@pytest.fixture(params=[own, embedded, served], ids=lambda way: way.__name__)
def tell(request: pytest.FixtureRequest, server: Running, tmp_path: Path) -> Callable[[Story], None]:
    async def told(story: Story) -> None:
        async with request.param(server, tmp_path) as session:
            await story(session)

    return lambda story: asyncio.run(told(story))


def test_it_is_a_session(tell: Callable[[Story], None]) -> None:
    async def story(session: Session) -> None:
        assert isinstance(session, Session)
        assert session.session_id == "s1"
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.clear_session()
        await session.add_items([])
        assert await session.get_items() == []

    tell(story)


def test_items_come_back_as_they_were_in_order(tell: Callable[[Story], None]) -> None:
    async def story(session: Session) -> None:
        await session.add_items(ITEMS[:4])
        for item in ITEMS[4:]:
            await session.add_items([item])
        assert await session.get_items() == ITEMS
        for limit in (1, 3, len(ITEMS), 99):
            assert await session.get_items(limit) == ITEMS[-limit:]
        assert await session.get_items(limit=0) == []

    tell(story)


def test_the_last_item_can_be_taken_away(tell: Callable[[Story], None]) -> None:
    async def story(session: Session) -> None:
        await session.add_items(ITEMS)
        for item in reversed(ITEMS):
            assert await session.pop_item() == item
        assert await session.pop_item() is None
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == ITEMS[:1]

    tell(story)


def test_a_session_can_be_cleared(tell: Callable[[Story], None]) -> None:
    async def story(session: Session) -> None:
        await session.add_items(ITEMS)
        await session.clear_session()
        assert await session.get_items() == []

    tell(story)


def test_what_another_session_says_too_outlives_a_cleared_one(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "memory.db", user_id="ann")) as memory:
            first, second = (MemwellSession(name, memory) for name in ("s1", "s2"))
            await first.add_items([{"role": "user", "content": "I play the cello. I live in Lyon."}])
            await second.add_items([{"role": "user", "content": "I play the cello!"}])
            await first.clear_session()
            assert [found.content for found in await memory.list()] == ["I play the cello!"]
            assert await second.pop_item() == {"role": "user", "content": "I play the cello!"}
            assert not (await memory.search("what do I play?")).memories

    asyncio.run(story())


def test_the_log_tells_what_a_cleared_session_takes_from_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "memory.db", user_id="ann")) as memory:
            first, second = (MemwellSession(name, memory) for name in ("s1", "s2"))
            await first.add_items([{"role": "user", "content": "I play the cello in Quibdo."}])
            await second.add_items([{"role": "assistant", "content": "You said: I play the cello in Quibdo."}])
            await second.clear_session()
            assert not caplog.records
            await second.add_items([{"role": "assistant", "content": "You said: I play the cello in Quibdo."}])
            await first.clear_session()
            assert await second.get_items() == []

    asyncio.run(story())
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("memwell")]
    assert line == "clear_session also erased words in 1 records of other sessions"


def test_the_settings_of_the_sdk_bound_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "memory.db", user_id="ann")) as memory:
            session = MemwellSession("s1", memory, session_settings=SessionSettings(limit=2))
            await session.add_items(ITEMS)
            assert await session.get_items() == ITEMS[-2:]
            assert await session.get_items(3) == ITEMS[-3:]

    asyncio.run(story())


def test_memories_form_from_what_the_user_said_alone(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "memory.db", user_id="ann")) as memory:
            await MemwellSession("s1", memory).add_items(ITEMS)
            contents = {record.content for record in await memory.list()}
            assert contents == {"I live in Lyon.", "我喜欢喝绿茶。"}
            assert "Lyon" in (await memory.search("Where do I live?")).text()
            assert await MemwellSession("s2", memory).get_items() == []

    asyncio.run(story())


def test_a_short_answer_is_read_in_the_light_of_the_question(tmp_path: Path) -> None:
    question: Any = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Do you live in Oslo?", "annotations": []}],
    }

    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "memory.db", user_id="ann")) as memory:
            session = MemwellSession("s1", memory)
            await session.add_items([question])
            await session.add_items([{"role": "user", "content": "Yes."}])
            (answer,) = [record for record in await memory.evidence(session_id="s1") if record.content == "Yes."]
            assert answer.preceding == "Do you live in Oslo?"

    asyncio.run(story())


def test_what_is_forgotten_leaves_the_history_and_the_files(tmp_path: Path) -> None:
    said: list[Any] = [
        {"role": "user", "content": [{"type": "input_text", "text": "I live in Qyxburg."}]},
        {"role": "assistant", "content": "Good."},
        {"role": "user", "content": "I like tea."},
    ]

    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "memory.db", user_id="ann")) as memory:
            session = MemwellSession("s1", memory)
            await session.add_items(said)
            (home,) = [record for record in await memory.list() if "Qyxburg" in record.content]
            await memory.forget((await memory.preview_forget([home.id])).token)
            assert await session.get_items() == said[1:]

    asyncio.run(story())
    assert b"Qyxburg" not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())


def test_what_is_unusable_is_refused_as_a_whole(tmp_path: Path) -> None:
    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "memory.db", user_id="ann")) as memory:
            session = MemwellSession("s1", memory)
            with pytest.raises(MemwellError):
                await session.add_items([ITEMS[0], {"role": "user", "content": "x" * 20_000_000}])
            assert await session.get_items() == []

    asyncio.run(story())


def test_the_runner_of_the_sdk_carries_on_a_conversation(tmp_path: Path) -> None:
    async def story() -> None:
        with ScriptedServer() as endpoint:
            endpoint.say("Nice to meet you.", "You live in Lyon.")
            client = AsyncOpenAI(base_url=endpoint.url, api_key="test", max_retries=0)
            agent = Agent(name="helper", model=OpenAIChatCompletionsModel(model="m", openai_client=client))
            async with AsyncMemory(Memory(tmp_path / "memory.db", user_id="ann")) as memory:
                config = RunConfig(tracing_disabled=True)
                for words in ("I live in Lyon.", "Where do I live?"):
                    session = MemwellSession("talk", memory)
                    result = await Runner.run(agent, words, session=session, run_config=config)
                assert result.final_output == "You live in Lyon."
                assert "Nice to meet you." in endpoint.received()[1].prompt
                assert len(await MemwellSession("talk", memory).get_items()) == 4
                assert [record.content for record in await memory.list()] == ["I live in Lyon."]

    asyncio.run(story())
