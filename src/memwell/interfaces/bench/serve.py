"""What a server costs beside the same calls in one process, and how soon each server answers its first call."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import IO, Any

import httpx

from memwell.interfaces.bench.report import Cell, Progress, Report, Table, environment, no_progress
from memwell.interfaces.bench.statements import statements
from memwell.interfaces.python.memory import Memory

CLIENTS = (1, 8)
_USER = "user-0"
_QUESTION = "Where does the user live?"
_URL = re.compile(r"listens on (\S+)")
_GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
_READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
_MCP_CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": _QUESTION}},
}
_RPC_CALL = {"id": "1", "method": "search", "params": {"query": _QUESTION}}

Call = Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to make calls: each kind as a function of the words, and the CPU seconds spent on them so far."""

    name: str
    calls: dict[str, Call]
    cpu: Callable[[], float | None]


def run(*, requests: int = 400, starts: int = 5, progress: Progress = no_progress) -> Report:
    """Measure on stores of their own, with the builtin embedder, extractor and judge.

    Args:
        requests: of each kind, way and number of clients.
        starts: of each server; the medians are shown.
        progress: called with steps done, steps in all and the next step.
    """
    about = environment()
    began = time.perf_counter()
    with TemporaryDirectory(prefix="memwell-bench-") as folder:
        loads = tuple(_loads(Path(folder), requests, progress))
        cold = tuple(_cold(Path(folder), starts))
    return Report(
        benchmark="serve",
        tables=(
            Table("Calls", ("way", "call", "clients", "calls/s", "p50 ms", "p95 ms", "CPU ms a call"), loads),
            Table("Cold start, medians", ("server", "greeting s", "first answer s", "CPU s until then"), cold),
        ),
        environment=about,
        seconds=time.perf_counter() - began,
        settings={"requests": requests, "starts": starts},
    )


def _loads(folder: Path, requests: int, progress: Progress) -> Iterator[tuple[Cell, ...]]:
    total = 4 * len(CLIENTS)
    done = 0
    for opened in (_embedded, _served):
        with opened(folder) as way:
            source = statements()
            for kind, call in way.calls.items():
                for clients in CLIENTS:
                    progress(done, total, f"{way.name} {kind}, {clients} clients")
                    words = list(islice(source, requests)) if kind == "add" else [_QUESTION] * requests
                    call(words[0] if kind == "search" else next(source))  # what is loaded once is no cost of a call
                    yield (way.name, kind, clients, *_measured(call, words, clients, way.cpu))
                    done += 1
    progress(total, total, "")


def _measured(
    call: Call, words: Sequence[str], clients: int, cpu: Callable[[], float | None]
) -> tuple[float, float, float, float | None]:
    def timed(text: str) -> float:
        began = time.perf_counter()
        call(text)
        return 1000 * (time.perf_counter() - began)

    spent, began = cpu(), time.perf_counter()
    with ThreadPoolExecutor(clients) as threads:
        times = list(threads.map(timed, words))
    seconds, after = time.perf_counter() - began, cpu()
    used = None if spent is None or after is None else 1000 * (after - spent) / len(words)
    return len(words) / seconds, median(times), quantiles(times, n=20)[-1], used


@contextmanager
def _embedded(folder: Path) -> Iterator[_Way]:
    with Memory(folder / "embedded.db", user_id=_USER) as memory:
        calls: dict[str, Call] = {"add": memory.add, "search": memory.search}
        yield _Way("embedded", calls, time.process_time)


@contextmanager
def _served(folder: Path) -> Iterator[_Way]:
    with (
        _started("serve", folder / "served.db") as process,
        httpx.Client(base_url=_listening(process), timeout=60) as http,
    ):

        def send(path: str, name: str) -> Call:
            return lambda words: http.post(path, json={name: words, "user_id": _USER}).raise_for_status()

        calls = {"add": send("/v1/memories", "messages"), "search": send("/v1/memories/search", "query")}
        yield _Way("served", calls, lambda: _cpu(process))


def _cold(folder: Path, starts: int) -> Iterator[tuple[Cell, ...]]:
    for name, first in (("serve", _first_of_serve), ("mcp", _first_of_mcp), ("rpc", _first_of_rpc)):
        found = [first(folder / f"{name}.db") for _ in range(starts)]
        yield (name, *(_median(column) for column in zip(*found, strict=True)))


def _median(values: Sequence[float | None]) -> float | None:
    given = [value for value in values if value is not None]
    return median(given) if given else None


def _first_of_serve(store: Path) -> tuple[float | None, float | None, float | None]:
    began = time.perf_counter()
    with _started("serve", store) as process:
        url = _listening(process)
        greeted = time.perf_counter() - began
        body = {"query": _QUESTION, "user_id": _USER}
        httpx.post(f"{url}/v1/memories/search", json=body, timeout=60).raise_for_status()
        return greeted, time.perf_counter() - began, _cpu(process)


def _first_of_mcp(store: Path) -> tuple[float | None, float | None, float | None]:
    began = time.perf_counter()
    with _started("mcp", store) as process:
        _ask(process, _GREETING)
        greeted = time.perf_counter() - began
        _send(process, _READY)
        _ask(process, _MCP_CALL)
        return greeted, time.perf_counter() - began, _cpu(process)


def _first_of_rpc(store: Path) -> tuple[float | None, float | None, float | None]:
    began = time.perf_counter()
    with _started("rpc", store) as process:
        _ask(process, _RPC_CALL)
        return None, time.perf_counter() - began, _cpu(process)


@contextmanager
def _started(verb: str, store: Path) -> Iterator[subprocess.Popen[str]]:
    """A server on ``store`` as a process of its own."""
    options = ["--port", "0", "--log-level", "error"] if verb == "serve" else ["--user", _USER]
    with subprocess.Popen(
        [sys.executable, "-m", "memwell", verb, "--store", str(store), *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if verb == "serve" else None,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def _listening(process: subprocess.Popen[str]) -> str:
    found = _URL.search(_of(process.stderr).readline())
    assert found is not None
    return found[1]


def _send(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    stdin = _of(process.stdin)
    stdin.write(json.dumps(message) + "\n")
    stdin.flush()


def _ask(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    _send(process, message)
    answer = json.loads(_of(process.stdout).readline())
    assert answer.get("ok", "result" in answer), answer


def _of(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _cpu(process: subprocess.Popen[str]) -> float | None:
    """CPU seconds of a running process, where the system tells (Linux)."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
