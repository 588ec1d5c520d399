from __future__ import annotations

import io
import json
from pathlib import Path

from rich.console import Console

from memwell.interfaces.bench.report import Report, Table, data_hash, environment, render


def test_the_data_hash_covers_names_and_contents_in_any_order(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("1", encoding="utf-8")
    second.write_text("2", encoding="utf-8")
    before = data_hash([first, second])
    assert before == data_hash([second, first])
    second.write_text("3", encoding="utf-8")
    assert data_hash([first, second]) != before
    assert data_hash([]) is None


def test_a_report_goes_out_as_json_and_as_tables(tmp_path: Path) -> None:
    data = tmp_path / "d"
    data.write_text("x", encoding="utf-8")
    table = Table("Rates [percent]", ("name", "rate", "count"), (("全部", 12.345, 1000), ("none", None, 0)))
    report = Report("recall", (table,), environment([data]), 1.23, {"embedder": "x"}, ("trial 3: lost [one]",))
    value = json.loads(json.dumps(report.to_dict()))
    assert value["tables"][0]["rows"][0] == {"name": "全部", "rate": 12.345, "count": 1000}
    assert value["environment"]["data_sha256"] == data_hash([data])
    assert {"memwell", "python", "sqlite"} <= value["environment"]["versions"].keys()
    assert value["problems"] == ["trial 3: lost [one]"]
    out = io.StringIO()
    render(report, Console(file=out, width=120))
    for shown in ("Rates [percent]", "全部", "12.3", "1,000", "problem: trial 3: lost [one]"):
        assert shown in out.getvalue()
