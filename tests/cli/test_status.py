"""Figures of a store and of a server, once and again and again, each with what it says."""

from __future__ import annotations

import functools
import os
import pty
import re
import signal
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from tests.cli.harness import Cli
from tests.interfaces.servers import environment, memwell, serving

WORDS = tomllib.loads(files("memwell.interfaces.cli").joinpath("status.toml").read_text(encoding="utf-8"))


def test_every_figure_says_what_it_is(cli: Cli) -> None:
    cli.ok("add", "I live in Lyon.")
    figures = cli.ok("status", "--json").json
    assert {*figures} == {*WORDS}
    lines = cli.ok("status").out.splitlines()
    assert len(lines) == len(figures)
    for name, line in zip(figures, lines, strict=True):
        assert line.startswith(name.replace("_", " "))
        assert WORDS[name] in line


def watching(home: Path) -> tuple[subprocess.Popen[bytes], int]:
    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memwell", "status", "--watch", "0.1"],
        env={**environment(home), "TERM": "xterm", "COLUMNS": "120", "LINES": "40"},
        stdin=inner,
        stdout=inner,
        stderr=inner,
        # Where the tests run in the background, interrupts are ignored, and children inherit that.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    os.close(inner)
    return process, outer


def read_until(outer: int, pattern: str) -> None:
    shown = ""
    while not re.search(pattern, shown):
        shown += os.read(outer, 65_536).decode(errors="replace")


def test_a_live_view_follows_the_store_until_it_is_interrupted(tmp_path: Path) -> None:
    assert memwell(tmp_path, "init").returncode == 0
    process, outer = watching(tmp_path)
    read_until(outer, r"memories\s+0")
    assert memwell(tmp_path, "add", "I live in Lyon.", "--user", "ann").returncode == 0
    read_until(outer, r"memories\s+1")
    process.send_signal(signal.SIGINT)
    read_until(outer, "interrupted")
    assert process.wait(60) == 130
    os.close(outer)


def test_a_server_is_asked_by_its_url_and_key(tmp_path: Path) -> None:
    key = tmp_path / "key"
    with serving(tmp_path) as running:
        key.write_text(memwell(tmp_path, "keys", "create", "k").stdout, encoding="utf-8")
        asked = memwell(tmp_path / "elsewhere", "status", "--url", running.url, "--key-file", str(key))
        assert asked.returncode == 0, asked.stderr
        assert str(tmp_path / "memwell.db") in asked.stdout
        refused = memwell(tmp_path, "status", "--url", running.url)
        assert refused.returncode != 0
        assert "API key" in refused.stderr
    gone = memwell(tmp_path, "status", "--url", running.url, "--key-file", str(key))
    assert "no answer from" in gone.stderr
    missing = memwell(tmp_path, "status", "--url", running.url, "--key-file", str(tmp_path / "none"))
    assert "cannot read" in missing.stderr


def test_no_summary_in_the_help_is_cut(cli: Cli) -> None:
    _, _, verbs = cli.ok("--help").out.partition("Commands:")
    assert "memory" in verbs
    assert "..." not in verbs
    assert "…" not in verbs


@pytest.mark.parametrize("verb", ["list", "evidence"])
def test_a_pipe_gets_each_row_on_one_line_with_its_id(cli: Cli, verb: str) -> None:
    cli.ok("add", "I live in Lyon " + "and walk along the river " * 12 + "every day.")
    (row,) = [line for line in cli.ok(verb).out.splitlines() if "every day" in line]
    assert re.search(r"(mem|ev)_\w{26}\s*$", row)
