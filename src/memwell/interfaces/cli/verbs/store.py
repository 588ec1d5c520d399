"""Verbs about the store as a whole: init, doctor."""

from __future__ import annotations

import platform
import sqlite3
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from memwell.errors import MemwellError
from memwell.interfaces.cli.exits import ExitCode, exit_code
from memwell.interfaces.cli.options import Json, StorePath, location_of, looked_into, opened
from memwell.interfaces.cli.output import print_json, print_text

if TYPE_CHECKING:
    from memwell.interfaces.python.memory import Memory

_DOCTOR = "memwell-doctor"  # a user without memories, in whose name the doctor asks


def init(store: StorePath = None, as_json: Json = False) -> None:
    """Create the store where there is none; say where it is."""
    with opened(store, make=True) as memory:
        location = memory.status().location
    if as_json:
        print_json({"location": location})
    else:
        print_text(location)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the doctor looked at; ``remedy`` says what to do where it is not well."""

    name: str
    well: bool
    found: str
    remedy: str = ""


def doctor(
    repair: Annotated[
        bool, typer.Option("--repair", help="Form what is left, build the indexes again and embed what lacks vectors.")
    ] = False,
    store: StorePath = None,
    as_json: Json = False,
) -> None:
    """Check everything and say what to do."""
    checks = [Check("program", True, f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}")]
    code = ExitCode.OK
    try:
        location = location_of(store)
        found = str(location) if location.exists() else f"none yet at {location}; `memwell add` makes one"
        # A set-up can be tried before anything is stored; without a store there is nothing to repair.
        with opened(store) if repair else looked_into(store) as memory:
            if repair:
                memory.resume()
                memory.rebuild()
                memory.reindex()
                memory.clean()
            checks += _examine(memory, found)
    except MemwellError as error:
        checks.append(Check("store", False, error.message, error.remedy))
        code = exit_code(error)
    if code is ExitCode.OK and not all(check.well for check in checks):
        code = ExitCode.STORAGE
    if as_json:
        print_json({"well": code is ExitCode.OK, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            advice = f" ({check.remedy})" if check.remedy else ""
            print_text(f"{'ok ' if check.well else 'BAD'}  {check.name}: {check.found}{advice}")
    raise typer.Exit(code)


def _examine(memory: Memory, store: str) -> list[Check]:
    figures = memory.status()
    problems = memory.check()
    endpoints = memory.try_endpoints()
    memory.search("where?", user_id=_DOCTOR)
    repair = "run `memwell doctor --repair`"
    waiting = _in_jobs(memory)
    lacking = round((1 - figures.indexed) * figures.figures["indexable"])
    return [
        Check("store", True, store),
        Check("extractor and judge", True, f"{figures.extractor}, {figures.judge} (they propose and decide)"),
        *(
            Check(name, True, "answers") if error is None else Check(name, False, error.message, error.remedy)
            for name, error in endpoints.items()
        ),
        Check("embedder", True, f"{figures.embedder} (makes vectors, by which meaning is compared)"),
        Check(
            "vectors",
            lacking <= waiting,
            f"{figures.indexed:.0%} of what needs them made by this embedder",
            "" if lacking <= waiting else repair,
        ),
        *([_unformed(left, repair)] if (left := figures.figures["unformed"] - waiting) > 0 else []),
        *([_waiting(waiting)] if waiting else []),
        *([_dead(dead)] if (dead := figures.figures["jobs"].get("dead", 0)) else []),
        *([] if figures.figures["cleanup"] == "complete" else [_uncleaned(repair)]),
        *(Check("integrity", False, problem, f"{repair}; if it stays, restore a copy") for problem in problems),
        *([] if problems else [Check("integrity", True, "sound: file, indexes, rules between records")]),
    ]


def _uncleaned(repair: str) -> Check:
    return Check("erasure", False, "traces of erased words may be left in the store's files", repair)


def _unformed(count: int, repair: str) -> Check:
    what = "1 stored message has" if count == 1 else f"{count:,} stored messages have"
    return Check("messages", False, f"{what} not been formed (an earlier write failed or was killed)", repair)


def _in_jobs(memory: Memory) -> int:
    """How many messages unfinished jobs are about."""
    return sum(len(job.evidence_ids) for job in memory.jobs.list(limit=10_000))


def _waiting(count: int) -> Check:
    what = "1 message waits" if count == 1 else f"{count:,} messages wait"
    return Check("jobs", True, f"{what}; see `memwell jobs`")


def _dead(count: int) -> Check:
    what = "1 job is" if count == 1 else f"{count:,} jobs are"
    return Check("jobs", False, f"{what} dead", "see `memwell jobs`, then run `memwell retry`")
