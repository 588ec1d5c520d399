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
    from rich.table import Table

PIPE_WIDTH = 1_000  # columns where output goes to a file or a pipe, so that nothing is cut
MIN_WORDS_WIDTH = 40  # columns below which sentences in a table become hard to read
_GAP = 3  # terminal columns between two columns of a table; its edges take two more


def console() -> Console:
    """Console for data. Colours only on a terminal; markup and emoji codes in data mean nothing."""
    return _console(sys.stdout.isatty(), stderr=False)


def _console(terminal: bool, *, stderr: bool) -> Console:
    from rich.console import Console

    width = None if terminal else PIPE_WIDTH
    return Console(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)


def standard_input() -> str:
    """What comes in on standard input, which must be text."""
    from memwell.interfaces.importing.reading import decode

    return decode(sys.stdin.buffer.read(), "standard input")


def say(message: str) -> None:
    """Print a message for the person at the terminal."""
    sys.stderr.write(f"{plain(message)}\n")


def print_json(value: Any) -> None:
    """Print data as JSON."""
    sys.stdout.write(f"{dump(value)}\n")


def print_text(text: str) -> None:
    """Print data as it is, made harmless."""
    sys.stdout.write(f"{plain(text)}\n")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, words: str) -> None:
    """Print a table in which only the column named ``words`` wraps, so that ids and dates can be copied.

    Where that column would be too narrow to read, each row is its words and, below them, the other cells.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    wide = columns.index(words)
    target = console()
    if _left_for(wide, columns, cells, target.width) >= MIN_WORDS_WIDTH:
        _print_columns(target, columns, cells, wide)
    else:
        _print_stacked(target, cells, wide)


def _left_for(wide: int, columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> int:
    """Terminal columns left for column ``wide`` when all others get what they need."""
    from rich.cells import cell_len

    others = [i for i in range(len(columns)) if i != wide]
    return width - 2 - sum(max(cell_len(row[i]) for row in [columns, *cells]) + _GAP for i in others)


def _print_columns(target: Console, columns: Sequence[str], cells: Sequence[Sequence[str]], wide: int) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, no_wrap=i != wide, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    target.print(table)


def _print_stacked(target: Console, cells: Sequence[Sequence[str]], wide: int) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    for row in cells:
        target.print(Text(row[wide], overflow="fold"))
        line = ""
        for cell in (*row[:wide], *row[wide + 1 :]):
            if line and cell_len(line) + 2 + cell_len(cell) > target.width:
                target.print(Text(line, style="dim"), soft_wrap=True)
                line = ""
            line += f"  {cell}"
        target.print(Text(line, style="dim"), soft_wrap=True)


def print_fields(fields: Mapping[str, str]) -> None:
    """Print names and values, one pair a line; further lines of a value are indented."""
    width = max(map(len, fields), default=0)
    indent = " " * (width + 2)
    for name, value in fields.items():
        print_text(f"{name:<{width}}  " + f"\n{indent}".join(plain(value).splitlines() or [""]))


def figures_table(rows: Sequence[tuple[str, str, str]]) -> Table:
    """Names, values and, dimmed, what they say; to be printed or shown live."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(style="dim", overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    return table


def print_table_of(table: Table) -> None:
    """Print a table as data."""
    console().print(table)


@contextmanager
def live() -> Iterator[Callable[[Table], None]]:
    """Gives a function that shows a table in place of the one before, where that is a terminal; else below it."""
    target = console()
    if not target.is_terminal:
        yield target.print
        return
    from rich.live import Live

    with Live(console=target, auto_refresh=False) as view:
        yield lambda table: view.update(table, refresh=True)


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
