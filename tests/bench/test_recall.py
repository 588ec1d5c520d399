from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memwell.builtin.ranking import load_weights
from memwell.interfaces.bench import recall
from memwell.interfaces.bench.ablation import ALL_SIGNALS, variants
from memwell.interfaces.bench.parts import HashEmbedder, KeepAll, WholeTurns

WORDS = ["ginger", "harbour", "violin", "cactus", "lantern", "marble"]


def document(path: Path, **changes: Any) -> Path:
    turns = [
        {
            "id": f"t{number}",
            "session": f"s{number // 2}",
            "speaker": "Ann",
            "role": "user" if number % 2 else "observed",
            "at": f"2025-01-{number + 1:02}T10:00:00Z",
            "text": f"Somebody mentioned the {word}.",
        }
        for number, word in enumerate(WORDS)
    ]
    questions = [
        {
            "id": f"q{number}",
            "text": f"Which {word}?",
            "category": "odd" if number % 2 else "even",
            "gold": [f"t{number}"],
        }
        for number, word in enumerate(WORDS)
    ]
    value = {"id": "d", "dataset": "small", "lang": "en", "unit": "turn", "turns": turns, "questions": questions}
    path.write_text(json.dumps(value | changes), encoding="utf-8")
    return path


def rows(path: Path) -> dict[tuple[str, str], dict[str, Any]]:
    report = recall.run([path], embedder=HashEmbedder(8), extractor=WholeTurns(), judge=KeepAll(), memories=True)
    json.dumps(report.to_dict())
    return {(row["category"], row["system"]): row for row in report.details["measures"]}


def test_each_system_has_its_row_for_all_and_by_category(tmp_path: Path) -> None:
    found = rows(document(tmp_path / "d.json"))
    assert {category for category, _ in found} == {"all", "even", "odd"}
    for system in recall.SYSTEMS:
        assert found["all", system]["questions"] == 6
        assert found["odd", system]["questions"] == 3
        assert found["all", system]["recall@50"] == 100
        assert found["all", system]["characters@10"] > 0
    assert found["all", recall.PLAIN]["MRR"] == 100


def test_sessions_can_be_the_gold_unit(tmp_path: Path) -> None:
    question = {"id": "q", "text": "Which violin or cactus?", "category": "c", "gold": ["s1"]}
    found = rows(document(tmp_path / "d.json", unit="session", questions=[question]))
    assert found["all", recall.PLAIN]["recall@1"] == 100
    assert found["all", recall.RAW]["recall@5"] == 100


def test_a_question_before_a_session_sees_nothing_of_it(tmp_path: Path) -> None:
    question = {"id": "q", "text": "Which ginger or marble?", "category": "c", "gold": ["t0", "t5"]}
    before = rows(document(tmp_path / "d.json", questions=[question | {"before_session": "s2"}]))
    after = rows(document(tmp_path / "d.json", questions=[question]))
    for system in recall.SYSTEMS:
        assert before["all", system]["recall@50"] == 50
        assert after["all", system]["recall@50"] == 100


def test_without_memories_the_evidence_is_the_same(tmp_path: Path) -> None:
    path = document(tmp_path / "d.json")
    report = recall.run([path], embedder=HashEmbedder(8))
    measures = {(row["category"], row["system"]): row for row in report.details["measures"]}
    assert ("all", recall.MEMORIES) not in measures
    assert measures["all", recall.RAW] == rows(path)["all", recall.RAW]


def test_each_signal_is_left_out_in_turn(tmp_path: Path) -> None:
    path = document(tmp_path / "d.json")
    report = recall.run([path], embedder=HashEmbedder(8), ablate=True)
    (table,) = [table for table in report.tables if "left out" in table.title]
    found = {row[2]: row[table.columns.index("MRR")] for row in table.rows}
    assert list(found) == list(variants(load_weights()))
    assert found["keywords alone"] == 100
    assert found["vectors alone"] != 100
    assert found[ALL_SIGNALS] == rows(path)["all", recall.RAW]["MRR"]


def test_questions_about_another_document_are_counted_apart(tmp_path: Path) -> None:
    paths = [document(tmp_path / "a.json"), document(tmp_path / "b.json", id="e")]
    report = recall.run(paths, embedder=HashEmbedder(8))
    (table,) = [table for table in report.tables if table.title.startswith("Silence")]
    assert [row[2] for row in table.rows] == [12]
    assert [row[4] for row in table.rows] == [6]


def test_progress_names_each_document(tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    recall.run(
        [document(tmp_path / "d.json")],
        embedder=HashEmbedder(8),
        extractor=WholeTurns(),
        judge=KeepAll(),
        progress=lambda done, total, what: seen.append((done, total, what)),
    )
    assert seen == [(0, 1, "d"), (1, 1, "")]
