"""The examples that the decision model is trained on are well formed, and the parts to measure on are kept apart."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memwell.builtin.model.layout import ATTRIBUTES, FREE, KINDS, RELATIONS, SUBJECTS

DATA = Path(__file__).parents[2] / "training" / "data"
FILES = sorted(DATA.rglob("*.jsonl"))
HELD_OUT = {"test.jsonl", "blind.jsonl"}


def examples(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_example_is_well_formed(path: Path) -> None:
    for number, example in enumerate(examples(path), 1):
        where = f"{path.name}:{number}"
        assert example["lang"] in ("en", "zh"), where
        assert example["sentence"] in example["message"], where
        assert 1 <= len(example["current"]) <= 4, where
        assert example["action"] in (*RELATIONS, *FREE), where
        assert (example["target"] is None) is (example["action"] in FREE), where
        assert example["target"] is None or 0 <= example["target"] < len(example["current"]), where
        assert max(date.fromisoformat(memory["at"]) for memory in example["current"]) <= date.fromisoformat(
            example["at"]
        ), where
        assert example.get("kind", "none") in KINDS, where
        assert example["about"] in SUBJECTS, where
        assert example.get("attribute", "none") in ATTRIBUTES, where


def test_the_languages_are_balanced() -> None:
    languages = [example["lang"] for path in FILES for example in examples(path)]
    assert len(languages) >= 6000
    assert 0.45 <= languages.count("en") / len(languages) <= 0.55


def test_nothing_held_out_is_trained_on() -> None:
    def key(example: dict[str, Any]) -> tuple[str, str]:
        return example["message"], example["current"][0]["text"]

    trained = {key(example) for path in FILES if path.name not in HELD_OUT for example in examples(path)}
    held = {key(example) for path in FILES if path.name in HELD_OUT for example in examples(path)}
    assert held
    assert not trained & held
