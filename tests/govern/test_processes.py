"""Several programs on one store: what one forgets, the others do not return any more, however warm their caches are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import memwell
from memwell import Memory
from memwell.testing.doubles import HashEmbedder
from tests.govern.conftest import Scan
from tests.govern.test_forget import only

READER = Path(__file__).with_name("reader.py")


@contextmanager
def reader(store: Path) -> Iterator[Any]:
    """A process that answers questions to the store; gives a function that asks one."""
    environment = {**os.environ, "PYTHONPATH": str(Path(memwell.__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, str(READER), str(store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert process.stdin is not None
    assert process.stdout is not None
    asks, answers = process.stdin, process.stdout

    def ask(question: str) -> str:
        asks.write(json.dumps(question).encode() + b"\n")
        asks.flush()
        return answers.readline().decode()

    try:
        yield ask
    finally:
        asks.close()
        process.wait(60)
        answers.close()


def test_warm_caches_of_another_process_return_nothing_erased(store_path: Path, holds: Scan) -> None:
    with Memory(store_path, user_id="alice", embedder=HashEmbedder()) as mem:
        mem.add("I keep zebras in Quibdo.", session_id="s")
        mem.add("I keep bees in Lyon.", session_id="s")
        mem.add([{"role": "assistant", "content": "Zebras it is."}], dependencies=[only(mem, "zebras")])
        with reader(store_path) as ask:
            for _ in range(2):
                assert "Quibdo" in ask("where do I keep zebras?")
            done = mem.forget(mem.preview_forget([only(mem, "zebras")]).token)
            answer = ask("where do I keep zebras?")
            assert "Quibdo" not in answer
            assert "ebras" not in answer
            assert "Lyon" in ask("where do I keep bees?")
            # The other process holds no old state open between its questions.
            assert done.storage_cleanup == "complete"
            for trace in (b"Quibdo", b"quibdo", b"zebra"):
                assert not holds(trace)


def test_warm_caches_of_another_process_obey_rights_and_mutes(store_path: Path) -> None:
    with Memory(store_path, user_id="alice", embedder=HashEmbedder()) as mem:
        evidence = mem.add("I keep zebras in Quibdo.").evidence_ids[0]
        with reader(store_path) as ask:
            assert "Quibdo" in ask("where do I keep zebras?")
            mem.permit(evidence, local=False)
            assert "Quibdo" not in ask("where do I keep zebras?")
            mem.permit(evidence, local=True)
            assert "Quibdo" in ask("where do I keep zebras?")
            mem.withdraw(evidence)
            assert "Quibdo" not in ask("where do I keep zebras?")
