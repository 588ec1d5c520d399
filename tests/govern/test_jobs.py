"""Governing where formation is done by jobs and models are endpoints: nothing erased stays, nothing private goes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memwell import Memory, MemwellError
from memwell.domain.evidence import Target
from memwell.domain.jobs import JobState
from memwell.engine.ports import Matrix
from memwell.errors import EmbeddingError
from memwell.providers.embedding import EndpointEmbedder
from memwell.providers.endpoint import Endpoint
from memwell.providers.paid import Paid
from memwell.storage.memory.spending import MemorySpending
from memwell.testing.doubles import FakeClock, HashEmbedder
from memwell.testing.scripted import CHAT, EMBEDDINGS, ScriptedServer
from tests.govern.conftest import Scan
from tests.providers.test_jobs import choose_all
from tests.providers.test_permissions import Away


class Breaks(HashEmbedder):
    """An embedder that can be told to fail, after the chat model has answered."""

    broken = False

    def passages(self, texts: Any) -> Matrix:
        if self.broken:
            raise EmbeddingError("broken", remedy="none")
        return super().passages(texts)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        running.answer(CHAT, choose_all)
        yield running


@pytest.fixture
def embedder() -> Breaks:
    return Breaks()


@pytest.fixture
def mem(store_path: Path, server: ScriptedServer, embedder: Breaks, clock: FakeClock) -> Iterator[Memory]:
    settings = {"chat": {"base_url": server.url, "model": "scripted", "retries": 0, "timeout": 20}}
    with Memory(store_path, user_id="alice", embedder=embedder, clock=clock, settings=settings) as opened:
        yield opened


@pytest.fixture
def away(server: ScriptedServer, clock: FakeClock) -> EndpointEmbedder:
    return EndpointEmbedder(Away("m", server.url, retries=0), Paid(MemorySpending(), clock), dimensions=32)


def left_waiting(mem: Memory, embedder: Breaks, *words: str, **more: Any) -> tuple[str, ...]:
    """Messages whose job has the model's answer, and waits for its next attempt; ids of the evidence."""
    embedder.broken = True
    with pytest.raises(MemwellError):
        mem.add([{"role": "user", "content": text} for text in words], **more)
    embedder.broken = False
    (job,) = mem._engine.store.queue.jobs([JobState.WAITING], 10)
    return job.evidence_ids


def test_what_a_job_was_answered_goes_with_what_it_was_asked_about(
    mem: Memory, embedder: Breaks, holds: Scan, server: ScriptedServer
) -> None:
    left_waiting(mem, embedder, "My locker opens with vermilion.", session_id="sess-vermilion", request_id="r1")
    assert mem.search("locker").provisional
    assert mem.forget(mem.preview_forget(everything=True).token).storage_cleanup == "complete"
    for trace in (b"vermilion", b"choose", b'"items"'):
        assert not holds(trace)
    assert not mem.search("locker").provisional
    assert mem.jobs.list() == []
    assert mem.resume() == 0
    assert mem.list().memories == ()
    assert server.count(CHAT) == 1
    assert mem.check() == []


def test_the_rest_of_a_job_is_formed_afresh(mem: Memory, embedder: Breaks, holds: Scan, server: ScriptedServer) -> None:
    gone, kept = left_waiting(mem, embedder, "My locker opens with vermilion.", "My cat is Otto.", request_id="r1")
    mem.forget(mem.preview_forget(evidence=[gone]).token)
    assert not holds(b"vermilion")
    assert [item.evidence.id for item in mem.search("cat").provisional] == [kept]
    assert mem.resume() > 0
    assert [memory.content for memory in mem.list().memories] == ["My cat is Otto."]
    assert mem.jobs.list() == []
    assert "vermilion" not in json.dumps(server.received(CHAT)[-1].body)
    assert not holds(b"vermilion")


@pytest.mark.parametrize(("local", "infer"), [(False, None), (None, False)])
def test_provisional_quotes_obey_the_rights_of_their_source(
    mem: Memory, embedder: Breaks, local: bool | None, infer: bool | None
) -> None:
    (key,) = left_waiting(mem, embedder, "My locker opens with vermilion.")
    mem.permit(key, local=local, infer=infer)
    assert mem.search("locker").provisional == ()


def test_a_right_lost_while_a_message_is_formed_keeps_it_from_becoming_a_memory(mem: Memory) -> None:
    forming = mem._engine.remember.forming
    working = forming.extractor

    class Slow:
        name = "slow"

        def extract(self, turns: Any, context: Any) -> Any:
            found = working.extract(turns, context)
            mem.permit(turns[0].evidence.id, infer=False)
            return found

    object.__setattr__(forming, "extractor", Slow())
    with pytest.raises(MemwellError) as caught:
        mem.add("My locker opens with vermilion.")
    assert caught.value.code == "stale_decision"
    object.__setattr__(forming, "extractor", working)
    mem.resume()
    assert mem.list(include_history=True).memories == ()
    assert mem.jobs.list() == []


def test_vectors_of_erased_texts_leave_the_cache(store_path: Path, server: ScriptedServer, clock: FakeClock) -> None:
    endpoint = Endpoint("m", server.url, retries=0)
    embedder = EndpointEmbedder(endpoint, Paid(MemorySpending(), clock), dimensions=32)
    with Memory(store_path, user_id="alice", embedder=embedder, clock=clock) as mem:
        mem.add("I live in Lyon.")
        before = server.count(EMBEDDINGS)
        embedder.passages(["I live in Lyon."])
        assert server.count(EMBEDDINGS) == before
        mem.forget(mem.preview_forget(everything=True).token)
        embedder.passages(["I live in Lyon."])
        assert server.count(EMBEDDINGS) == before + 1


Act = Callable[[Memory], object]


def observe(mem: Memory) -> object:
    return mem.observe("door", "The door camera saw a parcel.", version=1)


def erase_a_part(mem: Memory) -> object:
    words = "My door is red. I like plums."
    mem.add([{"role": "user", "content": words, "permissions": {"cloud": False}}])
    (first, *_) = [m.id for m in mem.list().memories if "plums" in m.content]
    return mem.forget(mem.preview_forget([first]).token)


@pytest.mark.parametrize("act", [observe, erase_a_part])
def test_no_use_case_sends_what_must_stay_to_an_embedder_elsewhere(
    act: Act, store_path: Path, server: ScriptedServer, clock: FakeClock, away: EndpointEmbedder
) -> None:
    assert away.target is Target.CLOUD
    with Memory(store_path, user_id="alice", embedder=away, clock=clock) as mem:
        act(mem)
    assert "door" not in json.dumps([request.body for request in server.received(EMBEDDINGS)])
