"""Sizes and habits that the code keeps to. A limit may be lowered, never raised."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 60
MAX_PUBLIC_METHODS = 20
# At the outermost edge every fault becomes an exit code, an answer or a retry.
BROAD_EXCEPT_ALLOWED = ("interfaces", "worker")
MACHINE_PATH = re.compile(r"(?<![\w.:/*])/(?:home|root|Users|tmp|work|mnt)/[\w.]|[A-Z]:\\\\?Users")
SKIPPED_FOLDERS = {".git", ".venv", "dist", "__pycache__"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def nodes(path: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(path.read_text(encoding="utf-8")))


def texts() -> Iterator[Path]:
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        cached = any(part in SKIPPED_FOLDERS or part.endswith("_cache") or part == ".hypothesis" for part in parts)
        if path.is_file() and not cached:
            yield path


def test_there_is_source_to_check() -> None:
    assert len(SOURCES) > 10


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_files_and_functions_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_FILE_LINES
    for node in nodes(path):
        if isinstance(node, Function):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= MAX_FUNCTION_LINES, f"{node.name} has {lines} lines"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_classes_have_few_public_methods(path: Path) -> None:
    for node in nodes(path):
        if isinstance(node, ast.ClassDef):
            public = [item for item in node.body if isinstance(item, Function) and not item.name.startswith("_")]
            assert len(public) <= MAX_PUBLIC_METHODS, f"{node.name} has {len(public)} public methods"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_nothing_is_left_unimplemented(path: Path) -> None:
    names = {node.id for node in nodes(path) if isinstance(node, ast.Name)}
    assert "NotImplementedError" not in names


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_broad_excepts_stand_only_at_the_outermost_edge(path: Path) -> None:
    if path.relative_to(ROOT / "src" / "memwell").parts[0] in BROAD_EXCEPT_ALLOWED:
        return
    for node in nodes(path):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            for kind in caught:
                broad = kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))
                assert not broad, f"line {node.lineno}"


def test_no_path_of_one_machine_is_written_down() -> None:
    found = []
    for path in texts():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a binary file
        found += [f"{name_of(path)}: {match.group()}" for match in MACHINE_PATH.finditer(text)]
    assert found == []
