"""The API reference is built from docstrings, and no public name is without an entry and words."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pdoc
import pytest

import memwell

MODULES = (
    "memwell.interfaces.python.memory",
    "memwell.interfaces.python.asynchronous",
    "memwell.interfaces.python.jobs",
    "memwell.client",
    "memwell.errors",
    "memwell.engine.results",
    "memwell.engine.items",
    "memwell.engine.ports",
    "memwell.domain.memory",
    "memwell.domain.evidence",
    "memwell.domain.command",
    "memwell.testing.conformance",
    "memwell.adapters.langgraph",
    "memwell.adapters.mem0",
    "memwell.adapters.openai_agents",
)
MAKEFILE = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")


def public(name: str) -> dict[str, Any]:
    """Classes and functions that a module offers of its own."""
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None)
    if names is not None:
        return {found: getattr(module, found) for found in names if not found.startswith("_")}
    return {
        found: value
        for found, value in vars(module).items()
        if not found.startswith("_") and getattr(value, "__module__", None) == name
        if inspect.isclass(value) or inspect.isfunction(value)
    }


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    pdoc.pdoc(*MODULES, output_directory=folder)
    return folder


def test_what_the_package_offers_is_among_them() -> None:
    offered = {name for name in memwell.__all__ if not name.startswith("_")}
    assert offered <= {name for module in MODULES for name in public(module)}


def test_the_makefile_builds_the_same_modules() -> None:
    assert re.search(rf"^REFERENCE := {re.escape(' '.join(MODULES))}$", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_an_entry(module: str, pages: Path) -> None:
    page = (pages / f"{module.replace('.', '/')}.html").read_text(encoding="utf-8")
    for name, value in public(module).items():
        assert f'id="{name}"' in page, name
        for method in methods(value):
            assert f'id="{name}.{method}"' in page, f"{name}.{method}"


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_words(module: str) -> None:
    assert inspect.getdoc(importlib.import_module(module))
    for name, value in public(module).items():
        if not (inspect.isclass(value) and issubclass(value, Exception)):  # one tree in the module's words
            assert inspect.getdoc(value), name
        if module.startswith(("memwell.interfaces", "memwell.client", "memwell.adapters")):
            for method in methods(value):
                assert inspect.getdoc(getattr(value, method)), f"{name}.{method}"


def methods(value: Any) -> list[str]:
    """Public methods that a class itself defines."""
    if not inspect.isclass(value):
        return []
    return [name for name, found in vars(value).items() if not name.startswith("_") and callable(found)]
