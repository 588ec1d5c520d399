"""Workers to be killed. Run as a script: victim.py STORE URL; commands on standard input, one a line.

work [POINT]    fork a worker that carries out what is due, and dies at POINT where one is named; prints its pid, then
                how it ended
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from importlib import import_module

from memwell.builtin.packs import load_languages
from memwell.builtin.rules import RuleJudge
from memwell.composition import open_engine
from memwell.environment import load_settings
from memwell.testing.doubles import HashEmbedder
from memwell.testing.faults import armed


class LaterClock:
    """Some hours later, so that whatever waits is due."""

    def __init__(self, hours: int) -> None:
        self.hours = hours

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(hours=self.hours)


def work(store: str, url: str, point: str, hours: int) -> None:
    chat = {"base_url": url, "model": "scripted", "retries": 0}
    engine = open_engine(
        load_settings(store=store, chat=chat),
        embedder=HashEmbedder(),
        judge=RuleJudge(),
        clock=LaterClock(hours),
        reach=armed(point),
    )
    engine.worker.drain()
    engine.close()


def main() -> None:
    store, url = sys.argv[1:]
    load_languages()
    for name in ("openai", "filelock", "pydantic"):  # shared by all workers, so that each starts at once
        import_module(name)
    # Each worker lives an hour after the one before, so that what that one put off is due.
    for hours, line in enumerate(sys.stdin, 1):
        point = line.partition(" ")[2].strip()
        pid = os.fork()
        if pid == 0:
            work(store, url, point, hours)
            os._exit(0)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
        _, status = os.waitpid(pid, 0)
        sys.stdout.write("done\n" if status == 0 else "killed\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
