"""What runs the models leaves nothing behind on the machine and tells nobody about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_EMBED = "from memwell.builtin.embedder import BundledEmbedder; BundledEmbedder().query('Where do I live?')"


def test_the_models_keep_no_record_of_their_use(tmp_path: Path) -> None:
    """onnxruntime, where it reports its use, first keeps what it reports in the user's folders."""
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_CACHE_HOME", "XDG_DATA_HOME"), str(tmp_path))
    subprocess.run([sys.executable, "-B", "-c", _EMBED], check=True, env={**environment, **homes})
    assert list(tmp_path.rglob("*")) == []
