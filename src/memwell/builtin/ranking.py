"""The weights of recall that the package ships."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from memwell.engine.weights import Weights


@cache
def load_weights() -> Weights:
    """The weights in ``recall.toml``."""
    return Weights(**tomllib.loads((files("memwell.builtin") / "recall.toml").read_text(encoding="utf-8")))
