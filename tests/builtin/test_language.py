"""Language packs as data."""

from __future__ import annotations

from importlib.resources import files

import pytest

from memwell.builtin.language import compiled
from memwell.builtin.packs import choose_language, load_languages, read_language
from memwell.errors import ConfigurationError

PACKS = {language.code: language for language in load_languages()}


def pack_text(code: str) -> str:
    return (files("memwell.builtin") / "lang" / f"{code}.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", sorted(PACKS))
def test_every_pattern_of_a_pack_compiles(code: str) -> None:
    pack = PACKS[code]
    patterns = [*pack.cues.values(), *pack.subject.values(), *pack.times.patterns.values(), pack.joint]
    patterns += [rule.pattern for rule in pack.times.rules]
    patterns += [text for rule in pack.attributes for text in (rule.pattern, rule.exclude)]
    for pattern in patterns:
        compiled(pattern)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I live in Leeds.", "en"),
        ("我住在利兹。", "zh"),
        ("我用的编辑器是 Visual Studio Code", "zh"),
        ("The word 茶 means tea.", "en"),
        ("12345", "en"),
    ],
)
def test_the_script_decides_the_pack(text: str, code: str) -> None:
    assert choose_language(text, load_languages()).code == code


def test_folding_keeps_positions() -> None:
    for pack in PACKS.values():
        text = "I’m “here”, 我現在換號"
        assert len(pack.fold(text)) == len(text)


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("question = [", "qestion = [", "qestion"),
        ("kind = 'state'", "kind = 'stat'", "stat"),
        ("{roles}", "{rolles}", "rolles"),
        ("spaced = true", "", "spaced"),
        ("code = 'en'", "code = ", "line"),
    ],
)
def test_a_mistake_in_a_pack_is_named(old: str, new: str, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        read_language("xx.toml", pack_text("en").replace(old, new))
