from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from memwell.interfaces.bench.serve import run


def test_every_figure_is_measured_and_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    report = run(requests=24, starts=1)
    calls, cold = report.tables
    assert [row[:3] for row in calls.rows] == [
        (way, kind, clients) for way in ("embedded", "served") for kind in ("add", "search") for clients in (1, 8)
    ]
    assert all(isinstance(cell, float) and cell > 0 for row in calls.rows for cell in row[3:6])
    assert [row[0] for row in cold.rows] == ["serve", "mcp", "rpc"]
    assert all(isinstance(row[2], float) for row in cold.rows)
    json.dumps(report.to_dict())
    assert list(tmp_path.iterdir()) == []
