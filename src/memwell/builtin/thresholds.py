"""The probabilities from which the decision model's answers are acted on."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=1)
def load_thresholds() -> Mapping[str, float]:
    """The ``thresholds`` of ``judge.toml``, by name."""
    text = (files("memwell.builtin") / "judge.toml").read_text(encoding="utf-8")
    thresholds: dict[str, float] = tomllib.loads(text)["thresholds"]
    return thresholds
