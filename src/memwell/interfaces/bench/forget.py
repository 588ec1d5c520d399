"""What forgetting costs as a store grows: looking, erasing and cleaning up, each apart."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from memwell.interfaces.bench.parts import HashEmbedder, KeepAll, WholeTurns
from memwell.interfaces.bench.report import Cell, Progress, Report, Table, environment, no_progress
from memwell.interfaces.bench.statements import statements
from memwell.interfaces.python.memory import Memory

_BATCH = 500
_USER = "user-0"
_MOST_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Load:
    """A store to forget in.

    Attributes:
        memories: spread evenly over ``scopes``; what is forgotten is of the first one.
        replies: whether an assistant answered each message, so that copies are looked for in its words.
    """

    memories: int
    scopes: int = 1
    replies: bool = False


DEFAULT_LOADS = (
    Load(1_000),
    Load(10_000),
    Load(10_000, scopes=10),
    Load(1_000, replies=True),
    Load(10_000, replies=True),
)


def run(
    loads: Sequence[Load] = DEFAULT_LOADS, *, forgets: int = 20, batches: int = 3, progress: Progress = no_progress
) -> Report:
    """Measure in stores of their own, on synthetic statements with vectors that cost nothing.

    Args:
        forgets: memories forgotten one by one in each store.
        batches: and in batches of 32.
        progress: called with steps done, steps in all and the next step.
    """
    about = environment()
    began = time.perf_counter()
    rows: list[tuple[Cell, ...]] = []
    for done, load in enumerate(loads):
        progress(done, len(loads), f"{load.memories:,} memories")
        with TemporaryDirectory(prefix="memwell-bench-") as folder:
            rows.append(_measured(Path(folder), load, forgets, batches))
    progress(len(loads), len(loads), "")
    columns = ("memories", "scopes", "replies", "preview ms", "erase ms", "cleanup ms", "erase 32 ms", "cleanup 32 ms")
    return Report(
        benchmark="forget",
        tables=(Table("Forgetting, medians", columns, tuple(rows)),),
        environment=about,
        seconds=time.perf_counter() - began,
        settings={"forgets": forgets, "batches": batches},
    )


def _measured(folder: Path, load: Load, forgets: int, batches: int) -> tuple[Cell, ...]:
    with Memory(
        folder / "store.db", embedder=HashEmbedder(), extractor=WholeTurns(), judge=KeepAll(), user_id=_USER
    ) as memory:
        ids = _filled(memory, load)
        single = [_forgotten(memory, [key]) for key in ids[:forgets]]
        rest = ids[forgets:]
        starts = range(0, batches * _MOST_AT_ONCE, _MOST_AT_ONCE)
        many = [_forgotten(memory, rest[start : start + _MOST_AT_ONCE]) for start in starts]
    found = [[1000 * median(times) for times in zip(*group, strict=True)] for group in (single, many)]
    replies = "yes" if load.replies else "no"
    return (load.memories, load.scopes, replies, *found[0], *found[1][1:])


def _filled(memory: Memory, load: Load) -> list[str]:
    """Ids of the memories of the first scope, spread over the order in which they were stored."""
    source = statements()
    each = load.memories // load.scopes
    found: list[str] = []
    for number in range(load.scopes):
        texts = list(islice(source, each))
        for start in range(0, each, _BATCH):
            messages = []
            for text in texts[start : start + _BATCH]:
                messages.append({"role": "user", "content": text})
                if load.replies:
                    messages.append({"role": "assistant", "content": f"I see. {text.split()[0]}, then. Anything else?"})
            done = memory.add(messages, user_id=f"user-{number}")
            found += done.memory_ids if number == 0 else ()
    step = 7  # coprime to the sizes, so that every memory comes up once
    return [found[i * step % len(found)] for i in range(len(found))]


def _forgotten(memory: Memory, ids: Sequence[str]) -> tuple[float, float, float]:
    """Seconds that the preview, the erasing and the cleanup take."""
    began = time.perf_counter()
    preview = memory.preview_forget(ids)
    looking = time.perf_counter() - began
    moments: list[float] = []
    memory.forget(preview.token, progress=lambda done, total, step: moments.append(time.perf_counter()))
    begun, erased, cleaned = moments
    return looking, erased - begun, cleaned - erased
