"""Exports of other services and engines, on small files in their shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memwell.interfaces.importing.formats import Format, parse
from memwell.interfaces.importing.items import Item, Message
from tests.cli.harness import Cli


def node(key: str, parent: str | None, role: str, text: str, at: float, **extra: Any) -> dict[str, Any]:
    message = {
        "id": key,
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text, {"asset_pointer": "file"}]},
        **extra,
    }
    return {"id": key, "parent": parent, "children": [], "message": message}


HIDDEN = {"is_visually_hidden_from_conversation": True}
CHATGPT = [
    {
        "title": "Cities",
        "conversation_id": "conv-1",
        "create_time": 1700000000.0,
        "current_node": "e",
        "mapping": {
            "root": {"id": "root", "message": None, "parent": None, "children": ["s"]},
            "s": node("s", "root", "system", "Be kind.", 1700000000.0),
            "a": node("a", "s", "user", "I live in Lyon.", 1700000001.5),
            "b": node("b", "a", "assistant", "A thrown away answer", 1700000002.0),
            "c": node("c", "a", "assistant", "Nice!", 1700000003.0),
            "h": node(
                "h", "c", "user", "hidden", 1700000003.5, metadata={"is_visually_hidden_from_conversation": True}
            ),
            "e": node("e", "h", "user", "我喜欢喝绿茶。", 1700000004.0),
        },
    },
]
CLAUDE = [
    {
        "uuid": "chat-1",
        "name": "Food",
        "created_at": "2025-01-01T10:00:00.000000Z",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": "I am vegan.",
                "content": [{"type": "text", "text": "I am vegan."}],
                "created_at": "2025-01-01T10:00:01.000000Z",
            },
            {"uuid": "m2", "sender": "assistant", "text": "Noted.", "created_at": "2025-01-01T10:00:02.000000Z"},
            {"uuid": "m3", "sender": "human", "text": "", "content": [], "created_at": "2025-01-01T10:00:03Z"},
        ],
    }
]
MEM0 = {
    "results": [
        {
            "id": "8f1c",
            "memory": "I play the cello",
            "hash": "00",
            "metadata": None,
            "created_at": "2025-02-01T10:00:00-08:00",
            "updated_at": None,
            "user_id": "ann",
        }
    ]
}
DUAL_MEM = {
    "success": True,
    "memories": {
        "profile": [
            {"memory_id": "n1", "content": "I work as a nurse", "category": "profile", "memory_at": 1735725600}
        ],
        "proactive": [],
        "normal": [{"memory_id": "n2", "content": "I own two cats", "session_id": "s9", "gmt_created": 1735725601}],
    },
}
HY_MEMORY = {"memories": [{"memory_id": "h1", "content": "I like science fiction films", "score": 0.9}]}


def read(value: Any) -> list[Item]:
    return list(parse(json.dumps(value), Format.AUTO, source="file"))


def told(value: Any) -> list[tuple[str, Any, str | None]]:
    return [(item.role or "", item.content, item.id) for item in read(value) if isinstance(item, Message)]


def test_chatgpt_conversations_follow_the_branch_they_ended_on() -> None:
    assert told(CHATGPT) == [
        ("user", "I live in Lyon.", "a"),
        ("assistant", "Nice!", "c"),
        ("user", "我喜欢喝绿茶。", "e"),
    ]
    first = read(CHATGPT)[0]
    assert isinstance(first, Message)
    assert (first.session, first.at) == ("conv-1", "2023-11-14T22:13:21.500000+00:00")


def test_a_torn_chatgpt_conversation_is_read_by_time() -> None:
    torn = [{**CHATGPT[0], "current_node": "gone"}]
    assert [text for _, text, _ in told(torn)] == ["I live in Lyon.", "A thrown away answer", "Nice!", "我喜欢喝绿茶。"]
    looped = {"id": "x", "current_node": "a", "mapping": {"a": node("a", "a", "user", "Hello", 1.0), "b": 7}}
    assert told(looped) == [("user", "Hello", "a")]


def test_claude_conversations() -> None:
    assert told(CLAUDE) == [("user", "I am vegan.", "m1"), ("assistant", "Noted.", "m2")]
    first = read(CLAUDE)[0]
    assert isinstance(first, Message)
    assert (first.session, first.at) == ("chat-1", "2025-01-01T10:00:01+00:00")


@pytest.mark.parametrize(
    ("export", "texts"),
    [
        (MEM0, ["I play the cello"]),
        (MEM0["results"], ["I play the cello"]),
        (DUAL_MEM, ["I work as a nurse", "I own two cats"]),
        (HY_MEMORY, ["I like science fiction films"]),
    ],
)
def test_memories_of_other_engines_are_imported_evidence(export: Any, texts: list[str]) -> None:
    assert [(role, text) for role, text, _ in told(export)] == [("import", text) for text in texts]


def test_memories_of_several_users_are_told_apart(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "memories.json"
    bobs = {"id": "b1", "memory": "I like rain", "user_id": "bob"}
    nobodys = {"id": "c1", "memory": "I am an agent", "agent_id": "helper"}
    file.write_text(json.dumps({"results": [*MEM0["results"], bobs, nobodys]}), encoding="utf-8")
    told = cli.ok("import", str(file), "--user", "ann").err
    assert "1 memories of other users are left out: 1 of bob" in told
    assert "1 memories are left out that the file names no user for" in told
    assert [memory["content"] for memory in cli.ok("list", "--json").json["memories"]] == ["I play the cello"]
    refused = cli("import", str(file), "--user", "eve")
    assert (refused.code, "ann, bob" in refused.err, "--me" in refused.err) == (1, True, True)
    cli.ok("import", str(file), "--user", "eve", "--me", "bob")
    assert "I like rain" in cli.ok("list", "--user", "eve").out


@pytest.mark.parametrize("named", [[], MEM0["results"]])
def test_memories_that_name_nobody_are_the_users_where_there_is_no_other(
    cli: Cli, tmp_path: Path, named: list[Any]
) -> None:
    file = tmp_path / "memories.json"
    nobodys = {"id": "c1", "memory": "I like snow", "user_id": None}
    file.write_text(json.dumps({"results": [*named, nobodys]}), encoding="utf-8")
    assert "left out:" not in cli.ok("import", str(file), "--user", "ann").err
    listed = {memory["content"] for memory in cli.ok("list", "--json").json["memories"]}
    assert listed == {"I like snow", *(item["memory"] for item in named)}


def test_an_export_is_imported_once(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([*CHATGPT, *CLAUDE]), encoding="utf-8")
    for _ in range(2):
        cli.ok("import", str(file))
    listed = cli.ok("list").out
    for words in ("Lyon", "vegan", "绿茶"):
        assert listed.count(words) == 1
