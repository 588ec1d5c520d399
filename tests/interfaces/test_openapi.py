"""The server does what its own description says: schemathesis over all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.interfaces.servers import serving

# A value can fit its schema and still be unusable (a cursor that was never given, a header and a body that say
# different things), so that such a one is refused is no failure.
_NOT_CHECKED = "positive_data_acceptance"


@pytest.mark.slow
def test_the_description_holds(tmp_path: Path) -> None:
    with serving(tmp_path, "--log-level", "error") as running:
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                "run",
                f"{running.url}/openapi.json",
                "--max-examples=5",
                "--phases=examples,coverage,fuzzing",
                f"--exclude-checks={_NOT_CHECKED}",
                "--seed=1",
                "--no-color",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout
        assert running.process.poll() is None
    assert not [line for line in running.log if "failed" in line]
