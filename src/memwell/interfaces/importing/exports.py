"""Data exports of ChatGPT and Claude, and memory lists of mem0, dual-mem and hy-memory, as plain messages.

Their shapes are those of the files that these services and libraries hand out. A memory of another engine becomes
imported evidence, from which memories are formed like from everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_SENDERS = {"human": "user", "assistant": "assistant"}
_TOLD = ("user", "assistant")
IMPORTED = "import"
OWNER = "owner"  # of a message made of another engine's memory: whose it is
_MEMORY_LISTS = ("results", "memories")
_MEMORY_WORDS = ("memory", "content")
_MEMORY_IDS = ("memory_id", "id")
_MEMORY_TIMES = ("memory_at", "created_at", "gmt_created")


def messages_of(value: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The messages of one conversation or memory list of such an export; ``None`` where ``value`` is none.

    Each has ``role`` and ``content``, and ``id``, ``at`` and ``session_id`` where the export says so.
    """
    if isinstance(value.get("mapping"), Mapping):
        return list(_chatgpt(value, value["mapping"]))
    if isinstance(value.get("chat_messages"), list):
        return list(_claude(value, value["chat_messages"]))
    if _is_memory(value):
        return [_memory(value)]
    for name in _MEMORY_LISTS:
        listed = _flat(value.get(name))
        if listed and all(_is_memory(item) for item in listed):
            return [_memory(item) for item in listed]
    return None


def _chatgpt(value: Mapping[str, Any], nodes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The branch that the conversation ended on; others are answers that were thrown away."""
    session = value.get("conversation_id") or value.get("id")
    for node in _branch(nodes, value.get("current_node")):
        message = node.get("message")
        if not isinstance(message, Mapping):
            continue
        role = _at(message, "author", "role")
        text = _text(_at(message, "content", "parts"))
        hidden = _at(message, "metadata", "is_visually_hidden_from_conversation")
        if role in _TOLD and text and not hidden:
            yield _message(role, text, message.get("id"), message.get("create_time"), session)


def _branch(nodes: Mapping[str, Any], last: object) -> list[Mapping[str, Any]]:
    """Nodes from the root to ``last``, or, where the export names none, all by the time they were made."""
    known = {key: node for key, node in nodes.items() if isinstance(node, Mapping)}
    if last not in known:
        return sorted(known.values(), key=lambda node: _at(node, "message", "create_time") or 0)
    branch: list[Mapping[str, Any]] = []
    seen: set[object] = set()
    while last in known and last not in seen:
        seen.add(last)
        branch.append(known[str(last)])
        last = known[str(last)].get("parent")
    return branch[::-1]


def _claude(value: Mapping[str, Any], messages: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for message in messages:
        if isinstance(message, Mapping):
            role = _SENDERS.get(str(message.get("sender")))
            text = _text(message.get("content")) or message.get("text")
            if role is not None and text:
                yield _message(role, text, message.get("uuid"), message.get("created_at"), value.get("uuid"))


def _is_memory(value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and not any(name in value for name in ("role", "speaker", "name", "from"))
        and any(isinstance(value.get(name), str) for name in _MEMORY_WORDS)
        and any(value.get(name) is not None for name in _MEMORY_IDS)
    )


def _memory(value: Mapping[str, Any]) -> dict[str, Any]:
    def first(names: Sequence[str]) -> Any:
        return next((value[name] for name in names if value.get(name)), None)

    owned = {} if value.get("user_id") is None else {OWNER: str(value["user_id"])}
    told = _message(IMPORTED, first(_MEMORY_WORDS), first(_MEMORY_IDS), first(_MEMORY_TIMES), value.get("session_id"))
    return {**told, **owned}


def _flat(value: object) -> list[Any]:
    """The memories of a list, or of several under the names of groups."""
    if isinstance(value, Mapping):
        return [item for group in value.values() if isinstance(group, list) for item in group]
    return value if isinstance(value, list) else []


def _message(role: str, content: str, key: object, at: object, session: object) -> dict[str, Any]:
    fields = {"role": role, "content": content, "id": key, "at": at, "session_id": session or None}
    return {name: value for name, value in fields.items() if value is not None}


def _text(parts: object) -> str:
    """The texts among the parts of a message; images and the like are left out."""
    if not isinstance(parts, list):
        return ""
    texts = [part if isinstance(part, str) else _at(part, "text") for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def _at(value: object, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
