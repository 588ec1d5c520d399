"""docs/interfaces names every use case, its right and its route."""

from __future__ import annotations

import re
from pathlib import Path

from memwell.interfaces.mcp.tools import read_offer
from memwell.interfaces.usecases.table import USE_CASES

PAGES = Path(__file__).parents[2] / "docs" / "interfaces"


def test_the_table_is_that_of_the_code() -> None:
    page = (PAGES / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| `(\w+ /v1\S*)` \|", page, re.MULTILINE)
    assert rows == [(case.name, case.right.value, case.route) for case in USE_CASES.values()]


def test_every_page_of_an_interface_shows_something_that_runs() -> None:
    for page in PAGES.glob("*.md"):
        if page.name != "README.md":
            assert re.search(r"^```(python|console)$", page.read_text(encoding="utf-8"), re.MULTILINE), page.name


def test_the_tools_are_those_that_models_are_offered() -> None:
    (row,) = re.findall(r"^\| tools (.*?) \|", (PAGES / "mcp.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*re.findall(r"`(\w+)`", row)} == {*read_offer().tools}
