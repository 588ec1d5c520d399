from __future__ import annotations

import json
import random
from pathlib import Path

from memwell.interfaces.bench import crash


def test_killed_writers_lose_nothing_and_the_seed_is_told() -> None:
    report = crash.run(2, seed=7, seconds=0.2)
    assert report.problems == ()
    assert report.settings["seed"] == 7
    (row,) = report.tables[0].rows
    assert row[0] == 2
    assert "seed 7" in report.tables[0].title
    json.dumps(report.to_dict())


def test_a_run_without_a_seed_makes_one() -> None:
    assert isinstance(crash.run(0).settings["seed"], int)


def test_survivors_write_to_the_end(tmp_path: Path) -> None:
    made = crash.trial(tmp_path / "store.db", random.Random(1), seconds=0.5)
    assert made.problems == ()
    assert made.killed in (1, crash.WRITERS)


def test_lost_and_doubled_writes_are_noticed(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    with crash.opened(store) as memory:
        memory.add("Parcel 0x1 is in the hall.", user_id="shared")
        for _ in range(2):
            memory.add("Parcel 0x2 is in the hall.", user_id="writer-0")
    assert crash.compare(store, ["Parcel 0x1 is in the hall."]) == ["'Parcel 0x2 is in the hall.' is there 2 times"]
    assert crash.compare(store, ["Parcel 0x2 is in the hall.", "Parcel 0x3 is in the hall."]) == [
        "acknowledged 'Parcel 0x2 is in the hall.' is there 2 times",
        "acknowledged 'Parcel 0x3 is in the hall.' is there 0 times",
    ]
