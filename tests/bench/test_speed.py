from __future__ import annotations

import json

import pytest

from memwell.interfaces.bench.parts import HashEmbedder
from memwell.interfaces.bench.speed import Load, run


@pytest.mark.slow
def test_every_figure_is_measured() -> None:
    report = run([Load(40), Load(40, scopes=4)], writes=4, searches=4, embedder=HashEmbedder(16))
    start, writes, later, search, size = report.tables
    assert len(start.rows) == 3
    assert len(writes.rows) == 4
    assert [row[3] for row in later.rows] == [100.0]
    assert [row[:2] for row in search.rows[::4]] == [(40, 1), (40, 4)]
    assert len(size.rows) == 2
    figures = [cell for table in report.tables for row in table.rows for cell in row if isinstance(cell, float)]
    assert all(figure > 0 for figure in figures)
    json.dumps(report.to_dict())
