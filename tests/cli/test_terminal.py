"""What a person sees on a terminal of some width, and what an interruption from the keyboard does."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.cli.harness import Cli
from tests.cli.terminal import on_terminal

ENGLISH = "I always drink green tea in the morning because coffee makes me so nervous that I cannot work until noon."
CHINESE = "我每天早上七点起床以后都会先去公园里跑步，然后再回家给孩子们做早饭，因为这样一整天都很有精神。"
MESSAGES = 3_000  # far more than are written until the interruption
BATCH = 50


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def lines_on_terminal(width: int, *arguments: str) -> list[str]:
    command = [sys.executable, "-m", "memwell", *arguments]
    code, shown = on_terminal(command, width=width, environment=environment())
    assert code == 0, shown
    return shown.splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_words_and_ids_can_be_read_on_any_terminal(cli: Cli, width: int) -> None:
    cli.ok("add", f"{ENGLISH} {CHINESE}")
    ids = [record["id"] for record in cli.ok("list", "--json").json["memories"]]
    for arguments in (("list",), ("search", "喝什么 green tea", "--raw", "1")):
        lines = lines_on_terminal(width, *arguments)
        for memory_id in ids:
            assert any(memory_id in line.split() for line in lines)
        words = [line for line in lines if re.search("coffee|公园", line)]
        assert words
        # As much of a sentence stands on a line as can be read with ease.
        assert all(len(line.encode("gbk")) >= min(width, 40) - 12 for line in words)


def test_a_wide_terminal_shows_a_table_and_a_narrow_one_two_lines_an_item(cli: Cli) -> None:
    cli.ok("add", "I live in Lyon.", "--at", "2025-01-10")
    (record,) = cli.ok("list", "--json").json["memories"]
    assert any({"I", "Lyon.", record["id"]} <= set(line.split()) for line in lines_on_terminal(120, "list"))
    words, *others = lines_on_terminal(80, "list")
    assert words == "I live in Lyon."
    assert [line.split() for line in others] == [["2025-01-10", "00:00", "state", "current", record["id"]]]


def test_an_interrupted_import_says_so_and_goes_on_later(cli: Cli, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("".join(f"User: Remark number {number}.\n" for number in range(MESSAGES)), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "memwell", "import", str(chat)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # the caller may ignore it
    )
    while stored(cli.store) == 0:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    first, last = err.splitlines()
    assert "stopping" in first
    assert "import again" in last
    before = stored(cli.store)
    assert 0 < before < MESSAGES
    assert before % BATCH == 0
    assert cli.ok("status", "--json").json["unformed"] == 0
    cli.ok("import", str(chat), "--limit", str(before + BATCH))
    assert stored(cli.store) == before + BATCH


def stored(store: Path) -> int:
    """Messages in the store so far; none while it is being made."""
    with suppress(sqlite3.OperationalError), closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM evidence").fetchone()[0])
    return 0
