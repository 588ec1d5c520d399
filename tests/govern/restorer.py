"""A process that takes in a bundle, for tests that kill it: restorer.py STORE BUNDLE POINT N, at the Nth passing."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from memwell.composition import open_engine
from memwell.environment import load_settings
from memwell.testing.doubles import FakeClock, HashEmbedder, SequentialIds

if __name__ == "__main__":
    store, bundle, point, number = sys.argv[1:]
    passed = 0

    def reach(name: str) -> None:
        global passed
        passed += name == point
        if passed == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

    engine = open_engine(
        load_settings(store=store), embedder=HashEmbedder(), clock=FakeClock(), ids=SequentialIds("r_"), reach=reach
    )
    plan = engine.portable.plan(Path(bundle).read_bytes(), None, ("default", "default"))
    sys.stdout.write(plan.hash)
    sys.stdout.flush()
    engine.portable.apply(plan)
