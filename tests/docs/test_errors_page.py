"""docs/errors.md names every error, its code and its exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memwell import errors
from memwell.interfaces.cli.exits import ExitCode, exit_code

PAGE = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")


def all_errors(base: type[errors.MemwellError]) -> list[type[errors.MemwellError]]:
    return [narrow for child in base.__subclasses__() for narrow in (child, *all_errors(child))]


@pytest.mark.parametrize("kind", all_errors(errors.MemwellError))
def test_every_error_is_on_the_page(kind: type[errors.MemwellError]) -> None:
    row = re.search(rf"^\| `{kind.__name__}` \|(.*)\|(.*)\| (\d+) \|$", PAGE, re.MULTILINE)
    assert row is not None
    assert f"`{kind.code}`" in row[1]
    assert int(row[3]) == exit_code(kind("x", remedy="y"))


@pytest.mark.parametrize("code", ExitCode)
def test_every_exit_code_is_on_the_page(code: ExitCode) -> None:
    assert re.search(rf"^\| {code.value} \|", PAGE, re.MULTILINE)
