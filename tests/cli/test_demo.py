"""The demo: it holds, and says which step does not."""

from __future__ import annotations

import pytest

from memwell.interfaces.cli import demo
from tests.cli.harness import Cli

NOW = "2025-01-10T09:00:00+01:00"


def story(**step: object) -> demo.Story:
    return demo.Story("test", "ann", (demo.Step("A step", NOW, **step),))  # type: ignore[arg-type]


def test_the_demo_holds_in_both_languages(cli: Cli) -> None:
    done = cli.ok("demo")
    assert "I moved to Porto." in done.out
    assert "我搬到杭州" in done.out
    assert not cli.store.exists()
    assert cli.ok("demo", "--json").json["steps"] > 20


@pytest.mark.parametrize(
    "untrue",
    [
        {"say": "I live in Lyon.", "current": ("Porto",)},
        {"say": "I live in Lyon.", "not_current": ("Lyon",)},
        {"say": "I live in Lyon.", "history": {"Lyon": "superseded"}},
        {"say": "I live in Lyon.", "ask": "Where do I live?", "answer": "Porto"},
        {"say": "I live in Lyon.", "ask": "Where do I live?", "answer": "Lyon", "quote": "Porto"},
        {"say": "I live in Lyon.", "explain": "Lyon", "quote": "Porto"},
        {"ask": "Where do I live?", "answer": "Lyon"},
        {"delete": "Porto"},
        {"explain": "Porto"},
    ],
)
def test_what_does_not_hold_is_said_with_its_step(untrue: dict[str, object]) -> None:
    with pytest.raises(demo.DemoFailedError, match="step 'A step': "):
        demo.run_demo(lambda line: None, [story(**untrue)])


def test_a_failed_demo_ends_with_1(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "read_stories", lambda: (story(delete="Porto"),))
    done = cli("demo")
    assert done.code == 1
    assert done.err.startswith("error: step 'A step': ")
