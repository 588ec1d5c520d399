from __future__ import annotations

import json

from memwell.interfaces.bench.forget import Load, run


def test_every_figure_is_measured() -> None:
    report = run([Load(200), Load(200, scopes=2), Load(100, replies=True)], forgets=2, batches=1)
    (table,) = report.tables
    assert [row[:3] for row in table.rows] == [(200, 1, "no"), (200, 2, "no"), (100, 1, "yes")]
    assert all(isinstance(cell, float) and cell > 0 for row in table.rows for cell in row[3:])
    json.dumps(report.to_dict())
