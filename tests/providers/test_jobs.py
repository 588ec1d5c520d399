"""Formation as durable jobs: nothing lost, nothing half, no answer paid for twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memwell import Memory
from memwell.domain.jobs import JobState
from memwell.engine.ports import Matrix
from memwell.errors import EmbeddingError, ExtractionError, IdempotencyConflictError
from memwell.testing.doubles import HashEmbedder
from memwell.testing.scripted import CHAT, Reply, ScriptedServer

Open = Callable[[], Memory]


def choose_all(body: Mapping[str, Any]) -> Reply:
    """Each sentence is a fact."""
    turns = json.loads(body["messages"][1]["content"])["turns"]
    chosen = [{"turn": t["turn"], "parts": [key], "kind": "fact"} for t in turns for key in t["sentences"]]
    return Reply(json.dumps({"items": chosen}))


@pytest.fixture
def open_memory(tmp_path: Path, server: ScriptedServer) -> Open:
    def opened() -> Memory:
        return Memory(
            tmp_path / "jobs.db",
            user_id="alice",
            embedder=HashEmbedder(),
            settings={"chat": {"base_url": server.url, "model": "scripted", "retries": 0, "timeout": 20}},
        )

    return opened


@contextmanager
def until(seconds: float = 60.0) -> Iterator[Callable[[bool], bool]]:
    """Wait for a condition, at most so long; the wait decides nothing, it only ends a hanging test."""
    deadline = time.monotonic() + seconds

    def waiting(still: bool) -> bool:
        assert time.monotonic() < deadline, "nothing happened"
        if still:
            time.sleep(0.02)
        return still

    yield waiting


def contents(memory: Memory) -> list[str]:
    return sorted(record.content for record in memory.list().memories)


def test_words_are_found_at_once_and_formed_afterwards(server: ScriptedServer, open_memory: Open) -> None:
    server.script(CHAT, Reply(json.dumps({"items": [{"turn": "t1", "parts": ["s1"], "kind": "fact"}]}), delay=1.0))
    with open_memory() as memory:
        result = memory.add("My bicycle is a red Koga.", wait=False)
        assert (result.status, result.memory_ids) == ("pending", ())
        found = memory.search("which bicycle?")
        assert [item.content for item in found.provisional] == ["My bicycle is a red Koga."]
        assert "red Koga" in found.text()
        assert result.evidence_ids[0] in found.dependencies
        with until() as waiting:
            while waiting(not contents(memory)):
                pass
        found = memory.search("which bicycle?")
        assert found.provisional == ()
        assert [item.content for item in found.memories] == ["My bicycle is a red Koga."]
        assert memory.jobs.list() == []


def test_provisional_quotes_are_their_owners_alone(server: ScriptedServer, open_memory: Open) -> None:
    server.answer(CHAT, lambda body: Reply(status=500))
    with open_memory() as memory:
        memory.add("The code is 4711.", wait=False)
        assert memory.search("code?", user_id="bob").provisional == ()
        memory.add([{"role": "observed", "content": "The door camera saw a parcel."}], wait=False)
        assert len(memory.search("code?").provisional) == 2
        assert [item.content for item in memory.search("code?", target="cloud").provisional] == ["The code is 4711."]


def test_a_closed_memory_gives_its_job_back_at_once(server: ScriptedServer, open_memory: Open) -> None:
    server.script(CHAT, Reply("late", delay=60))
    memory = open_memory()
    memory.add("I live in Lyon.", wait=False)
    with until() as waiting:
        while waiting(server.count() == 0):
            pass
    memory.close()
    memory.close()
    server.answer(CHAT, choose_all)
    with open_memory() as again:
        (job,) = again.jobs.list()
        assert (job.state, job.attempts) == (JobState.WAITING, 0)
        assert again.jobs.work() == 1
        assert contents(again) == ["I live in Lyon."]


def test_jobs_of_one_user_are_formed_in_order(server: ScriptedServer, open_memory: Open) -> None:
    server.answer(CHAT, choose_all)
    told = [
        "I live in Lyon.",
        "My dog is called Rex.",
        "I love green tea.",
        "My sister is a nurse.",
        "I play the cello.",
    ]
    with open_memory() as memory:
        for words in told:
            memory.add(words, wait=False)
        with until() as waiting:
            while waiting(bool(memory.jobs.list())):
                pass
        prompts = [json.loads(request.body["messages"][1]["content"])["turns"] for request in server.received()]
        assert [turns[0]["sentences"]["s1"] for turns in prompts] == told
        assert contents(memory) == sorted(told)


def test_a_repeat_of_an_unfinished_request_is_the_same_job(server: ScriptedServer, open_memory: Open) -> None:
    server.script(CHAT, Reply(status=500))
    server.answer(CHAT, choose_all)
    with open_memory() as memory:
        with pytest.raises(ExtractionError):
            memory.add("I live in Lyon.", request_id="r1")
        with pytest.raises(IdempotencyConflictError):
            memory.add("I live in Rome.", request_id="r1")
        (job,) = memory.jobs.list()
        assert (job.state, job.error) == (JobState.WAITING, "endpoint_failed")
        first = memory.add("I live in Lyon.", request_id="r1")
        assert first.status == "committed"
        again = memory.add("I live in Lyon.", request_id="r1", wait=False)
        assert again.replayed
        assert again.memory_ids == first.memory_ids
        assert memory.jobs.list() == []


def test_a_dead_job_is_shown_and_a_repeat_or_a_retry_revives_it(server: ScriptedServer, open_memory: Open) -> None:
    server.say("no", "still no", "no", "still no")
    server.answer(CHAT, choose_all)
    with open_memory() as memory:
        for words, request in (("I live in Lyon.", "r1"), ("I have a dog.", None)):
            with pytest.raises(ExtractionError):
                memory.add(words, request_id=request)
        assert [job.state for job in memory.jobs.list()] == [JobState.DEAD, JobState.DEAD]
        assert memory.status().figures["jobs"] == {"dead": 2}
        assert len(memory.search("dog?").provisional) == 2
        assert memory.jobs.work() == 0
        assert memory.add("I live in Lyon.", request_id="r1").status == "committed"
        assert memory.jobs.retry() == 1
        assert memory.jobs.work() == 1
        assert contents(memory) == ["I have a dog.", "I live in Lyon."]
        assert memory.check() == []


def test_an_answer_that_is_there_is_not_paid_for_again(tmp_path: Path, server: ScriptedServer) -> None:
    """The model answers, then storing fails: the next attempt uses the kept answer."""
    server.answer(CHAT, choose_all)

    class Unsteady(HashEmbedder):
        working = False

        def passages(self, texts: Sequence[str]) -> Matrix:
            if not self.working:
                raise EmbeddingError("out of order", remedy="wait")
            return super().passages(texts)

    embedder = Unsteady()
    settings = {"chat": {"base_url": server.url, "model": "scripted", "retries": 0}}
    with Memory(tmp_path / "kept.db", user_id="alice", embedder=embedder, settings=settings) as memory:
        with pytest.raises(EmbeddingError):
            memory.add("I live in Lyon.")
        assert server.count() == 1
        embedder.working = True
        assert memory.resume() == 1
        assert contents(memory) == ["I live in Lyon."]
        assert server.count() == 1
        (row,) = memory.status().figures["calls"].values()
        assert (row["calls"], row["failed"]) == (1, 0)


def test_keyless_writes_may_be_left_to_the_worker_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "keyless.db", user_id="alice", embedder=HashEmbedder()) as memory:
        assert memory.add("我住在上海。", wait=False, request_id="r").status == "pending"
        with until() as waiting:
            while waiting(bool(memory.jobs.list())):
                pass
        assert contents(memory) == ["我住在上海。"]
        assert memory.add("我住在上海。", request_id="r").replayed
        assert memory.add([{"role": "assistant", "content": "Hello!"}], wait=False).status == "raw_only"


def test_resume_leaves_to_a_living_worker_what_it_works_at(server: ScriptedServer, open_memory: Open) -> None:
    server.script(CHAT, Reply("late", delay=60))
    with open_memory() as busy, open_memory() as other:
        busy.add("I live in Lyon.", wait=False)
        with until() as waiting:
            while waiting(server.count() == 0):
                pass
        assert other.resume() == 0
        assert other.jobs.work() == 0
        assert server.count() == 1
