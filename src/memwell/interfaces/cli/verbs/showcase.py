"""The verb demo."""

from __future__ import annotations

import typer

from memwell.interfaces.cli.exits import ExitCode
from memwell.interfaces.cli.options import Json
from memwell.interfaces.cli.output import print_json, print_text, say


def demo(as_json: Json = False) -> None:
    """Tell a story on a temporary store, checking each step."""
    from memwell.interfaces.cli.demo import DemoFailedError, run_demo

    try:
        steps = run_demo(print_text if not as_json else lambda line: None)
    except DemoFailedError as error:
        say(f"error: {error} (please report it)")
        raise typer.Exit(ExitCode.INPUT) from None
    if as_json:
        print_json({"steps": steps})
