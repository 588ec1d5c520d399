from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memwell.domain.decision import Action, Situation
from memwell.engine.ports import Comparison, Verdict
from memwell.errors import InputError
from memwell.interfaces.bench import behaviour
from memwell.interfaces.bench.parts import HashEmbedder, WholeTurns
from memwell.interfaces.bench.report import Report


class ReplaceNearest:
    """A judge that lets every statement take over from the nearest one."""

    name = "replace-nearest"
    local = True

    def judge(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        return [
            Verdict(Action.OVERRIDE, (0,), 1.0, "test")
            if each.situations and each.situations[0] is Situation.TARGET
            else Verdict(Action.SUPPLEMENT, (), 1.0, "test")
            for each in comparisons
        ]


MOVE = [
    {"at": "2025-01-01T10:00:00Z", "user": "u1", "messages": [{"role": "user", "content": "I live in Leeds."}]},
    {"at": "2025-06-01T10:00:00Z", "user": "u1", "messages": [{"role": "user", "content": "I live in York now."}]},
]


def play(path: Path, *checks: dict[str, Any]) -> Report:
    lines = [
        json.dumps(
            {"id": f"c{number}", "lang": "en", "kind": "move", "writes": MOVE, "checks": [{"user": "u1"} | check]}
        )
        for number, check in enumerate(checks)
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    report = behaviour.run([path], embedder=HashEmbedder(8), extractor=WholeTurns(), judge=ReplaceNearest())
    json.dumps(report.to_dict())
    return report


def failed(report: Report, system: str) -> list[str]:
    return [failure["scenario"] for failure in report.details["failed"][system]]


def test_checks_that_hold_pass_and_others_are_listed(tmp_path: Path) -> None:
    report = play(
        tmp_path / "s.jsonl",
        {"type": "current_has", "any": ["york", "Hull"]},
        {"type": "current_has", "any": ["Leeds"]},
        {"type": "current_lacks", "all": ["LEEDS"]},
        {"type": "current_lacks", "all": ["Hull", "York"]},
        {"type": "history_has", "any": ["Leeds"]},
        {"type": "history_has", "any": ["Hull"]},
        {"type": "count_max", "contains": ["live"], "max": 1},
        {"type": "count_max", "contains": ["live"], "max": 0},
        {"type": "current_has", "any": ["York"], "user": "u2"},
    )
    assert failed(report, behaviour.MEMWELL) == ["c1", "c3", "c5", "c7", "c8"]
    assert failed(report, behaviour.BASELINE) == ["c2", "c3", "c5", "c6", "c7", "c8"]


def test_questions_look_at_the_first_k_and_at_the_first(tmp_path: Path) -> None:
    report = play(
        tmp_path / "s.jsonl",
        {"type": "ask", "query": "live in York", "k": 1, "any": ["York"], "not_first": ["Leeds"]},
        {"type": "ask", "query": "live in York", "k": 1, "any": ["York"], "not_first": ["york"]},
        {"type": "ask", "query": "live in Leeds", "k": 3, "any": ["Leeds"]},
        {"type": "ask", "query": "live in", "k": 3, "any": ["Leeds"], "as_of": "2025-02-01T00:00:00Z"},
    )
    assert failed(report, behaviour.MEMWELL) == ["c1", "c2"]


def test_the_tables_count_passes_by_language_and_kind(tmp_path: Path) -> None:
    report = play(
        tmp_path / "s.jsonl",
        {"type": "current_has", "any": ["York"]},
        {"type": "current_lacks", "all": ["Leeds"]},
    )
    by_language, by_kind, listed = report.tables
    assert by_language.rows == (("en", 2, 2, 100.0, 1, 50.0), ("all", 2, 2, 100.0, 1, 50.0))
    assert by_kind.rows == (("move", "en", 2, 2, 100.0, 1, 50.0),)
    assert listed.rows == ()


def test_an_unknown_check_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="smells_like"):
        play(tmp_path / "s.jsonl", {"type": "smells_like"})
