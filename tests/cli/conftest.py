"""A command line with a store and settings of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.harness import Cli


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    for name in [name for name in os.environ if name.startswith("MEMWELL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MEMWELL_HOME", str(tmp_path))
    monkeypatch.setenv("MEMWELL_USER_ID", "ann")
    return Cli(tmp_path / "memwell.db", monkeypatch, capsys)
