"""A server killed under load loses no acknowledged write, and the repeats of the others store nothing twice."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memwell import Memory
from memwell.client import Client
from memwell.errors import UnreachableError
from tests.interfaces.servers import serving

WRITERS = 4
ACKNOWLEDGED_BEFORE = 6


def session_of(words: str) -> str:
    return f"s{words.split()[3]}"


@pytest.mark.slow
def test_killed_under_load_and_started_again(tmp_path: Path) -> None:
    acknowledged: dict[str, str] = {}
    unknown: set[str] = set()
    enough = threading.Event()

    def write(url: str, writer: int) -> None:
        with Client(url, user_id="ann", timeout=300) as memory:
            for number in range(50):
                words = f"My colleague number {writer} of team {number} is called Zoë{writer}x{number}."
                try:
                    written = memory.add(words, session_id=session_of(words), request_id=words)
                except UnreachableError:
                    unknown.add(words)
                    return
                acknowledged[words] = written.evidence_ids[0]
                if len(acknowledged) >= ACKNOWLEDGED_BEFORE:
                    enough.set()

    with serving(tmp_path, "--log-level", "error") as running, ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, running.url, writer) for writer in range(WRITERS)]
        assert enough.wait(280)
        running.stop(signal.SIGKILL)
        for writer in writers:
            writer.result()
    assert len(acknowledged) >= ACKNOWLEDGED_BEFORE

    with (
        serving(tmp_path, "--log-level", "error") as running,
        Client(running.url, user_id="ann", timeout=300) as memory,
    ):
        for words, evidence_id in acknowledged.items():
            repeated = memory.add(words, session_id=session_of(words), request_id=words)
            assert repeated.replayed
            assert repeated.evidence_ids == (evidence_id,)
        for words in unknown:
            memory.add(words, session_id=session_of(words), request_id=words)
    with Memory(tmp_path / "memwell.db", user_id="ann") as memory_itself:
        assert memory_itself.check() == []
        raw = memory_itself.search("colleague", limit=0, raw_limit=1_000).raw
        contents = [item.evidence.content for item in raw]
        assert len(contents) == len({*contents})
        assert {*contents} == {*acknowledged, *unknown}
