"""Command line: parse, call one use case, render."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``memwell`` with ``arguments`` (those of the process where omitted) and return its exit code."""
    try:
        from memwell.interfaces.python.loading import loading

        with loading():
            from memwell.interfaces.cli.run import run  # late, so that importing the package stays cheap
        return run(arguments)
    except KeyboardInterrupt:  # before or after ``run`` could take care of it
        sys.stderr.write("error: interrupted (what was acknowledged is stored)\n")
        return 130
