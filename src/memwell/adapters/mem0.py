"""A ``Memory`` with the methods and result shapes of mem0, so that a program can change over by its import.

>>> from memwell.adapters.mem0 import Memory
>>> memory = Memory()
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

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
_MOST = 20  # results, where nobody says how many
_IDS = ("user_id", "agent_id", "run_id")
_REPLACED = (Action.OVERRIDE, Action.CORRECT, Action.NEGATE)


class Which(TypedDict, total=False):
    """What ``search`` and ``get_all`` take alike.

    Attributes:
        user_id, agent_id, run_id: whose memories, and of which conversation.
        filters: the same three by name.
        limit, top_k: how many at most, 20 by default; two names of one thing.
    """

    user_id: str | None
    agent_id: str | None
    run_id: str | None
    filters: Mapping[str, Any] | None
    limit: int | None
    top_k: int


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

    def search(self, query: str, *, threshold: float = 0.0, **which: Unpack[Which]) -> dict[str, Any]:
        """Find memories that answer ``query``, best first.

        Args:
            threshold: the lowest score, 0 to 1. Scores of Memwell are its own and not those of mem0.
            which: see ``Which``.

        Returns:
            ``{"results": [{"id", "memory", "hash", "metadata", "score", "created_at", "updated_at", …}, …]}``
        """
        asked = _asked(which)
        scoped = self._scoped(*asked.ids)
        run = _Run(scoped, asked.run)
        limit = asked.most if asked.run is None else _PAGE
        found = scoped.search(query, limit=limit, profile_limit=0, include_relations=False)
        rest = [item for item in found.memories if item.score >= threshold and run.supports(item.memory)]
        rows = [{**_shape(scoped, item.memory, asked.run), "score": item.score} for item in rest[: asked.most]]
        return {"results": rows}

    def get_all(self, **which: Unpack[Which]) -> dict[str, Any]:
        """Current memories, newest first, shaped as those of ``search`` without a score.

        Args:
            which: see ``Which``.
        """
        asked = _asked(which)
        scoped = self._scoped(*asked.ids)
        records = islice(_all(scoped, _Run(scoped, asked.run)), asked.most)
        return {"results": [_shape(scoped, record, asked.run) for record in records]}

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
        """Put away all current memories of a user, an agent or a run.

        What another run said too stays with that run alone: the messages of this one that say it are taken back, for
        which a server asks for the right to govern.
        """
        scoped = self._scoped(user_id, agent_id, run_id)
        run = _Run(scoped, run_id)
        shared: set[str] = set()
        for record in [*_all(scoped, run)]:
            if run.supports(record, alone=True):
                scoped.delete(record.id)
            else:
                shared |= run.said(record)
        for key in sorted(shared):
            scoped.withdraw(key)
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


class _Asked(NamedTuple):
    user: str | None
    agent: str | None
    run: str | None
    most: int

    @property
    def ids(self) -> tuple[str | None, str | None, str | None]:
        return self[:3]


def _asked(which: Which) -> _Asked:
    """Whose memories are asked for, and how many.

    Raises:
        InputError: something is named twice and not alike, or Memwell does not know it.
    """
    _refuse_others({name: value for name, value in which.items() if name not in Which.__annotations__})
    given = dict(which.get("filters") or {})
    for name in _IDS:
        value = which.get(name)
        if value is not None and given.setdefault(name, value) != value:
            raise InputError(
                f"{name} is {value!r}, and {given[name]!r} in filters", remedy=f"give one {name}", code="invalid_filter"
            )
    unknown = [name for name in given if name not in _IDS]
    if unknown:
        raise InputError(
            f"filters has {unknown[0]!r}", remedy=f"filter by {', '.join(_IDS)} alone", code="unsupported_argument"
        )
    user, agent, run = (given.get(name) for name in _IDS)
    limit = which.get("limit")
    return _Asked(user, agent, run, which.get("top_k", _MOST) if limit is None else limit)


def _refuse_others(others: Mapping[str, Any]) -> None:
    """Refuse what mem0 takes and Memwell would have to drop; what is not given, or asks for nothing, is no matter."""
    for name, value in others.items():
        if value:
            raise InputError(f"{name} is not kept by Memwell", remedy=f"leave {name} out", code="unsupported_argument")


class _Run:
    """A conversation, and what was said in it; without an id, all of them."""

    def __init__(self, memory: Engine | Client, run_id: str | None) -> None:
        self._said = None if run_id is None else frozenset(_said(memory, run_id))

    def supports(self, record: MemoryRecord, *, alone: bool = False) -> bool:
        """Whether ``record`` rests on what was said in it.

        Args:
            alone: and on nothing else.
        """
        if self._said is None:
            return True
        sources = {source.evidence_id for source in record.sources}
        return sources <= self._said if alone else not sources.isdisjoint(self._said)

    def said(self, record: MemoryRecord) -> set[str]:
        """Ids of what was said in it that ``record`` rests on."""
        return {source.evidence_id for source in record.sources} & (self._said or frozenset())


def _said(memory: Engine | Client, run_id: str) -> Iterator[str]:
    """Ids of all that was said in a conversation."""
    cursor = None
    while True:
        page = memory.evidence(session_id=run_id, limit=_PAGE, cursor=cursor)
        yield from (record.id for record in page)
        if (cursor := page.cursor) is None:
            return


def _all(memory: Engine | Client, run: _Run) -> Iterator[MemoryRecord]:
    """Current memories that a run supports, newest first."""
    cursor = None
    while True:
        page = memory.list(limit=_PAGE, cursor=cursor)
        yield from (record for record in page if run.supports(record))
        if (cursor := page.cursor) is None:
            return


def _first(memory: Engine | Client, record: MemoryRecord) -> MemoryRecord:
    links = record.links
    return memory.history(record.id)[0] if links.supersedes or links.corrects else record


def _shape(memory: Engine | Client, record: MemoryRecord, run_id: str | None = None) -> dict[str, Any]:
    """mem0's row of a memory; its run is the one that was asked for, else the one in which it was said first."""
    first = _first(memory, record)
    run = run_id or record.session_id
    scope = {"user_id": record.scope.user_id, "agent_id": record.scope.agent_id, "run_id": run}
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
