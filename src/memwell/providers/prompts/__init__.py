"""Prompts as data: one TOML file for each purpose and language, with a version that every memory records."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from memwell.domain.text import is_unspaced

LANGUAGES = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a chat model is told.

    Attributes:
        version: of the wording; the same number in every language.
        system: the task.
        rewrite: asks for another answer; ``{problem}`` stands for what is wrong with the first.
        texts: further pieces by name.
    """

    version: int
    system: str
    rewrite: str
    texts: Mapping[str, Any]


@lru_cache
def load_prompt(purpose: str, language: str) -> Prompt:
    """The prompt in ``purpose.language.toml``."""
    text = (resources.files(__name__) / f"{purpose}.{language}.toml").read_text("utf-8")
    values = tomllib.loads(text)
    return Prompt(values["version"], values["system"], values["rewrite"], values.get("texts", {}))


def language_of(text: str) -> str:
    """The language in which to speak to the model about ``text``: told by its script."""
    return "zh" if is_unspaced(text) else "en"
