"""Which wording tells an attribute of one value at a time, and which only looks like it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from memwell.builtin.attributes import attributes_of
from memwell.builtin.language import load_languages

PACKS = {language.code: language for language in load_languages()}


def table(code: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"attributes_{code}.toml").read_text(encoding="utf-8"))


TABLES = {code: table(code) for code in PACKS}
ROWS = [(code, name, rows) for code, names in TABLES.items() for name, rows in names.items()]


def told(code: str, text: str) -> dict[str, str]:
    pack = PACKS[code]
    return {item.name: item.value for item in attributes_of(pack.fold(text), pack)}


@pytest.mark.parametrize("code", sorted(PACKS))
def test_every_single_valued_attribute_has_its_table(code: str) -> None:
    assert set(TABLES[code]) == {rule.name for rule in PACKS[code].attributes if rule.single}
    assert all(len(rows["looks_like_it"]) >= 5 for rows in TABLES[code].values())


@pytest.mark.parametrize(
    ("code", "name", "text", "value"),
    [(code, name, text, value) for code, name, rows in ROWS for text, value in rows["tells"]],
)
def test_wording_tells_its_attribute(code: str, name: str, text: str, value: str) -> None:
    assert told(code, text).get(name, "").casefold().startswith(value.casefold())


@pytest.mark.parametrize(
    ("code", "name", "text"), [(code, name, text) for code, name, rows in ROWS for text in rows["looks_like_it"]]
)
def test_wording_that_only_looks_like_it_tells_nothing(code: str, name: str, text: str) -> None:
    assert name not in told(code, text)
