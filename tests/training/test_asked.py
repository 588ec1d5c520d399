"""The scenes that the maps of questions are trained on are well formed, and no question is told twice of one scene."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

FILES = sorted((Path(__file__).parents[2] / "training" / "asked").glob("*.jsonl"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_scene_is_well_formed(path: Path) -> None:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        scene, where = json.loads(line), f"{path.name}:{number}"
        assert scene["lang"], where
        assert scene["domain"], where
        days = [date.fromisoformat(turn["at"]) for turn in scene["turns"]]
        assert days == sorted(days), where
        assert all(turn["who"].strip() and turn["text"].strip() for turn in scene["turns"]), where
        questions = [asked["question"] for asked in scene["asked"]]
        assert questions, where
        assert len(set(questions)) == len(questions), where
        for asked in scene["asked"]:
            answers = asked["answers"]
            assert answers == sorted(set(answers)), (where, asked)
            assert all(0 <= place < len(days) for place in answers), (where, asked)
        assert any(asked["answers"] for asked in scene["asked"]), where
