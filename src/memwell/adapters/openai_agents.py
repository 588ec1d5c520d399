"""Sessions of the OpenAI Agents SDK on Memwell: the conversation is kept as it was, and memories form from it.

>>> from memwell import AsyncMemory, Memory
>>> from memwell.adapters.openai_agents import MemwellSession
>>> session = MemwellSession("monday", AsyncMemory(Memory(user_id="alice")))
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agents.memory import SessionABC, SessionSettings

from memwell.builtin.system import TimeOrderedIds
from memwell.domain.evidence import Evidence
from memwell.engine.fence import without_fenced
from memwell.engine.ports import Ids
from memwell.errors import NotFoundError

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

    from memwell import AsyncMemory
    from memwell.client import AsyncClient

_LOG = logging.getLogger(__name__)
_PREFIX = "openai-agents"
_PAGE = 1_000
_FRAME = "frame"  # of an item: everything but the words that stand beside it


class MemwellSession(SessionABC):
    """A ``Session`` whose history Memwell keeps.

    What the user said becomes evidence, and memories form from it. Every word is stored once: what an item holds
    besides what was said (ids, calls of tools and what they gave) stands in a frame of its own, from which nothing is
    formed. When words are forgotten, the item that held them leaves the history. ``pop_item`` takes back what was said,
    as ``Memory.withdraw`` does; ``clear_session`` erases it, with the memories that no other
    session supports.

    Args:
        session_id: the conversation.
        memory: an open ``AsyncMemory`` or ``AsyncClient`` for the user's scope.
        session_settings: of the SDK; its ``limit`` bounds ``get_items``.
        wait: form memories before ``add_items`` returns; otherwise a worker does it afterwards.
        ids: makes the ids of items.

    Raises:
        MemwellError: (from every method) what the use cases of Memwell raise.
    """

    def __init__(
        self,
        session_id: str,
        memory: AsyncMemory | AsyncClient,
        *,
        session_settings: SessionSettings | None = None,
        wait: bool = True,
        ids: Ids | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._memory = memory
        self._wait = wait
        self._ids = ids or TimeOrderedIds()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last ``limit`` items, oldest first; all of them without a limit."""
        most = self.session_settings.limit if limit is None and self.session_settings else limit
        if most is not None and most <= 0:
            return []
        found = await self._latest(most)
        return [item for item, _ in reversed(found)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep ``items`` at the end of the conversation: all of them or, where one is refused, none."""
        messages = [message for item in items for message in _messages(self._ids.new("item"), item)]
        if messages:
            await self._memory.add(messages, session_id=self.session_id, wait=self._wait)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item back and give it; ``None`` where there is none. Nothing that rests on it is read then."""
        found = await self._latest(1)
        if not found:
            return None
        ((item, records),) = found
        for record in records:
            await self._memory.withdraw(record.id)
        return item

    async def clear_session(self) -> None:
        """Erase all that was said in this session, with the memories that no other session supports.

        What the agent said in other sessions goes too where it repeats such a memory or was made from it, and so do
        older and newer versions of the memory. The protocol of sessions has no place to show that first: the log tells
        how many records of other sessions went, and ``preview_forget(session=…)`` shows them before.
        """
        try:
            preview = await self._memory.preview_forget(session=self.session_id)
        except NotFoundError:
            return
        await self._memory.forget(preview.token)
        others = {item.id for item in preview.items if item.fate != "keep" and item.session_id != self.session_id}
        if others:
            _LOG.warning("clear_session also erased words in %d records of other sessions", len(others))

    async def _latest(self, most: int | None) -> list[tuple[TResponseInputItem, list[Evidence]]]:
        """The last ``most`` items that are whole, newest first, each with what it is kept in."""
        groups: dict[str, list[Evidence]] = {}
        whole: list[tuple[TResponseInputItem, list[Evidence]]] = []
        cursor = None
        while True:
            page = await self._memory.evidence(session_id=self.session_id, limit=_PAGE, cursor=cursor)
            cursor = page.cursor
            for record in page:
                prefix, _, rest = (record.message_id or "").partition(":")
                if prefix == _PREFIX:
                    groups.setdefault(rest.partition(":")[0], []).append(record)
            # The oldest group may go on, on the next page.
            ready = [*groups][: None if cursor is None else -1]
            whole += [(item, records) for key in ready if (item := _item(records := groups.pop(key))) is not None]
            if cursor is None or (most is not None and len(whole) >= most):
                return whole[:most]


def _messages(item_id: str, item: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages in which ``item`` is kept: its words as they were said, and a frame where it is more than those."""
    named = f"{_PREFIX}:{item_id}"
    texts = _texts(item)
    said = [
        {"role": item["role"], "content": text, "id": f"{named}:{number}:{len(texts)}"}
        for number, text in enumerate(texts)
    ]
    if item.keys() == {"role", "content"} and isinstance(item["content"], str) and said:
        return said
    frame = {
        "role": "assistant",
        "content": json.dumps(_without(item) if texts else item, ensure_ascii=False),
        "id": f"{named}:{_FRAME}:{len(texts)}",
        "permissions": {"infer": False},
    }
    # A frame never stands between a question of the assistant and the user's answer, which is read in its light.
    return [*said, frame] if item.get("role") == "user" else [frame, *said]


def _texts(item: Mapping[str, Any]) -> list[str]:
    """What was said in ``item``; nothing where it cannot be kept apart and put together again."""
    if item.get("role") not in ("user", "assistant"):
        return []
    content = item.get("content")
    parts: Sequence[Any] = [{"text": content}] if isinstance(content, str) else content or []
    texts = [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return texts if all(text.strip() and without_fenced(text) == text for text in texts) else []


def _without(item: Mapping[str, Any]) -> dict[str, Any]:
    """``item`` with ``null`` in place of each text that was said."""
    content = item["content"]
    if isinstance(content, str):
        return {**item, "content": None}
    return {
        **item,
        "content": [
            {**part, "text": None} if isinstance(part, Mapping) and isinstance(part.get("text"), str) else part
            for part in content
        ],
    }


def _item(records: Iterable[Evidence]) -> Any:
    """The item that ``records`` keep; ``None`` where part of it was forgotten."""
    by_place: dict[str, Evidence] = {}
    count = 0
    for record in records:
        _, _, place, total = (record.message_id or "").split(":")
        by_place[place], count = record, int(total)
    said = [by_place[str(number)] for number in range(count) if str(number) in by_place]
    if len(said) < count:
        return None
    if _FRAME not in by_place:
        return {"role": said[0].speaker.value, "content": said[0].content}
    try:
        item = json.loads(by_place[_FRAME].content)
    except ValueError:  # words within it were blacked out
        return None
    texts = iter(record.content for record in said)
    if not said:
        return item
    if item["content"] is None:
        return {**item, "content": next(texts)}
    filled = [
        {**part, "text": next(texts)} if isinstance(part, Mapping) and part.get("text", "") is None else part
        for part in item["content"]
    ]
    return {**item, "content": filled}
