"""A ``Memory`` with the methods and result shapes of mem0, so that a program can change over by its import.

>>> from memwell.adapters.mem0 import Memory
>>> memory = Memory()
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memwell.domain.decision import Action
from memwell.domain.memory import MemoryRecord, State
from memwell.engine.intake import Messages
from memwell.errors import InputError, NotFoundError
from memwell.interfaces.python.memory import Memory as Engine

if TYPE_CHECKING:
    from memwell.client import Client
    from memwell.engine.results import WriteResult

_DEFAULT = "default"
_PAGE = 1_000
_IDS = ("user_id", "agent_id", "run_id")
_REPLACED = (Action.OVERRIDE, Action.CORRECT, Action.NEGATE)


class Memory:
    """mem0's methods on a Memwell store.

    A memory keeps its id for good, as in mem0: the id is that of its first version, and stands for the newest. What
    Memwell cannot keep (``metadata``, expiration) is refused instead of dropped. ``run_id`` is Memwell's session.

    Args:
        memory: an open Memwell ``Memory`` or ``Client``; by default the store that the settings name.

    Raises:
        InputError: (from every method) an argument is unusable, or names what Memwell does not keep.
        NotFoundError: (from ``update``, ``delete`` and ``history``) there is no such memory.
    """

    def __init__(self, memory: Engine | Client | None = None) -> None:
        self._memory = memory or Engine()

    def close(self) -> None:
        """Release the store; safe to call twice."""
        self._memory.close()

    def add(
        self,
        messages: Messages,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        infer: bool = True,
        **others: Any,
    ) -> dict[str, Any]:
        """Keep messages and form memories from them.

        Args:
            messages: a user's words, one message or a list of OpenAI-style messages.
            infer: ``False`` is refused: Memwell keeps words as they were said in any case.

        Returns:
            ``{"results": [{"id", "memory", "event"}, …]}``; an event is ``ADD``, ``UPDATE`` (with
            ``previous_memory``), ``DELETE`` or ``NONE``.
        """
        _refuse_others(others)
        if infer is not True:
            raise InputError(f"infer is {infer!r}", remedy="leave it out", code="unsupported_argument")
        scoped = self._scoped(user_id, agent_id, run_id)
        written = scoped.add(messages, session_id=run_id or _DEFAULT)
        return {"results": _events(scoped, written)}

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        top_k: int = 20,
        threshold: float = 0.0,
        **others: Any,
    ) -> dict[str, Any]:
        """Find memories that answer ``query``, best first.

        Args:
            filters: ``user_id``, ``agent_id`` and ``run_id``, which may also be given by themselves.
            limit, top_k: how many at most; two names of one thing.
            threshold: the lowest score, 0 to 1. Scores of Memwell are its own and not those of mem0.

        Returns:
            ``{"results": [{"id", "memory", "hash", "metadata", "score", "created_at", "updated_at", …}, …]}``
        """
        _refuse_others(others)
        user, agent, run = _named(user_id, agent_id, run_id, filters)
        scoped = self._scoped(user, agent, run)
        most = top_k if limit is None else limit
        found = scoped.search(query, limit=most if run is None else _PAGE, profile_limit=0, include_relations=False)
        items = [item for item in found.memories if item.score >= threshold and _of_run(item.memory, run)]
        return {"results": [{**_shape(scoped, item.memory), "score": item.score} for item in items[:most]]}

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        filters: Mapping[str, Any] | None = None,
        limit: int | None = None,
        top_k: int = 20,
        **others: Any,
    ) -> dict[str, Any]:
        """Current memories, newest first, shaped as those of ``search`` without a score."""
        _refuse_others(others)
        user, agent, run = _named(user_id, agent_id, run_id, filters)
        scoped = self._scoped(user, agent, run)
        records = _all(scoped, run, top_k if limit is None else limit)
        return {"results": [_shape(scoped, record) for record in records]}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """The newest version of a memory; ``None`` where there is none, or it was deleted."""
        try:
            newest = self._versions(memory_id)[-1]
        except NotFoundError:
            return None
        return _shape(self._memory, newest) if newest.state is State.CURRENT else None

    def update(
        self, memory_id: str, text: str | None = None, *, data: str | None = None, **others: Any
    ) -> dict[str, str]:
        """Let new words take over from a memory.

        Args:
            text, data: the words; two names of one thing.
        """
        _refuse_others(others)
        words = text if text is not None else data
        if words is None:
            raise InputError("text is missing", remedy="give the new words", code="missing_argument")
        self._memory.update(self._versions(memory_id)[-1].id, words)
        return {"message": "updated"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Put a memory away: no search returns it, its history does. ``Memory.forget`` of Memwell erases."""
        self._memory.delete(self._versions(memory_id)[-1].id)
        return {"message": "deleted"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Put away all current memories of a user, an agent or a run."""
        scoped = self._scoped(user_id, agent_id, run_id)
        for record in _all(scoped, run_id, None):
            scoped.delete(record.id)
        return {"message": "deleted"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """What became of a memory, oldest first: ``id``, ``memory_id``, ``old_memory``, ``new_memory``, ``event``, …"""
        versions = self._versions(memory_id)
        first, newest = versions[0], versions[-1]
        rows = [
            _row(first, record, older.content if older else None, record.content, "UPDATE" if older else "ADD")
            for older, record in zip((None, *versions), versions, strict=False)
        ]
        if newest.state in (State.ARCHIVED, State.RETRACTED):
            rows.append(_row(first, newest, newest.content, None, "DELETE"))
        return rows

    def _versions(self, memory_id: str) -> tuple[MemoryRecord, ...]:
        return self._memory.history(memory_id)

    def _scoped(self, user_id: str | None, agent_id: str | None, run_id: str | None) -> Engine | Client:
        if user_id is None and agent_id is None and run_id is None:
            raise InputError(
                f"none of {', '.join(_IDS)} is given",
                remedy="say whose memory it is, such as user_id='alice'",
                code="no_user",
            )
        return self._memory.scoped(user_id=user_id or _DEFAULT, agent_id=agent_id)


def _named(
    user_id: str | None, agent_id: str | None, run_id: str | None, filters: Mapping[str, Any] | None
) -> tuple[str | None, str | None, str | None]:
    given = dict(filters or {})
    for name, value in zip(_IDS, (user_id, agent_id, run_id), strict=True):
        if value is not None and given.setdefault(name, value) != value:
            raise InputError(
                f"{name} is {value!r}, and {given[name]!r} in filters", remedy=f"give one {name}", code="invalid_filter"
            )
    user, agent, run = (given.get(name) for name in _IDS)
    unknown = [name for name in given if name not in _IDS]
    if unknown:
        raise InputError(
            f"filters has {unknown[0]!r}", remedy=f"filter by {', '.join(_IDS)} alone", code="unsupported_argument"
        )
    return user, agent, run


def _refuse_others(others: Mapping[str, Any]) -> None:
    """Refuse what mem0 takes and Memwell would have to drop; what is not given, or asks for nothing, is no matter."""
    for name, value in others.items():
        if value:
            raise InputError(f"{name} is not kept by Memwell", remedy=f"leave {name} out", code="unsupported_argument")


def _of_run(record: MemoryRecord, run_id: str | None) -> bool:
    return run_id is None or record.session_id == run_id


def _all(memory: Engine | Client, run_id: str | None, most: int | None) -> list[MemoryRecord]:
    found: list[MemoryRecord] = []
    cursor = None
    while most is None or len(found) < most:
        page = memory.list(limit=_PAGE, cursor=cursor)
        found += [record for record in page if _of_run(record, run_id)]
        if (cursor := page.cursor) is None:
            break
    return found[:most]


def _first(memory: Engine | Client, record: MemoryRecord) -> MemoryRecord:
    links = record.links
    return memory.history(record.id)[0] if links.supersedes or links.corrects else record


def _shape(memory: Engine | Client, record: MemoryRecord) -> dict[str, Any]:
    first = _first(memory, record)
    scope = {"user_id": record.scope.user_id, "agent_id": record.scope.agent_id, "run_id": record.session_id}
    return {
        "id": first.id,
        "memory": record.content,
        "hash": hashlib.md5(record.content.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest(),
        "metadata": None,
        "created_at": first.recorded_at.isoformat(),
        "updated_at": record.recorded_at.isoformat(),
        **{name: value for name, value in scope.items() if value != _DEFAULT},
    }


def _events(memory: Engine | Client, written: WriteResult) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for decision in written.decisions:
        if decision.memory_id is None:
            events += [_deleted(memory, target) for target in decision.targets if decision.action is Action.DELETE]
            continue
        record = memory.get(decision.memory_id)
        event = {"id": _first(memory, record).id, "memory": record.content}
        if decision.action in _REPLACED and decision.targets:
            before = memory.get(decision.targets[0])
            events.append({**event, "event": "UPDATE", "previous_memory": before.content})
        else:
            events.append({**event, "event": "NONE" if decision.action is Action.SKIP else "ADD"})
    return events


def _deleted(memory: Engine | Client, memory_id: str) -> dict[str, Any]:
    record = memory.get(memory_id)
    return {"id": _first(memory, record).id, "memory": record.content, "event": "DELETE"}


def _row(first: MemoryRecord, record: MemoryRecord, old: str | None, new: str | None, event: str) -> dict[str, Any]:
    return {
        "id": f"{record.id}:{event.lower()}",
        "memory_id": first.id,
        "old_memory": old,
        "new_memory": new,
        "event": event,
        "created_at": first.recorded_at.isoformat(),
        "updated_at": record.recorded_at.isoformat(),
        "is_deleted": event == "DELETE",
        "actor_id": None,
        "role": None,
    }
