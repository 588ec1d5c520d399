"""The verbs of ``memwell bench``: measure on this machine, print a table, keep JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memwell.errors import InputError
from memwell.interfaces.cli.exits import ExitCode
from memwell.interfaces.cli.options import Json, needs_extra
from memwell.interfaces.cli.output import console, print_json, progress, say

if TYPE_CHECKING:
    from memwell.engine.ports import Embedder
    from memwell.interfaces.bench.report import Report

_QUICK_TRIALS = 10
_QUICK_WRITES = 50
_QUICK_MEMORIES = 1_000

bench = typer.Typer(help="Measure on this machine.", rich_markup_mode=None)

Paths = Annotated[list[Path], typer.Argument(metavar="PATH...", help="Data files, or folders of them.")]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Also keep the report there, as JSON.")]
Cache = Annotated[
    Path | None, typer.Option("--cache", metavar="FOLDER", help="Keep vectors there, so that the next run is quick.")
]
Quick = Annotated[bool, typer.Option("--quick", help="A short run.")]


@bench.command("recall")
def recall(
    paths: Paths,
    memories: Annotated[
        bool, typer.Option("--memories", help="Form memories and measure them too; takes many times as long.")
    ] = False,
    ablate: Annotated[bool, typer.Option("--ablate", help="Also what each signal is worth.")] = False,
    cache: Cache = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Share of the evidence found, beside plain keyword search."""
    from memwell.interfaces.bench import recall as benchmark

    with progress("recall") as advance:
        report = benchmark.run(paths, embedder=_embedder(cache), memories=memories, ablate=ablate, progress=advance)
    _show(report, out, as_json)


@bench.command("behaviour")
def behaviour(paths: Paths, cache: Cache = None, out: Out = None, as_json: Json = False) -> None:
    """Share of scenarios after which the right memories are current."""
    from memwell.interfaces.bench import behaviour as benchmark

    with progress("behaviour") as advance:
        report = benchmark.run(paths, embedder=_embedder(cache), progress=advance)
    _show(report, out, as_json)


@bench.command("decisions")
def decisions(
    paths: Paths,
    unrelated: Annotated[int, typer.Option("--unrelated", min=0, help="Memories of other domains beside.")] = 100,
    cache: Cache = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Share of labelled examples decided rightly, and of memories wrongly retired."""
    from memwell.interfaces.bench import decisions as benchmark

    with progress("decisions") as advance:
        report = benchmark.run(paths, unrelated=unrelated, embedder=_embedder(cache), progress=advance)
    _show(report, out, as_json)


@bench.command("speed")
def speed(
    quick: Quick = False,
    large: Annotated[bool, typer.Option("--large", help="Also 100,000 and a million memories.")] = False,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Start, writes and searches, beside a numpy floor."""
    from memwell.interfaces.bench import speed as benchmark

    with progress("speed") as advance:
        if quick:
            loads = (benchmark.Load(_QUICK_MEMORIES),)
            report = benchmark.run(loads, writes=_QUICK_WRITES, searches=_QUICK_WRITES, progress=advance)
        else:
            loads = (*benchmark.DEFAULT_LOADS, *(benchmark.LARGE_LOADS if large else ()))
            report = benchmark.run(loads, progress=advance)
    _show(report, out, as_json)


@bench.command("crash")
def crash(
    quick: Quick = False,
    trials: Annotated[int, typer.Option("--trials", min=1, help="How many times.")] = 200,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeats the moments of an earlier run.")] = None,
    out: Out = None,
    as_json: Json = False,
) -> None:
    """Kill writers; nothing acknowledged may be lost."""
    from memwell.interfaces.bench import crash as benchmark

    with progress("crash") as advance:
        report = benchmark.run(_QUICK_TRIALS if quick else trials, seed=seed, progress=advance)
    _show(report, out, as_json)


@bench.command("forget")
def forget(quick: Quick = False, out: Out = None, as_json: Json = False) -> None:
    """What forgetting costs as a store grows, cleanup apart."""
    from memwell.interfaces.bench import forget as benchmark

    with progress("forget") as advance:
        if quick:
            loads = (benchmark.Load(_QUICK_MEMORIES), benchmark.Load(2 * _QUICK_MEMORIES))
            report = benchmark.run(loads, forgets=_QUICK_TRIALS, batches=1, progress=advance)
        else:
            report = benchmark.run(progress=advance)
    _show(report, out, as_json)


@bench.command("serve")
def serve(quick: Quick = False, out: Out = None, as_json: Json = False) -> None:
    """Calls by a server beside calls in one process, and cold starts."""
    needs_extra("server", "fastapi", "uvicorn", "prometheus_client")
    needs_extra("client", "httpx")
    needs_extra("mcp", "mcp")
    from memwell.interfaces.bench import serve as benchmark

    with progress("serve") as advance:
        if quick:
            report = benchmark.run(requests=_QUICK_WRITES, starts=1, progress=advance)
        else:
            report = benchmark.run(progress=advance)
    _show(report, out, as_json)


def _embedder(cache: Path | None) -> Embedder | None:
    """The bundled embedder with its vectors kept in ``cache``; ``None`` where nothing is to be kept."""
    if cache is None:
        return None
    from memwell.builtin.embedder import bundled_embedder
    from memwell.interfaces.bench.parts import cached

    return cached(bundled_embedder(), cache)


def _show(report: Report, out: Path | None, as_json: bool) -> None:
    from memwell.interfaces.bench.report import render

    if out is not None:
        try:
            out.write_text(json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot write {str(out)!r}: {error.strerror}", remedy="name a writable file") from None
    if as_json:
        print_json(report.to_dict())
    else:
        render(report, console())
    if report.problems:
        say(f"error: the benchmark found {len(report.problems)} problems (see the report; please send it in)")
        raise typer.Exit(ExitCode.INPUT)
