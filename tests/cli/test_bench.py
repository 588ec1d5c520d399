"""The verbs of bench hand over to the benchmarks and show their reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memwell.interfaces.bench import crash
from memwell.interfaces.bench.report import Progress, Report, Table, environment
from tests.cli.harness import Cli


def report(*problems: str) -> Report:
    table = Table("Kills", ("trials", "lost"), ((3, len(problems)),))
    return Report("crash", (table,), environment(), 1.5, problems=problems)


def stand_in(monkeypatch: pytest.MonkeyPatch, *problems: str) -> list[tuple[int, int | None]]:
    """Replaces the benchmark itself, which takes long; returns what it was asked for."""
    asked: list[tuple[int, int | None]] = []

    def run(trials: int, *, seed: int | None, progress: Progress) -> Report:
        asked.append((trials, seed))
        progress(1, trials, "one")
        return report(*problems)

    monkeypatch.setattr(crash, "run", run)
    return asked


def test_a_report_is_a_table_and_can_be_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = stand_in(monkeypatch)
    out = tmp_path / "report.json"
    done = cli.ok("bench", "crash", "--trials", "3", "--seed", "7", "--out", str(out))
    assert asked == [(3, 7)]
    assert "Kills" in done.out
    assert json.loads(out.read_text(encoding="utf-8"))["benchmark"] == "crash"
    assert cli.ok("bench", "crash", "--quick", "--json").json["tables"][0]["rows"] == [{"trials": 3, "lost": 0}]


def test_problems_end_with_1(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "a write was lost")
    done = cli("bench", "crash")
    assert done.code == 1
    assert "a write was lost" in done.out
    assert done.err.startswith("error: ")


def test_a_report_that_cannot_be_kept_is_an_input_error(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stand_in(monkeypatch)
    assert cli("bench", "crash", "--out", str(tmp_path)).code == 1


def test_data_that_is_not_there_is_an_input_error(cli: Cli, tmp_path: Path) -> None:
    for verb in ("recall", "behaviour"):
        assert cli("bench", verb, str(tmp_path / "none")).code == 1


def test_recall_is_measured_on_a_document(cli: Cli, tmp_path: Path) -> None:
    turn = {"id": "t1", "session": "s1", "speaker": "Ann", "role": "user", "at": "2025-01-10T09:00:00Z"}
    document = {
        "id": "doc",
        "dataset": "tiny",
        "lang": "en",
        "licence": "none",
        "origin": "test",
        "unit": "turn",
        "turns": [{**turn, "text": "I live in Lyon."}],
        "questions": [{"id": "q1", "text": "Where do I live?", "category": "place", "gold": ["t1"], "answer": "Lyon"}],
    }
    file = tmp_path / "doc.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    measured = cli.ok("bench", "recall", str(file), "--json").json
    assert measured["benchmark"] == "recall"
    assert measured["tables"]
