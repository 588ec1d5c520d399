"""Every snippet of the README and the documentation runs, and what it shows is what comes out."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.terminal import on_terminal

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "console", "sh", "text", "toml"}  # text is a drawing, toml a set-up; nothing else goes unchecked
ID = re.compile(r"mem_\w+")
ID_PLACEHOLDER = "mem_…"
TERMINAL_WIDTH = 80


@dataclass(frozen=True)
class Snippet:
    kind: str
    body: str
    line: int


def snippets(page: Path) -> list[Snippet]:
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(match["kind"], match["body"], text.count("\n", 0, match.start()) + 1) for match in FENCE.finditer(text)
    ]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def with_kind(kind: str) -> list[Path]:
    return [page for page in PAGES if any(snippet.kind == kind for snippet in snippets(page))]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a store of its own and ``memwell`` on the path."""
    for name in [name for name in os.environ if name.startswith("MEMWELL_")]:
        monkeypatch.delenv(name)
    tools = tmp_path / "tools"
    tools.mkdir()
    program = tools / "memwell"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memwell "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tools), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    monkeypatch.setenv("MEMWELL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readme_shows_the_three_ways_in() -> None:
    assert {"python", "console", "sh"} <= {snippet.kind for snippet in snippets(ROOT / "README.md")}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_snippet_is_of_a_kind_that_nothing_checks(page: Path) -> None:
    for snippet in snippets(page):
        assert snippet.kind in LANGUAGES, f"line {snippet.line}"


@pytest.mark.parametrize("page", with_kind("python"), ids=name_of)
def test_python_runs(page: Path, workplace: Path) -> None:
    names: dict[str, object] = {"__name__": "__snippet__"}
    for snippet in snippets(page):
        if snippet.kind == "python":
            source = "\n" * snippet.line + snippet.body  # so that a failure names the line of the page
            exec(compile(source, str(page), "exec"), names)


@pytest.mark.parametrize("page", with_kind("console"), ids=name_of)
def test_console_sessions_run_and_print_what_they_show(page: Path, workplace: Path) -> None:
    memory_id = ID_PLACEHOLDER
    for snippet in snippets(page):
        if snippet.kind != "console":
            continue
        for command, expected in sessions(snippet.body):
            code, shown = on_terminal(command.replace(ID_PLACEHOLDER, memory_id), width=TERMINAL_WIDTH)
            assert code == 0, f"{command}\n{shown}"
            assert not expected or shows(shown, expected), f"{command}\n{shown}"
            memory_id = next(iter(ID.findall(shown)), memory_id)


def sessions(body: str) -> Iterator[tuple[str, list[str]]]:
    """Each command with the lines shown below it."""
    command, shown = "", list[str]()
    for line in body.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, shown
            command, shown = line[2:], []
        else:
            shown.append(line)
    if command:
        yield command, shown


def shows(output: str, expected: list[str]) -> bool:
    """Whether the lines are the whole of ``output``; ``…`` stands for the rest of a word, on its own for any lines."""
    pattern = "\n".join(
        ".*" if line == "…" else r"\S+".join(re.escape(part) for part in line.split("…")) for line in expected
    )
    return re.fullmatch(pattern, output.rstrip(), re.DOTALL) is not None


@pytest.mark.parametrize("page", with_kind("sh"), ids=name_of)
def test_set_up_commands_are_verbs_of_the_makefile(page: Path) -> None:
    verbs = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert len(verbs) <= 12
    for snippet in snippets(page):
        if snippet.kind == "sh":
            for line in snippet.body.splitlines():
                tool, verb = line.split()
                assert (tool, verb in verbs) == ("make", True), line


def test_the_two_commands_of_the_readme_run_in_continuous_integration() -> None:
    (set_up,) = [snippet for snippet in snippets(ROOT / "README.md") if snippet.kind == "sh"]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for line in set_up.body.splitlines():
        assert re.search(rf"^make VENV=\S+ {line.split()[1]}\b", script, re.MULTILINE), line


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), target
