from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from memwell.errors import InputError
from memwell.interfaces.bench.data import find_files, read_document, read_scenarios


def turn(name: str, session: str, at: str | None = "2025-01-01T10:00:00Z", text: str = "Hello.") -> dict[str, Any]:
    return {"id": name, "session": session, "speaker": "Ann", "role": "user", "at": at, "text": text}


def written(path: Path, **changes: Any) -> Path:
    document = {
        "id": "d1",
        "dataset": "small",
        "lang": "en",
        "unit": "turn",
        "turns": [turn("1", "s1"), turn("2", "s2", None), turn("3", "s1", "2025-02-01T10:00:00Z"), turn("1", "s1")],
        "questions": [{"id": "q", "text": "Who?", "category": "c", "gold": ["1"], "answer": "Ann"}],
    }
    raw = json.dumps(document | changes).encode()
    path.write_bytes(gzip.compress(raw) if path.name.endswith(".gz") else raw)
    return path


@pytest.mark.parametrize("name", ["d.json", "d.json.gz"])
def test_turns_come_session_by_session_each_once_with_a_time(tmp_path: Path, name: str) -> None:
    document = read_document(written(tmp_path / name))
    assert [(each.id, each.session) for each in document.turns] == [("1", "s1"), ("3", "s1"), ("2", "s2")]
    assert document.turns[2].at == "2025-01-01T10:00:00Z"
    assert [each.unit for each in document.turns] == ["1", "3", "2"]


def test_gold_may_name_sessions(tmp_path: Path) -> None:
    document = read_document(written(tmp_path / "d.json", unit="session"))
    assert [each.unit for each in document.turns] == ["s1", "s1", "s2"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"not json", b"\x1f\x8b broken"],
)
@pytest.mark.parametrize("name", ["d.json", "d.json.gz"])
def test_other_files_are_refused_by_name(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"d\.json"):
        read_document(path)


def test_a_question_before_an_unknown_session_is_refused(tmp_path: Path) -> None:
    question = {"id": "q", "text": "Who?", "category": "c", "gold": ["1"], "before_session": "s9"}
    with pytest.raises(InputError, match="s9"):
        read_document(written(tmp_path / "d.json", questions=[question]))


def test_files_are_found_below_folders_and_missing_paths_named(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    first = written(tmp_path / "deep" / "a.json.gz")
    assert find_files([tmp_path, first], (".json.gz",)) == (first,)
    with pytest.raises(InputError, match="nowhere"):
        find_files([tmp_path / "nowhere"], (".json",))
    with pytest.raises(InputError, match="jsonl"):
        find_files([tmp_path], (".jsonl",))


def test_scenarios_are_read_line_by_line_and_bad_lines_named(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    good = json.dumps({"id": "a", "lang": "en", "kind": "k", "why": "w", "writes": [], "checks": []})
    path.write_text(f"{good}\n\n{good}\n", encoding="utf-8")
    assert [each.id for each in read_scenarios(path)] == ["a", "a"]
    path.write_text(f"{good}\n{{}}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_scenarios(path)
