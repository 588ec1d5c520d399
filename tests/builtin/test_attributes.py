"""Which wording tells an attribute of one value at a time, and which only looks like it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from memwell.builtin.attributes import attributes_of
from memwell.builtin.packs import load_languages

PACKS = {language.code: language for language in load_languages()}


def table(code: str) -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name(f"attributes_{code}.toml").read_text(encoding="utf-8"))


TABLES = {code: table(code) for code in PACKS}
ROWS = [(code, name, rows) for code, names in TABLES.items() for name, rows in names.items()]


def told(code: str, name: str, text: str) -> str:
    """The value of the attribute, or of that of any thing where the name is completed by one ("favourite tea")."""
    pack = PACKS[code]
    found = attributes_of(pack.fold(text), pack)
    return next((item.value for item in found if f"{item.name} ".startswith(f"{name} ")), "")


@pytest.mark.parametrize("code", sorted(PACKS))
def test_every_single_valued_attribute_has_its_table(code: str) -> None:
    assert set(TABLES[code]) == {rule.name for rule in PACKS[code].attributes if rule.single}
    assert all(len(rows["looks_like_it"]) >= 5 for rows in TABLES[code].values())


@pytest.mark.parametrize(
    ("code", "name", "text", "value"),
    [(code, name, text, value) for code, name, rows in ROWS for text, value in rows["tells"]],
)
def test_wording_tells_its_attribute(code: str, name: str, text: str, value: str) -> None:
    assert told(code, name, text).casefold().startswith(value.casefold())


@pytest.mark.parametrize(
    ("code", "name", "text"), [(code, name, text) for code, name, rows in ROWS for text in rows["looks_like_it"]]
)
def test_wording_that_only_looks_like_it_tells_nothing(code: str, name: str, text: str) -> None:
    assert not told(code, name, text)


@pytest.mark.parametrize(
    ("code", "text", "name"),
    [
        ("en", "My favourite tea is oolong.", "favourite tea"),
        ("en", "Our Rehearsal Room is in the basement.", "place of rehearsal room"),
        ("en", "My landlord is Mr. Voss.", "name of landlord"),
        ("zh", "我最喜欢的颜色是蓝色。", "favourite 颜色"),
        ("zh", "我的储物柜是12号。", "place of 储物柜"),
        ("zh", "我们乐队叫泥巴。", "called 乐队"),
    ],
)
def test_the_thing_completes_the_name(code: str, text: str, name: str) -> None:
    pack = PACKS[code]
    assert name in {item.name for item in attributes_of(pack.fold(text), pack)}
