"""One story, told to every judge, ends in the same current view."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memwell import Memory
from memwell.providers.typed_judge import NONE
from memwell.testing.scripted import (
    CHAT,
    DECISIONS,
    SYSTEM_ONE,
    Reply,
    ScriptedServer,
    decisions_reply,
    system_one_reply,
)

STORY = ["I live in Lyon.", "I have a dog called Rex.", "I moved to Rome.", "I have a dog called Rex.", "I love tea."]
CURRENT = ["I have a dog called Rex.", "I love tea.", "I moved to Rome."]


def choose(state: Mapping[str, Any], candidate: str, options: Sequence[str]) -> str:
    """What an able judge would choose; the first option where nothing is told, as the doctor does."""
    if "candidates" not in state:
        return options[0]
    told = next(item["text"] for item in state["candidates"] if item["id"] == candidate)
    bears_on = {"I moved to Rome.": "I live in Lyon.", "I have a dog called Rex.": "I have a dog called Rex."}
    if NONE in options:
        wanted = [record["id"] for record in state["current"] if record["text"] == bears_on.get(told)]
        return next((key for key in wanted if key in options), NONE)
    if "OVERRIDE" not in options:
        return "SUPPLEMENT"
    return "OVERRIDE" if told == "I moved to Rome." else "SKIP"


def chat_reply(body: Mapping[str, Any]) -> Reply:
    asked = json.loads(body["messages"][1]["content"])
    answers = {
        q["id"]: {"choice": choose(asked["state"], q["id"], list(q["options"])), "confidence": 0.95}
        for q in asked["questions"]
    }
    return Reply(f"<think>hm</think>```json\n{json.dumps({'answers': answers})}\n```")


def ready(server: ScriptedServer) -> None:
    def by_decisions(body: Mapping[str, Any]) -> Reply:
        state = json.loads(body["input"])
        return decisions_reply(body, lambda q: choose(state, q["name"], [c["value"] for c in q["choices"]]))

    server.answer(DECISIONS, by_decisions)
    server.answer(
        SYSTEM_ONE,
        lambda body: system_one_reply(body, lambda name, q: choose(body["state"], name, list(q["criteria"]))),
    )
    server.answer(CHAT, chat_reply)


def settings_of(kind: str, server: ScriptedServer) -> dict[str, Any]:
    chat = {"model": "scripted", "base_url": server.url}
    return {
        "builtin": {},
        "jev": {"judge": {"provider": "jev", "base_url": server.root, "model": "jev-latest"}},
        "decisions": {"judge": {"provider": "decisions", "base_url": server.url, "model": "d"}},
        "chat": {"judge": {"provider": "chat"}, "chat": chat, "extraction": {"provider": "builtin"}},
    }[kind]


@pytest.mark.parametrize("kind", ["builtin", "jev", "decisions", "chat"])
def test_the_same_story_ends_in_the_same_current_view(kind: str, tmp_path: Path, server: ScriptedServer) -> None:
    ready(server)
    with Memory(tmp_path / "story.db", user_id="alice", settings=settings_of(kind, server)) as memory:
        for words in STORY:
            memory.add(words)
        assert sorted(record.content for record in memory.list().memories) == CURRENT
        (old,) = [r for r in memory.list(include_history=True).memories if r.content == "I live in Lyon."]
        assert old.state.value == "superseded"
        assert memory.check() == []
        assert memory.jobs.list() == []
