"""Each set-up of docs/providers.md works as it stands, its endpoints played by the scripted server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memwell.testing.scripted import CHAT, EMBEDDINGS, Reply, ScriptedServer, embedded
from tests.cli.harness import Cli
from tests.docs.test_snippets import PAGES, name_of, snippets
from tests.providers.test_jobs import choose_all
from tests.providers.test_story import chat_reply, ready

SETUPS = [(page, item) for page in PAGES for item in snippets(page) if item.kind == "toml"]


def any_chat(body: Mapping[str, Any]) -> Reply:
    """What is asked: to say something, to decide, or to choose what is stated."""
    if len(body["messages"]) == 1:
        return Reply("ready")
    asked = json.loads(body["messages"][1]["content"])
    if "turns" in asked:
        return choose_all(body)
    if any(q["id"] == "ready" for q in asked["questions"]):
        return Reply('{"answers": {"ready": {"choice": "yes", "confidence": 1}}}')
    return chat_reply(body)


@pytest.fixture
def endpoints(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        ready(server)
        server.answer(CHAT, any_chat)
        server.answer(EMBEDDINGS, lambda body: embedded(body, 1536))
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("TYPESAFE_BASE_URL", server.root)
        for name in ("OPENAI_API_KEY", "TYPESAFE_API_KEY"):
            monkeypatch.setenv(name, "test")
        yield server


def test_there_are_set_ups() -> None:
    assert len(SETUPS) >= 6


@pytest.mark.parametrize(("page", "setup"), SETUPS, ids=[f"{name_of(page)}:{item.line}" for page, item in SETUPS])
def test_a_set_up_of_under_ten_lines_works(
    page: Path,
    setup: Any,
    endpoints: ScriptedServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert len(setup.body.splitlines()) < 10
    text = re.sub(r'"http://127\.0\.0\.1:\d+/v1"', f'"{endpoints.url}"', setup.body)
    (tmp_path / "memwell.toml").write_text(text, "utf-8")
    monkeypatch.setenv("MEMWELL_HOME", str(tmp_path))
    monkeypatch.setenv("MEMWELL_USER_ID", "ann")
    cli = Cli(tmp_path / "memwell.db", monkeypatch, capsys)
    checks = cli.ok("doctor", "--json").json["checks"]
    assert any(check["found"] == "answers" for check in checks)
    cli.ok("add", "I live in Lyon.")
    cli.ok("add", "I moved to Rome.")
    assert "Rome" in cli.ok("search", "where does ann live?").out
    assert cli.ok("jobs", "--json").json == []
    assert cli.ok("status", "--json").json["calls"]
