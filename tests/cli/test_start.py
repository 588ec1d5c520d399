"""A command loads and makes no more than it needs."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from memwell.interfaces.cli.app import VERBS, build_app
from memwell.interfaces.python.loading import loading
from tests.cli.harness import Cli
from tests.interfaces.servers import environment


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_made_alone(verb: str) -> None:
    app = build_app(verb)
    made = [command.name for command in app.registered_commands] + [group.name for group in app.registered_groups]
    assert made == [verb]


def test_the_help_and_its_suggestions_know_all_verbs(cli: Cli) -> None:
    shown = cli.ok("--help").out
    assert [verb for verb in VERBS if f"\n  {verb} " not in shown] == []
    refused = cli("serch", "x")
    assert refused.code == 2
    assert "search" in refused.err


def test_a_command_line_needs_nothing_of_the_engine(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from memwell.interfaces.cli import main\n"
        "assert main(['serve', '--help']) == 0\n"
        "needless = ('numpy', 'rich', 'memwell.domain', 'memwell.interfaces.cli.verbs.bench')\n"
        "assert not [name for name in sys.modules if name.startswith(needless)]\n"
    )
    subprocess.run([sys.executable, "-c", program], env=environment(tmp_path), check=True)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(enabled: bool) -> None:
    gc.enable() if enabled else gc.disable()
    try:
        with loading():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
