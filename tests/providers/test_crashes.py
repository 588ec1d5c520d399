"""Workers killed at every fault point and at random: every job ends once, and what was answered is not asked again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memwell import Memory
from memwell.builtin.rules import RuleJudge
from memwell.errors import ExtractionError
from memwell.providers.paid import FAULT_POINTS as PAID
from memwell.storage.sqlite.store import FAULT_POINTS as STORED
from memwell.testing.doubles import HashEmbedder
from memwell.testing.scripted import CHAT, Reply, ScriptedServer
from tests.providers.test_jobs import choose_all, contents

ROOT = Path(__file__).parents[2]
POINTS = [*PAID, *(point for point in STORED if point.startswith("sqlite.apply"))]


class Victims:
    """Workers in processes of their own."""

    def __init__(self, store: Path, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "providers" / "victim.py"), str(store), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "MEMWELL_HOME": str(store.parent)},
        )

    def start(self, point: str = "") -> int:
        """Let a worker start; gives its pid."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"work {point}\n")
        self._process.stdin.flush()
        return int(self._line())

    def end(self) -> str:
        """How it ended: ``done`` or ``killed``."""
        return self._line()

    def close(self) -> None:
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def opened(store: Path, server: ScriptedServer) -> Memory:
    return Memory(
        store,
        user_id="alice",
        embedder=HashEmbedder(),
        judge=RuleJudge(),
        settings={"chat": {"base_url": server.url, "model": "scripted", "retries": 0}},
    )


def leave(memory: Memory, server: ScriptedServer, statements: list[tuple[str, str]]) -> None:
    """One waiting job for each statement of a user: the endpoint was down when they were told."""
    server.answer(CHAT, lambda body: Reply(status=500))
    for user, words in statements:
        with pytest.raises(ExtractionError):
            memory.add(words, user_id=user)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "crash.db"


@pytest.fixture
def victims(store: Path, server: ScriptedServer) -> Iterator[Victims]:
    running = Victims(store, server.url)
    yield running
    running.close()


@pytest.fixture
def memory(store: Path, server: ScriptedServer) -> Iterator[Memory]:
    with opened(store, server) as running:
        yield running
        assert running.check() == []


def test_a_worker_may_die_at_any_point(memory: Memory, server: ScriptedServer, victims: Victims) -> None:
    for number, point in enumerate(POINTS):
        user, words = f"user{number}", f"My hobby number {number} is chess{number}."
        leave(memory, server, [(user, words)])
        server.answer(CHAT, choose_all)
        before = server.count()
        victims.start(point)
        assert victims.end() == "killed", point
        victims.start()
        assert victims.end() == "done"
        # Before the call nothing was asked; an answer that was not kept yet is lost; after that, none is asked again.
        assert server.count() - before == (2 if point == "paid.answered" else 1), point
        assert memory.jobs.list() == []
        assert [record.content for record in memory.list(user_id=user).memories] == [words], point


def test_the_right_to_a_rewrite_is_used_once(memory: Memory, server: ScriptedServer, victims: Victims) -> None:
    """Killed between the rewrite's answer and its keeping: no second rewrite is bought; the job shows why it failed."""
    leave(memory, server, [("alice", "I live in Lyon.")])
    server.say("no JSON at all")
    server.answer(CHAT, choose_all)
    before = server.count()
    for point, end in (("paid.kept", "killed"), ("paid.answered", "killed"), ("", "done")):
        victims.start(point)
        assert victims.end() == end
    assert server.count() - before == 2
    (job,) = memory.jobs.list()
    assert (job.state.value, job.error) == ("dead", "json_parse_failed")
    assert memory.jobs.retry(job.id) == 1
    assert memory.resume() == 1
    assert contents(memory) == ["I live in Lyon."]


@pytest.mark.slow
def test_workers_killed_a_hundred_times_at_random(memory: Memory, server: ScriptedServer, victims: Victims) -> None:
    dice = random.Random(7)
    statements = [(f"user{n % 5}", f"My hobby number {n} is chess{n}.") for n in range(60)]
    leave(memory, server, statements)
    server.answer(CHAT, lambda body: Reply(choose_all(body).text, delay=dice.uniform(0, 0.03)))
    before = server.count()
    kills = 0
    for _ in range(100):
        pid = victims.start()
        time.sleep(dice.uniform(0.05, 0.4))
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        kills += victims.end() == "killed"
    # On a slow machine a job may not get on for so long that it counts as what kills its workers.
    memory.jobs.retry()
    victims.start()
    assert victims.end() == "done"
    assert kills > 10
    assert memory.jobs.list() == []
    for user in {user for user, _ in statements}:
        told = sorted(words for name, words in statements if name == user)
        assert sorted(record.content for record in memory.list(user_id=user, limit=100).memories) == told
    asked = Counter(request.prompt for request in list(server.received())[before:])
    assert sum(asked.values()) - len(statements) <= kills
