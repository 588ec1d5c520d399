"""Loading ahead: what was loaded stays loaded, and closing ends it."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

from memwell import Memory
from memwell.builtin.language import compiled
from memwell.testing.scripted import EMBEDDINGS, ScriptedServer
from memwell.worker import Warming


def test_what_the_first_call_needs_is_loaded_and_nothing_is_stored(tmp_path: Path) -> None:
    compiled.cache_clear()
    with Memory(tmp_path / "memory.db", user_id="ann") as memory:
        before = memory.status().figures["ledger"]
        memory.warm(wait=True)
        loaded = compiled.cache_info().misses
        assert loaded > 100
        memory.add("I live in Lyon and hate coriander. 我喜欢喝绿茶。")
        assert compiled.cache_info().misses - loaded < loaded / 10
        memory.warm(wait=True)
        assert before == 0


def test_no_endpoint_is_asked(tmp_path: Path) -> None:
    with ScriptedServer() as endpoint:
        embedding = {"model": "embedder", "base_url": endpoint.url, "dimensions": 32}
        with Memory(tmp_path / "memory.db", user_id="ann", settings={"embedding": embedding}) as memory:
            memory.warm(wait=True)
        assert endpoint.count(EMBEDDINGS) == 0


def test_closing_ends_it_after_the_step_under_way() -> None:
    begun, go_on = threading.Event(), threading.Event()
    taken: list[int] = []

    def step(number: int) -> None:
        taken.append(number)
        begun.set()
        go_on.wait(60)

    warming = Warming(partial(step, number) for number in range(5))
    warming.start()
    assert begun.wait(60)
    closer = threading.Thread(target=warming.stop)
    closer.start()
    while not warming._stopped.is_set():
        pass
    go_on.set()
    closer.join()
    assert taken == [0]
    warming.start()
    assert taken == [0]
