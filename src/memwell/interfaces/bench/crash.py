"""Crashes: writer processes killed at random moments; no acknowledged write may be lost, doubled or torn."""

from __future__ import annotations

import multiprocessing
import random
import secrets
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from memwell.errors import MemwellError
from memwell.interfaces.bench.contents import contents
from memwell.interfaces.bench.parts import HashEmbedder, KeepAll, WholeTurns
from memwell.interfaces.bench.report import Progress, Report, Table, environment, no_progress
from memwell.interfaces.python.memory import Memory

WRITERS = 4
TRIAL_SECONDS = 0.3
_SHARED = "shared"
_DIMENSIONS = 16
_START_SECONDS = 60

# A fork server gives each writer a clean process, yet imports everything only once.
if sys.platform == "win32":
    _PROCESSES = multiprocessing.get_context("spawn")
else:
    _PROCESSES = multiprocessing.get_context("forkserver")
    _PROCESSES.set_forkserver_preload([__name__])


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial: what the writers were told is stored, what they were refused, and what is wrong afterwards."""

    killed: int
    acknowledged: int
    refused: int
    problems: tuple[str, ...]


def run(
    trials: int = 200,
    *,
    seed: int | None = None,
    seconds: float = TRIAL_SECONDS,
    progress: Progress = no_progress,
) -> Report:
    """Kill writers and look what is left.

    In each trial ``WRITERS`` processes add to one file, each to a user of its own and to one they share. One of them or
    all are killed (SIGKILL) at a random moment. Then the file is opened again: each write whose ``add`` had returned
    must be there exactly once, and ``Memory.check`` must find nothing.

    Args:
        seed: of the moments and victims; a random one where ``None``; the report holds it.
        seconds: length of a trial.
        progress: called with trials done, trials in all and the seed.
    """
    about = environment()
    began = time.perf_counter()
    seed = secrets.randbits(32) if seed is None else seed
    chance = random.Random(seed)
    done: list[Trial] = []
    for number in range(trials):
        progress(number, trials, f"seed {seed}")
        with TemporaryDirectory(prefix="memwell-bench-") as folder:
            done.append(trial(Path(folder) / "store.db", chance, seconds))
    progress(trials, trials, f"seed {seed}")
    acknowledged = sum(each.acknowledged for each in done)
    row = (
        trials,
        sum(each.killed for each in done),
        acknowledged,
        sum(each.refused for each in done),
        sum(bool(each.problems) for each in done),
    )
    columns = ("trials", "processes killed", "acknowledged writes", "refused writes", "trials with a problem")
    return Report(
        benchmark="crash",
        tables=(Table(f"Kills at random moments, seed {seed}", columns, (row,)),),
        environment=about,
        seconds=time.perf_counter() - began,
        settings={"seed": seed, "trials": trials, "writers": WRITERS, "seconds": seconds},
        problems=tuple(f"trial {number}: {line}" for number, each in enumerate(done) for line in each.problems),
    )


def trial(store: Path, chance: random.Random, seconds: float = TRIAL_SECONDS) -> Trial:
    """Run writers on a new file, kill some, and compare what they were told with what the file holds."""
    opened(store).close()
    writers = [_start(store, name) for name in range(WRITERS)]
    processes = [process for process, _ in writers]
    victims = chance.choice((processes, [chance.choice(processes)]))
    moment = chance.uniform(0, seconds)
    if not all(channel.poll(_START_SECONDS) for _, channel in writers):
        for process in processes:
            process.kill()
        return Trial(0, 0, 0, (f"a writer did not start within {_START_SECONDS} s",))
    for _, channel in writers:
        channel.recv_bytes()
        channel.send_bytes(str(seconds).encode())
    time.sleep(moment)
    for process in victims:
        process.kill()
    told = [word for _, channel in writers for word in _drain(channel)]
    for process in processes:
        process.join()
    problems = [
        f"a writer ended with exit code {process.exitcode}"
        for process in processes
        if process not in victims and process.exitcode != 0
    ]
    acknowledged = [word.removeprefix("stored ") for word in told if word.startswith("stored ")]
    problems += compare(store, acknowledged)
    return Trial(len(victims), len(acknowledged), len(told) - len(acknowledged), tuple(problems))


def opened(store: Path) -> Memory:
    """The store with parts that cost next to nothing, so that most of a trial is writing."""
    return Memory(store, embedder=HashEmbedder(_DIMENSIONS), extractor=WholeTurns(), judge=KeepAll())


def write(store: Path, name: int, channel: Connection) -> None:
    """Body of a writer process: add until the time is over, and tell of each write only once it has returned."""
    with opened(store) as memory:
        memory.add(f"Writer {name} is awake.", user_id=f"writer-{name}")
        channel.send_bytes(b"ready")
        until = time.monotonic() + float(channel.recv_bytes())
        number = 0
        while time.monotonic() < until:
            number += 1
            user = _SHARED if number % 2 else f"writer-{name}"
            text = f"Parcel {name}x{number} is in the hall."
            try:
                memory.add(text, user_id=user)
            except MemwellError as error:
                channel.send_bytes(f"refused {error.code}".encode())
            else:
                channel.send_bytes(f"stored {text}".encode())
    channel.close()


def _start(store: Path, name: int) -> tuple[BaseProcess, Connection]:
    ours, theirs = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=write, args=(store, name, theirs), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _drain(channel: Connection) -> list[str]:
    """All that a writer said until it ended; the pipe keeps the words of a killed one."""
    words = []
    while True:
        try:
            words.append(channel.recv_bytes().decode())
        except (EOFError, OSError):  # OSError: killed while it spoke, so it had not told us
            channel.close()
            return words


def compare(store: Path, acknowledged: Sequence[str]) -> list[str]:
    """What is wrong with a store that must hold each of the ``acknowledged`` texts exactly once; empty when sound."""
    with opened(store) as memory:
        problems = list(memory.check())
        users = (_SHARED, *(f"writer-{name}" for name in range(WRITERS)))
        stored = Counter(content for user in users for content in contents(memory, user, include_history=True))
    problems += [f"acknowledged {text!r} is there {stored[text]} times" for text in acknowledged if stored[text] != 1]
    told = set(acknowledged)
    problems += [f"{text!r} is there {count} times" for text, count in stored.items() if count > 1 and text not in told]
    return problems
