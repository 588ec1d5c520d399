"""Speed: start, durable writes, search beside a numpy floor and plain BM25, memory and disk."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import ParamSpec

import numpy as np

from memwell.builtin.embedder import bundled_embedder
from memwell.engine.ports import Embedder, Extractor, Judge
from memwell.engine.vectors import checked
from memwell.interfaces.bench.baseline import PlainBm25
from memwell.interfaces.bench.deferred import DELAY, deferred
from memwell.interfaces.bench.parts import HashEmbedder, KeepAll, WholeTurns
from memwell.interfaces.bench.report import Cell, Progress, Report, Table, environment, no_progress
from memwell.interfaces.bench.statements import QUESTIONS, statements
from memwell.interfaces.python.memory import Memory

P = ParamSpec("P")

_USER = "owner"
_BATCH = 500
_STARTS = 5
_LIMIT = 10
_FURTHER = 50  # writes into a store that is filled already
# Compiled modules are kept in the folder of the first argument, as an installation keeps them.
_KEPT = "import sys; sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[1]\n"
_IMPORT = _KEPT + "import time; began = time.perf_counter(); import memwell; print(time.perf_counter() - began)"
_RECALL = _KEPT + (
    "from memwell.interfaces.python.memory import Memory\n"
    "with Memory(sys.argv[2], user_id='owner') as memory:\n"
    "    found = memory.search('Where do I keep the spare key?').memories\n"
    "    sys.exit(not found)\n"
)
# The stored vectors are made up, the questions are embedded by the real model, as in a process that serves.
_PEAK = (
    "import resource, sys\n"
    "from memwell.builtin.embedder import bundled_embedder\n"
    "from memwell.interfaces.bench.parts import HashEmbedder\n"
    "from memwell.interfaces.python.memory import Memory\n"
    "real = bundled_embedder()\n"
    "embedder = HashEmbedder(int(sys.argv[2]), real if real.dimensions == int(sys.argv[2]) else None)\n"
    "with Memory(sys.argv[1], embedder=embedder) as memory:\n"
    "    for user in sys.argv[3:]:\n"
    "        memory.search('Who repaired the old radio?', user_id=user, raw_limit=10)\n"
    "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    "print(peak / (2**20 if sys.platform == 'darwin' else 2**10))\n"
)


@dataclass(frozen=True, slots=True)
class Load:
    """One search measurement: ``memories`` spread evenly over ``scopes``."""

    memories: int
    scopes: int = 1


DEFAULT_LOADS = (Load(1_000), Load(10_000))
LARGE_LOADS = (Load(100_000), Load(1_000_000, scopes=100))


def run(
    loads: Sequence[Load] = DEFAULT_LOADS,
    *,
    writes: int = 200,
    searches: int = 200,
    embedder: Embedder | None = None,
    progress: Progress = no_progress,
) -> Report:
    """Measure in stores of their own, on synthetic statements.

    Args:
        loads: how many memories to search among.
        writes: how many are written one by one; batches write five times as many.
        searches: questions per load and embedder.
        embedder: the real embedder; default the bundled one.
        progress: called with steps done, steps in all and the next step.
    """
    about = environment()
    began = time.perf_counter()
    real = embedder or bundled_embedder()
    steps = 3 + len(loads)
    progress(0, steps, "start")
    start = _start(real)
    progress(1, steps, "writes")
    written = _writes(real, writes)
    found: list[tuple[Cell, ...]] = []
    sizes: list[tuple[Cell, ...]] = []
    progress(2, steps, "deferred writes")
    later = _deferred(real, searches)
    for done, load in enumerate(loads, 3):
        progress(done, steps, f"{load.memories:,} memories")
        with TemporaryDirectory(prefix="memwell-bench-") as folder:
            rows, size = _searches(Path(folder), load, real, searches)
        found += rows
        sizes.append(size)
    progress(steps, steps, "")
    latency_columns = ("memories", "scopes", "what", "p50 ms", "p95 ms")
    size_columns = ("memories", "scopes", "written/s", "one write more, ms", "disk bytes/memory", "peak RSS MB")
    return Report(
        benchmark="speed",
        tables=(
            start,
            written,
            later,
            Table("Search, 10 results", latency_columns, tuple(found)),
            Table("Size", size_columns, tuple(sizes)),
        ),
        environment=about,
        seconds=time.perf_counter() - began,
        settings={
            "embedder": real.model,
            "writes": writes,
            "searches": searches,
            "loads": [[load.memories, load.scopes] for load in loads],
        },
    )


def _start(real: Embedder) -> Table:
    """Fresh processes: what the import costs, and the time from start to end of a process that recalls one memory."""
    empty = [_timed(_python, "pass") for _ in range(_STARTS)]
    with TemporaryDirectory(prefix="memwell-bench-") as folder:
        store, compiled = Path(folder) / "store.db", str(Path(folder) / "compiled")
        with Memory(store, embedder=real, extractor=WholeTurns(), judge=KeepAll()) as memory:
            memory.add("The spare key is under the blue flowerpot.", user_id=_USER)
        _python(_RECALL, compiled, str(store))  # compiles what the others find compiled
        imports = [float(_python(_IMPORT, compiled)) for _ in range(_STARTS)]
        recalls = [_timed(_python, _RECALL, compiled, str(store)) for _ in range(_STARTS)]
    rows = (
        ("import memwell", 1000 * median(imports)),
        ("process that does nothing", 1000 * median(empty)),
        ("process that recalls a memory", 1000 * median(recalls)),
    )
    return Table(f"Start, median of {_STARTS}", ("what", "ms"), rows)


def _python(code: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True)
    return done.stdout


def _timed(step: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> float:
    """Seconds that one call takes."""
    began = time.perf_counter()
    step(*args, **kwargs)
    return time.perf_counter() - began


def _writes(real: Embedder, count: int) -> Table:
    """Durable writes with parts that cost next to nothing, then with the real ones added one after the other."""
    setups: dict[str, tuple[Embedder, Extractor | None, Judge | None]] = {
        "store alone": (HashEmbedder(), WholeTurns(), KeepAll()),
        "with extraction and judging": (HashEmbedder(), None, None),
        "with embedding": (real, WholeTurns(), KeepAll()),
        "all of it": (real, None, None),
    }
    rows: list[tuple[Cell, ...]] = []
    for name, (embedder, extractor, judge) in setups.items():
        texts = list(islice(statements(), count * 6))
        with (
            TemporaryDirectory(prefix="memwell-bench-") as folder,
            Memory(Path(folder) / "store.db", embedder=embedder, extractor=extractor, judge=judge) as memory,
        ):
            memory.add("A first write opens files and loads models.", user_id=_USER)
            single = _timed(_add, memory, texts[:count], _USER, 1)
            batched = _timed(_add, memory, texts[count:], _USER)
        rows.append((name, count / single, 5 * count / batched))
    return Table("Durable writes", ("what", "one by one /s", "batched /s"), tuple(rows))


def _deferred(real: Embedder, count: int) -> Table:
    """Writes whose memories a chat model forms later: what the caller waits, whether the words are found."""
    with TemporaryDirectory(prefix="memwell-bench-") as folder:
        found = deferred(Path(folder), real, list(islice(statements(), count)))
    rows: list[tuple[Cell, ...]] = []
    if found is not None:
        seconds, shown = found
        rows.append((f"add(wait=False), chat model of {DELAY:.0f} s", *_spread(seconds), 100 * shown / len(seconds)))
    return Table("Deferred writes", ("what", "p50 ms", "p95 ms", "found at once %"), tuple(rows))


def _spread(seconds: Sequence[float]) -> list[float]:
    """Median and 95th percentile, in milliseconds."""
    found: list[float] = (1000 * np.percentile(seconds, [50, 95])).round(3).tolist()
    return found


def _add(memory: Memory, texts: Sequence[str], user_id: str, batch: int = _BATCH) -> None:
    for start in range(0, len(texts), batch):
        memory.add([{"role": "user", "content": text} for text in texts[start : start + batch]], user_id=user_id)


def _searches(folder: Path, load: Load, real: Embedder, count: int) -> tuple[list[tuple[Cell, ...]], tuple[Cell, ...]]:
    """Fill a store, search it, then search the same vectors and texts without it.

    The stored vectors are made cheaply, since what they mean does not change how long they take to search.
    """
    each = load.memories // load.scopes
    cheap = HashEmbedder(real.dimensions)
    mixed = HashEmbedder(real.dimensions, questions=real)
    source = statements()
    scopes = {f"user-{number}": list(islice(source, each)) for number in range(load.scopes)}
    store = folder / "store.db"
    questions = [(f"user-{number % load.scopes}", QUESTIONS[number % len(QUESTIONS)]) for number in range(count)]
    latencies: dict[str, list[float]] = {}
    with Memory(store, embedder=cheap, extractor=WholeTurns(), judge=KeepAll()) as memory:
        filling = sum(_timed(_add, memory, texts, user) for user, texts in scopes.items())
        latencies["memwell, question embedded before"] = _latencies(memory, questions)
    with Memory(store, embedder=mixed, extractor=WholeTurns(), judge=KeepAll()) as memory:
        latencies["memwell, with embedding the question"] = _latencies(memory, questions)
    with Memory(store, embedder=cheap, extractor=WholeTurns(), judge=KeepAll()) as memory:
        further = [_timed(_add, memory, [text], "user-0") for text in islice(source, _FURTHER + 1)]
    peak = None if sys.platform == "win32" else float(_python(_PEAK, str(store), str(real.dimensions), *scopes))
    texts = scopes["user-0"]
    latencies["floor: numpy dot product"] = _floor(cheap, texts, questions)
    baseline = PlainBm25(texts)
    latencies["plain BM25 in memory"] = [_timed(baseline.search, text, _LIMIT) for _, text in questions]
    rows: list[tuple[Cell, ...]] = [
        (load.memories, load.scopes, name, *_spread(seconds)) for name, seconds in latencies.items()
    ]
    disk = sum(path.stat().st_size for path in folder.iterdir())
    write = 1000 * median(further[1:])  # the first one reads the scope
    return rows, (load.memories, load.scopes, load.memories / filling, write, disk // load.memories, peak)


def _latencies(memory: Memory, questions: Sequence[tuple[str, str]]) -> list[float]:
    for user, text in questions[: max(1, len({user for user, _ in questions}))]:
        memory.search(text, user_id=user, limit=_LIMIT)
    return [_timed(memory.search, text, user_id=user, limit=_LIMIT) for user, text in questions]


def _floor(embedder: Embedder, texts: Sequence[str], questions: Sequence[tuple[str, str]]) -> list[float]:
    """The least an exact search can cost: one matrix product and the best ten of it."""
    matrix = checked(embedder.passages(texts), embedder.dimensions, len(texts))
    vectors = [embedder.query(text) for _, text in questions]
    kth = min(_LIMIT, len(texts) - 1)
    return [_timed(lambda query: np.argpartition(-(matrix @ query), kth)[:_LIMIT], vector) for vector in vectors]
