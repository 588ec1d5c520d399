"""LangGraph's long-term store on Memwell: every value is an observation, kept at its newest version.

>>> from memwell import Memory
>>> from memwell.adapters.langgraph import MemwellStore
>>> store = MemwellStore(Memory(user_id="alice"))
"""

from __future__ import annotations

import asyncio
import json
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)

from memwell.builtin.system import SystemClock
from memwell.domain.evidence import SOURCE_KEY, VERSION, Evidence
from memwell.engine.ports import Clock
from memwell.errors import EvidenceConflictError, InputError, StaleObservationError

if TYPE_CHECKING:
    from memwell.client import Client
    from memwell.interfaces.python.memory import Memory

_PREFIX = "langgraph:"
_PAGE = 1_000
_LONGEST_TTL = 525_600_000  # minutes: a thousand years
_SAME: Mapping[str, Callable[[Any, Any], bool]] = {"$eq": operator.eq, "$ne": operator.ne}
_ORDER: Mapping[str, Callable[[float, float], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}

Namespace = tuple[str, ...]


class MemwellStore(BaseStore):
    """A ``BaseStore`` whose values Memwell keeps, finds by meaning and truly erases.

    A value is stored as JSON of at most 64 KiB and becomes a state of the user, so searches of Memwell itself find it
    too. A newer value erases the one before; ``delete`` erases. ``index=False`` keeps a value out of every search by
    words; a list of fields is taken as a wish, since the whole value is searched.

    A value with a life time (``ttl``) is not read any more once that is over, and ``sweep_ttl`` erases it. It counts
    from the put: an observation holds for the period that it came with, so that no read lengthens it.

    Args:
        memory: an open ``Memory`` or ``Client`` for the scope that holds the values.
        permissions: where values may go, as for ``Memory.observe``; by default they stay on this machine.
        default_ttl: minutes that a value lives where its put does not say; without end where omitted.
        clock: gives the versions of values, and tells when they are over.

    Raises:
        MemwellError: (from every method) what the use cases of Memwell raise.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Memory | Client,
        *,
        permissions: Mapping[str, bool] | None = None,
        default_ttl: float | None = None,
        clock: Clock | None = None,
    ) -> None:
        _check_ttl(default_ttl)
        self.ttl_config = TTLConfig(refresh_on_read=False, omit_expired=True, default_ttl=default_ttl)
        self._memory = memory
        self._permissions = permissions
        self._clock = clock or SystemClock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: what they read is as it was before them, and of several puts of a key the last counts.

        Returns:
            One result for each operation, ``None`` for a put.
        """
        wanted = list(ops)
        for op in wanted:
            if isinstance(op, PutOp):
                _check_ttl(op.ttl)
        results = [self._read(op) for op in wanted]
        last = {(op.namespace, op.key): op for op in wanted if isinstance(op, PutOp)}
        for op in last.values():
            self._write(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """``batch`` in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Erase the values whose life time is over; returns how many."""
        over = [record for record in self._every(_PREFIX) if self._is_over(record)]
        for record in over:
            self._erase(record)
        return len(over)

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            record = self._living(op.namespace, op.key)
            return None if record is None else Item(**_parts(record, refresh=op.refresh_ttl))
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        return None

    def _write(self, op: PutOp) -> None:
        record = self._stored(op.namespace, op.key)
        if op.value is None:
            if record is not None:
                self._erase(record)
            return
        content = json.dumps(op.value, ensure_ascii=False)
        while True:
            known = -1 if record is None else int(record.metadata[VERSION])
            now = self._clock.now()
            try:
                done = self._memory.observe(
                    _source_key(op.namespace, op.key),
                    content,
                    version=max(known + 1, int(now.timestamp() * 1_000_000)),
                    valid_from=None if op.ttl is None else now,
                    valid_until=None if op.ttl is None else now + timedelta(minutes=op.ttl),
                    permissions=self._permissions,
                )
                break
            except (EvidenceConflictError, StaleObservationError):  # another writer was faster: come after it
                record = self._stored(op.namespace, op.key)
        if op.index is False and done.memory_id is not None:
            self._memory.mute(done.memory_id)

    def _erase(self, record: Evidence) -> None:
        self._memory.forget(self._memory.preview_forget(evidence=[record.id]).token)

    def _is_over(self, record: Evidence) -> bool:
        return record.valid_until is not None and record.valid_until <= self._clock.now()

    def _stored(self, namespace: Namespace, key: str) -> Evidence | None:
        source_key = _source_key(namespace, key)
        return next((found for found in self._every(source_key) if found.metadata[SOURCE_KEY] == source_key), None)

    def _living(self, namespace: Namespace, key: str) -> Evidence | None:
        record = self._stored(namespace, key)
        return None if record is None or self._is_over(record) else record

    def _all(self, source_prefix: str) -> Iterator[Evidence]:
        return (record for record in self._every(source_prefix) if not self._is_over(record))

    def _every(self, source_prefix: str) -> Iterator[Evidence]:
        cursor = None
        while True:
            page = self._memory.evidence(source_prefix=source_prefix, include_expired=True, limit=_PAGE, cursor=cursor)
            yield from page
            if (cursor := page.cursor) is None:
                return

    def _search(self, op: SearchOp) -> list[SearchItem]:
        records = [record for record in self._all(_prefix(op.namespace_prefix)) if _fits(op.filter, _value(record))]
        records.reverse()  # in the order in which they were stored
        scores = self._scores(op.query) if op.query else {}
        ranked = sorted(records, key=lambda record: -scores.get(record.id, -1.0))
        return [
            SearchItem(**_parts(record, refresh=op.refresh_ttl), score=scores.get(record.id))
            for record in ranked[op.offset : op.offset + op.limit]
        ]

    def _scores(self, query: str) -> Mapping[str, float]:
        """How well each source answers ``query``; those that do not are absent."""
        found = self._memory.search(query, limit=_PAGE, profile_limit=0, include_relations=False)
        return {key: item.score for item in found.memories for key in item.evidence_ids}

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        every = {_place(record)[0] for record in self._all(_PREFIX)}
        matching = {name for name in every if all(_matches(name, wanted) for wanted in op.match_conditions or ())}
        shown = sorted({name[: op.max_depth] for name in matching})
        return shown[op.offset : op.offset + op.limit]


def _check_ttl(ttl: object) -> None:
    """Refuse what is no length of time, before anything is put."""
    if ttl is None or (isinstance(ttl, int | float) and not isinstance(ttl, bool) and 0 < ttl <= _LONGEST_TTL):
        return
    raise InputError(
        f"ttl is {ttl!r}", remedy=f"give minutes, more than 0 and at most {_LONGEST_TTL:,}", code="invalid_ttl"
    )


# LangGraph allows no period in a label and no empty label, so two periods end a namespace and one parts its labels.


def _prefix(namespace: Namespace) -> str:
    return _PREFIX + "".join(f"{label}." for label in namespace)


def _source_key(namespace: Namespace, key: str) -> str:
    return f"{_prefix(namespace)}.{key}"


def _place(record: Evidence) -> tuple[Namespace, str]:
    labels, _, key = record.metadata[SOURCE_KEY].removeprefix(_PREFIX).partition("..")
    return tuple(labels.split(".")), key


def _value(record: Evidence) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(record.content)
    return value


def _parts(record: Evidence, *, refresh: bool) -> dict[str, Any]:
    if refresh and record.valid_until is not None:
        raise InputError(
            "refresh_ttl is True", remedy="leave it out, and put the value again", code="unsupported_argument"
        )
    namespace, key = _place(record)
    moment = record.recorded_at
    return {
        "namespace": namespace,
        "key": key,
        "value": _value(record),
        "created_at": moment,
        "updated_at": moment,
    }


def _fits(wanted: Mapping[str, Any] | None, value: Mapping[str, Any]) -> bool:
    return all(_equals(value.get(name), rule) for name, rule in (wanted or {}).items())


def _equals(value: Any, rule: Any) -> bool:
    if not isinstance(rule, Mapping):
        return bool(value == rule)
    if not any(name.startswith("$") for name in rule):
        return isinstance(value, Mapping) and all(_equals(value.get(name), part) for name, part in rule.items())
    return all(_compares(value, name, other) for name, other in rule.items())


def _compares(value: Any, name: str, other: Any) -> bool:
    if name in _SAME:
        return _SAME[name](value, other)
    if name not in _ORDER:
        raise InputError(f"filter uses {name!r}", remedy=f"use one of {', '.join((*_SAME, *_ORDER))}")
    return value is not None and _ORDER[name](float(value), float(other))


def _matches(namespace: Namespace, wanted: MatchCondition) -> bool:
    path = wanted.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if wanted.match_type == "prefix" else namespace[-len(path) :]
    return all(rule in ("*", label) for rule, label in zip(path, part, strict=True))
