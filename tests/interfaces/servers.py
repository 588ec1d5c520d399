"""Servers as processes of their own, on this machine alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
_URL = re.compile(r"listens on (https?://\S+)")


def environment(home: Path) -> dict[str, str]:
    """Settings of a child process that sees no others than the test's."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MEMWELL_")}
    return {**own, "PYTHONPATH": str(ROOT / "src"), "MEMWELL_HOME": str(home)}


def memwell(home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    return subprocess.run(
        [sys.executable, "-m", "memwell", *arguments],
        env={**environment(home), **variables},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=60,
    )


@dataclass
class Running:
    """A server that runs, and the lines that it has logged."""

    process: subprocess.Popen[str]
    url: str = ""
    log: list[str] = field(default_factory=list)

    def stop(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(60)


@contextmanager
def serving(home: Path, *arguments: str, verb: str = "serve", **variables: str) -> Iterator[Running]:
    """``memwell serve`` (or another verb) on a free port, until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memwell", verb, "--port", "0", *arguments],
        env={**environment(home), **variables},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    running = Running(process)
    assert process.stderr is not None
    for line in process.stderr:
        running.log.append(line)
        if found := _URL.search(line):
            running.url = found[1]
            break
    assert running.url, "".join(running.log)
    reader = threading.Thread(target=lambda: running.log.extend(process.stderr or ()), daemon=True)
    reader.start()
    try:
        yield running
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(60)
        reader.join(60)
        process.stderr.close()
