"""Rendering: data to stdout, messages to stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memwell.interfaces.cli.safe import dump, one_line, plain

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 200  # columns where output goes to a file or a pipe, so that nothing is cut


def console() -> Console:
    """Console for data. Colours only on a terminal; markup and emoji codes in data mean nothing."""
    return _console(sys.stdout.isatty(), stderr=False)


def _console(terminal: bool, *, stderr: bool) -> Console:
    from rich.console import Console

    width = None if terminal else PIPE_WIDTH
    return Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def say(message: str) -> None:
    """Print a message for the person at the terminal."""
    sys.stderr.write(f"{plain(message)}\n")


def print_json(value: Any) -> None:
    """Print data as JSON."""
    sys.stdout.write(f"{dump(value)}\n")


def print_text(text: str) -> None:
    """Print data as it is, made harmless."""
    sys.stdout.write(f"{plain(text)}\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, fixed: Sequence[str] = ()) -> None:
    """Print a table; the columns named in ``fixed`` are never wrapped, so that ids can be copied."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=column in fixed, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console().print(table)


def print_fields(fields: Mapping[str, str]) -> None:
    """Print names and values, one pair a line; further lines of a value are indented."""
    width = max(map(len, fields), default=0)
    indent = " " * (width + 2)
    for name, value in fields.items():
        print_text(f"{name:<{width}}  " + f"\n{indent}".join(plain(value).splitlines() or [""]))


def local(moment: datetime | None) -> str:
    """``moment`` in the local zone, to the minute; a dash for none."""
    return "-" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M")


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on stderr where that is a terminal; gives a function of steps done, steps in all and the step."""
    if not sys.stderr.isatty():
        yield lambda done, total, step: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=_console(True, stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)

        def show(done: int, total: int, step: str) -> None:
            bar.update(task, completed=done, total=total, description=one_line(f"{what} {step}"))

        yield show
