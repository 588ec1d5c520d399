from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from memwell import AsyncMemory, Memory, MemwellError
from memwell.builtin.extractor import BuiltinExtractor
from memwell.builtin.packs import load_languages
from memwell.domain.evidence import Evidence
from memwell.engine.ports import Embedder, Extraction, Extractor, Turn


class Gate:
    """An extractor that waits until it is let go on."""

    name = "gate"

    def __init__(self, inner: Extractor) -> None:
        self.inner = inner
        self.reached, self.go_on = threading.Event(), threading.Event()

    def extract(self, turns: Sequence[Turn], context: Sequence[Evidence]) -> Extraction:
        self.reached.set()
        assert self.go_on.wait(30)
        return self.inner.extract(turns, context)


def test_the_same_calls_give_the_same_results(memory: Memory) -> None:
    async def story() -> None:
        async with AsyncMemory(memory) as mem:
            written = await mem.add("I live in Lyon.")
            (memory_id,) = written.memory_ids
            found = await mem.search("where does she live?")
            assert "Lyon" in found.text()
            assert (await mem.get(memory_id)).content == "I live in Lyon."
            assert (await mem.scoped(user_id="bob").list()).memories == ()
            with pytest.raises(MemwellError) as caught:
                await mem.get("mem_nowhere")
            assert caught.value.code == "not_found"

    asyncio.run(story())


def test_many_calls_at_once_are_all_carried_out(memory: Memory) -> None:
    async def story() -> None:
        async with AsyncMemory(memory) as mem:
            await asyncio.gather(
                *(mem.add(f"My sister number {i} lives in Lyon.", session_id=f"s{i}") for i in range(12))
            )
            assert len((await mem.search("Lyon", raw_limit=100, limit=0)).raw) == 12

    asyncio.run(story())


def test_a_call_cancelled_while_it_runs_goes_on_to_its_end(tmp_path: Path, embedder: Embedder) -> None:
    gate = Gate(BuiltinExtractor(load_languages()))

    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "m.db", user_id="ann", embedder=embedder, extractor=gate)) as mem:
            call = asyncio.create_task(mem.add("I live in Lyon."))
            await asyncio.to_thread(gate.reached.wait)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            gate.go_on.set()

    asyncio.run(story())
    with Memory(tmp_path / "m.db", user_id="ann", embedder=embedder) as memory:
        assert [record.content for record in memory.list().memories] == ["I live in Lyon."]
        assert memory.status().figures["unformed"] == 0


def test_a_call_cancelled_before_it_begins_never_does(tmp_path: Path, embedder: Embedder) -> None:
    gate = Gate(BuiltinExtractor(load_languages()))

    async def story() -> None:
        async with AsyncMemory(Memory(tmp_path / "m.db", user_id="ann", embedder=embedder, extractor=gate)) as mem:
            busy = [asyncio.create_task(mem.add(f"I have {i} cats.", session_id=f"s{i}")) for i in range(8)]
            await asyncio.to_thread(gate.reached.wait)
            waiting = asyncio.create_task(mem.add("I live in Lyon.", session_id="late"))
            await asyncio.sleep(0)
            waiting.cancel()
            gate.go_on.set()
            await asyncio.gather(*busy)
            with pytest.raises(asyncio.CancelledError):
                await waiting
            kept = {item.content for item in (await mem.search("Lyon", raw_limit=20)).raw}
            assert kept == {f"I have {i} cats." for i in range(8)}

    asyncio.run(story())


def test_after_closing_calls_are_refused(memory: Memory) -> None:
    async def story() -> None:
        mem = AsyncMemory(memory)
        await mem.close()
        await mem.close()
        with pytest.raises(MemwellError) as caught:
            await mem.list()
        assert caught.value.code == "storage_failed"

    asyncio.run(story())
