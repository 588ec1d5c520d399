"""Long work shows how far it is, on a terminal and nowhere else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.cli.harness import Cli
from tests.cli.terminal import on_terminal


def shown(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    code, text = on_terminal([sys.executable, "-m", "memwell", *arguments], width=120, environment=environment)
    assert code == 0, text
    return text


def test_long_work_shows_a_bar_on_a_terminal_alone(cli: Cli, tmp_path: Path) -> None:
    cli.ok("add", "I live in Lyon.")
    bundle, other = str(tmp_path / "all.bundle"), ("--store", str(tmp_path / "other.db"))
    assert "export ━" in shown("export", bundle, "--all")
    plan = cli.ok("restore", bundle, *other, "--json").json["hash"]
    assert "restore ━" in shown("restore", bundle, "--yes", plan, *other)
    token = cli.ok("forget", "--everything", "--json").json["token"]
    assert "forget ━" in shown("forget", "--yes", token)
    assert cli.ok("export", bundle, "--all", *other).err == ""  # no terminal
