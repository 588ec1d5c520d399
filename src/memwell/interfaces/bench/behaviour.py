"""Behaviour: short stories that say what must be current, what history and what the answer."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memwell.engine.ports import Embedder, Extractor, Judge
from memwell.errors import InputError
from memwell.interfaces.bench.contents import contents
from memwell.interfaces.bench.data import Scenario, find_files, read_scenarios
from memwell.interfaces.bench.parts import KeepAll
from memwell.interfaces.bench.report import Cell, Progress, Report, Table, environment, no_progress
from memwell.interfaces.python.memory import Memory

MEMWELL, BASELINE = "memwell", "retires nothing"


@dataclass(frozen=True, slots=True)
class Failure:
    """A check that a scenario failed, and what was there instead."""

    scenario: str
    check: Mapping[str, Any]
    found: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {"scenario": self.scenario, "check": dict(self.check), "found": list(self.found)}


def run(
    paths: Sequence[str | Path],
    *,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    judge: Judge | None = None,
    baseline: bool = True,
    progress: Progress = no_progress,
) -> Report:
    """Play every scenario among ``paths`` in a fresh store; it passes if all its checks do.

    Args:
        paths: scenario files (``.jsonl``), or folders of them.
        embedder, extractor, judge: replace the builtin ones.
        baseline: also play them with a judge that retires nothing.
        progress: called with plays done, plays in all and the next scenario's id.

    Raises:
        InputError: a path, file or check is unusable.
    """
    files = find_files(paths, (".jsonl",))
    about = environment(files)
    began = time.perf_counter()
    scenarios = [scenario for file in files for scenario in read_scenarios(file)]
    judges: dict[str, Judge | None] = {MEMWELL: judge}
    if baseline:
        judges[BASELINE] = KeepAll()
    failures: dict[str, dict[str, list[Failure]]] = {system: {} for system in judges}
    names: dict[str, str] = {}
    for done, (system, scenario) in enumerate((system, each) for system in judges for each in scenarios):
        progress(done, len(judges) * len(scenarios), scenario.id)
        with (
            TemporaryDirectory(prefix="memwell-bench-") as folder,
            Memory(Path(folder) / "store.db", embedder=embedder, extractor=extractor, judge=judges[system]) as memory,
        ):
            failed = play(scenario, memory)
            status = memory.status()
        names.setdefault("embedder", status.embedder)
        names.setdefault("extractor", status.extractor)
        names.setdefault("judge", status.judge)
        if failed:
            failures[system][scenario.id] = failed
    return Report(
        benchmark="behaviour",
        tables=(_summary(scenarios, failures), _by_kind(scenarios, failures), _failed(failures[MEMWELL])),
        environment=about,
        seconds=time.perf_counter() - began,
        settings=names,
        details={
            "failed": {
                system: [failure.to_dict() for failed in found.values() for failure in failed]
                for system, found in failures.items()
            }
        },
    )


def play(scenario: Scenario, memory: Memory) -> list[Failure]:
    """Write the story into ``memory``, an empty store, and return the checks that fail."""
    for write in scenario.writes:
        memory.add(write["messages"], user_id=write["user"], at=write["at"])
    failed = []
    for check in scenario.checks:
        passes, found = _check(memory, check)
        if not passes:
            failed.append(Failure(scenario.id, check, tuple(found)))
    return failed


def _check(memory: Memory, check: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """Whether a check passes, and the memories it looked at."""
    user = check["user"]
    match check["type"]:
        case "current_has":
            found = contents(memory, user)
            return _any_has(found, check["any"]), found
        case "current_lacks":
            found = contents(memory, user)
            return not _any_has(found, check["all"]), found
        case "history_has":
            found = contents(memory, user, include_history=True)
            return _any_has(found, check["any"]), found
        case "count_max":
            found = [content for content in contents(memory, user) if _any_has([content], check["contains"])]
            return len(found) <= check["max"], found
        case "ask":
            limit = check["k"]
            result = memory.search(check["query"], user_id=user, limit=limit, as_of=check.get("as_of"))
            found = [item.content for item in result.memories[:limit]]
            return _any_has(found, check["any"]) and not _any_has(found[:1], check.get("not_first", ())), found
        case other:
            raise InputError(
                f"check type {other!r} is unknown",
                remedy="use current_has, current_lacks, history_has, count_max or ask",
            )


def _any_has(texts: Iterable[str], phrases: Iterable[str]) -> bool:
    wanted = [phrase.casefold() for phrase in phrases]
    return any(phrase in text.casefold() for text in texts for phrase in wanted)


def _row(scenarios: Sequence[Scenario], failures: Mapping[str, Mapping[str, Any]]) -> list[Cell]:
    cells: list[Cell] = [len(scenarios)]
    for found in failures.values():
        passed = sum(scenario.id not in found for scenario in scenarios)
        cells += [passed, round(100 * passed / len(scenarios), 1)]
    return cells


def _columns(failures: Mapping[str, Any]) -> tuple[str, ...]:
    return ("scenarios", *(name for system in failures for name in (f"{system}: passed", f"{system}: %")))


def _summary(scenarios: Sequence[Scenario], failures: Mapping[str, Mapping[str, Any]]) -> Table:
    languages = sorted({scenario.lang for scenario in scenarios})
    rows: list[tuple[Cell, ...]] = [
        (language, *_row([each for each in scenarios if each.lang == language], failures)) for language in languages
    ]
    rows.append(("all", *_row(scenarios, failures)))
    return Table("Behaviour scenarios passed, by language", ("language", *_columns(failures)), tuple(rows))


def _by_kind(scenarios: Sequence[Scenario], failures: Mapping[str, Mapping[str, Any]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind in dict.fromkeys(scenario.kind for scenario in scenarios):
        for language in sorted({scenario.lang for scenario in scenarios}):
            chosen = [each for each in scenarios if (each.kind, each.lang) == (kind, language)]
            if chosen:
                rows.append((kind, language, *_row(chosen, failures)))
    return Table("Behaviour scenarios passed, by kind", ("kind", "language", *_columns(failures)), tuple(rows))


def _failed(failures: Mapping[str, Sequence[Failure]]) -> Table:
    rows = tuple(
        (failure.scenario, failure.check["type"], _wanted(failure.check))
        for failed in failures.values()
        for failure in failed
    )
    return Table("Failed checks", ("scenario", "check", "wanted"), rows)


def _wanted(check: Mapping[str, Any]) -> str:
    parts = [
        f"{name} {check[name]}"
        for name in ("query", "k", "as_of", "any", "all", "not_first", "contains", "max")
        if name in check
    ]
    return ", ".join(parts)
