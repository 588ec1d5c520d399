"""The decisions benchmark counts what the engine did to the right memory, and what it retired wrongly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memwell.domain.decision import Action, Situation
from memwell.engine.ports import Comparison, Verdict
from memwell.errors import InputError
from memwell.interfaces.bench import decisions
from memwell.interfaces.bench.parts import HashEmbedder, WholeTurns


class ReplaceCity:
    """Lets every statement take over from the one that names Leeds."""

    name = "replace-city"
    local = True

    def judge(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        return [self._verdict(comparison) for comparison in comparisons]

    def _verdict(self, comparison: Comparison) -> Verdict:
        for number, head in enumerate(comparison.heads):
            if "Leeds" in head.content and comparison.situations[number] is Situation.TARGET:
                return Verdict(Action.OVERRIDE, (number,), 1.0, "test")
        return Verdict(Action.SUPPLEMENT, (), 1.0, "test")


def example(
    domain: str, sentence: str, action: str, target: int | None, *current: str, lang: str = "en"
) -> dict[str, Any]:
    return {
        "lang": lang,
        "domain": domain,
        "current": [{"text": text, "at": "2025-01-01"} for text in current],
        "message": f"Hello. {sentence}",
        "sentence": sentence,
        "at": "2025-06-01",
        "target": target,
        "action": action,
    }


EXAMPLES = [
    example("home", "I live in York now.", "OVERRIDE", 1, "I like tea.", "I live in Leeds."),
    example("travel", "I saw York.", "SUPPLEMENT", None, "I was born in Leeds."),
    example("food", "I now drink coffee.", "OVERRIDE", 0, "I drink tea."),
    example("home", "我喜欢茶。", "SUPPLEMENT", None, "我住在厦门。", lang="zh"),
]


def run(path: Path, lines: Sequence[str], **options: Any) -> dict[str, Any]:
    path.write_text("\n".join(lines), encoding="utf-8")
    report = decisions.run(
        [path], embedder=HashEmbedder(8), extractor=WholeTurns(), judge=ReplaceCity(), baseline=False, **options
    )
    return report.to_dict()


def test_right_decisions_and_wrong_retirements_are_counted(tmp_path: Path) -> None:
    found = run(tmp_path / "examples.jsonl", [json.dumps(each, ensure_ascii=False) for each in EXAMPLES], unrelated=0)
    english, chinese = found["tables"][0]["rows"]
    assert (english["examples"], english["right %"]) == (3, 33.3)
    assert (english["to retire"], english["retired"], english["wrongly"]) == (2, 1, 1)
    assert (chinese["examples"], chinese["right %"], chinese["wrongly"]) == (1, 100.0, 0)
    assert found["environment"]["data_sha256"]


def test_memories_of_other_domains_stand_beside(tmp_path: Path) -> None:
    lines = [json.dumps(each) for each in EXAMPLES]
    alone = run(tmp_path / "alone.jsonl", lines, unrelated=0)["tables"][0]["rows"]
    beside = run(tmp_path / "beside.jsonl", lines, unrelated=10)["tables"][0]["rows"]
    assert beside[0]["wrongly"] > alone[0]["wrongly"]


@pytest.mark.parametrize(
    "line", ["{", "[]", json.dumps({"lang": "en"}), json.dumps(EXAMPLES[0] | {"action": "REPLACE"})]
)
def test_an_unusable_line_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"examples\.jsonl:2"):
        run(tmp_path / "examples.jsonl", [json.dumps(EXAMPLES[0]), line])
