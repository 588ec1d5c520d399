"""A process that forgets one memory, for tests that kill it: child.py STORE ID."""

from __future__ import annotations

import sys
from datetime import timedelta

from memwell.builtin import naming
from memwell.engine.cascade import Selection
from memwell.engine.forgetting import Forgetting
from memwell.storage.sqlite import SqliteStore
from memwell.testing.doubles import ALICE, START, FakeClock, HashEmbedder, SequentialIds
from memwell.testing.faults import armed

if __name__ == "__main__":
    clock = FakeClock(START + timedelta(days=1))
    store = SqliteStore(sys.argv[1], clock=clock, reach=armed())
    use = Forgetting(store, HashEmbedder(8), clock, SequentialIds("child_"), naming)
    use.forget(use.preview(ALICE, Selection((sys.argv[2],))).token, "c", ALICE, ("default", "default"))
