"""The only reader of the environment: where settings come from on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from memwell.settings import Settings, read_settings


def load_settings(**arguments: Any) -> Settings:
    """Settings of this process: file, environment, then ``arguments`` that are not ``None``."""
    return read_settings(os.environ, arguments, default_home=_user_data_folder())


def _user_data_folder() -> Path:
    """The platform's folder for user data: XDG on Linux, Application Support on macOS, Local AppData on Windows."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "memwell"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "memwell"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "memwell"
