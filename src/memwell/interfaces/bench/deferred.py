"""What a caller waits for where a slow chat model forms memories later."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from memwell.engine.ports import Embedder
from memwell.interfaces.python.memory import Memory
from memwell.testing.scripted import CHAT, Reply, ScriptedServer

# Seconds that the chat model takes to answer.
DELAY = 30.0


def deferred(folder: Path, embedder: Embedder, texts: Sequence[str]) -> tuple[list[float], int] | None:
    """Add ``texts`` one by one with ``wait=False``, while a worker waits for the chat model.

    Returns:
        Seconds of each call, and how many of ``texts`` the next search shows; ``None`` where the client of chat models
        is not installed.
    """
    if find_spec("openai") is None:
        return None
    seconds: list[float] = []
    shown = 0
    with ScriptedServer() as server:
        server.answer(CHAT, lambda body: Reply(delay=DELAY))
        settings = {"chat": {"model": "slow", "base_url": server.url}}
        with Memory(folder / "store.db", user_id="owner", settings=settings, embedder=embedder, worker=True) as memory:
            memory.add("A first write opens files and wakes the worker.", wait=False)
            for text in texts:
                began = time.perf_counter()
                memory.add(text, wait=False)
                seconds.append(time.perf_counter() - began)
                shown += any(item.content == text for item in memory.search(text).provisional)
    return seconds, shown
