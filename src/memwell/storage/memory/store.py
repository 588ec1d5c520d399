"""The reference store's plan door."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from threading import RLock
from typing import TypeVar

from memwell.domain.changes import Changes, Entry, receipt_of
from memwell.domain.jobs import Job
from memwell.domain.memory import State
from memwell.domain.plan import AddEvidence, Applied, IndexRecord, KeepReceipt, Plan, Unit
from memwell.domain.resolve import resolve
from memwell.domain.scope import Scope
from memwell.domain.tombstone import keyed_hash
from memwell.engine.calls import PassingNotes
from memwell.engine.ports import Clock, View
from memwell.errors import StorageError
from memwell.storage.memory.checks import problems
from memwell.storage.memory.queue import MemoryQueue
from memwell.storage.memory.rows import RequestRow, Rows, evidence_words, is_indexed, memory_words
from memwell.storage.memory.spending import MemorySpending
from memwell.storage.memory.traces import MemoryTraces
from memwell.storage.memory.view import MemoryView
from memwell.storage.refusals import busy_scope, moved_epoch, other_dimensions, other_input
from memwell.storage.values import LOCK_LIFE, REQUEST_LIFE, mapping_from_json, to_json

T = TypeVar("T")
_POLL_SECONDS = 0.005
_HASH_KEY = bytes(32)  # nothing here outlives the process


class MemoryStore:
    """Keeps everything in memory until closed; see ``ports.Store``.

    Args:
        clock: for the expiry of requests and locks.
        lock_timeout: seconds to wait for another planner's scope lock.
    """

    def __init__(self, *, clock: Clock, lock_timeout: float = 30.0) -> None:
        self._clock = clock
        self._lock_timeout = lock_timeout
        self._rows = Rows()
        self._locks: dict[Scope, tuple[str, datetime]] = {}
        self._guard = RLock()
        self._closed = False
        self._notes: dict[str, PassingNotes] = {}
        self.queue = MemoryQueue(self._change_jobs, lambda: self._open_rows().jobs, self._notes, clock)
        self.spending = MemorySpending()

    def apply(self, plan: Plan) -> Applied:
        return self._when_free(plan.scope, plan.lock, lambda: self._apply(plan))

    def scopes(self) -> list[Scope]:
        rows = self._open_rows()
        found = {record.scope for record in rows.evidence.values()}
        found.update(memory.scope for memory in rows.memories.values())
        found.update(scope for scope, _ in (*rows.receipts, *rows.tombstones.values()))
        return sorted(found, key=lambda scope: (scope.app_id, scope.user_id, scope.agent_id))

    @contextmanager
    def view(self) -> Iterator[View]:
        yield MemoryView(self._open_rows(), self._clock.now)

    @contextmanager
    def lock_scope(self, scope: Scope) -> Iterator[str]:
        token = secrets.token_hex(16)

        def take() -> None:
            self._locks[scope] = (token, self._clock.now() + LOCK_LIFE)

        self._when_free(scope, None, take)
        try:
            yield token
        finally:
            with self._guard:
                if self._holder(scope) == token:
                    del self._locks[scope]

    def rebuild(self) -> None:
        with self._guard:
            rows = self._open_rows().copy()
            rows.index_words()
            self._rows = rows

    def clean(self) -> bool:
        return True  # what is erased is in no log

    def check(self) -> list[str]:
        return problems(self._open_rows())

    def close(self) -> None:
        self._closed = True

    def _change_jobs(self, change: Callable[[dict[str, Job]], T]) -> T:
        """Do ``change`` to a copy of the jobs, and keep it."""
        with self._guard:
            rows = self._open_rows().copy()
            result = change(rows.jobs)
            self._rows = rows
            return result

    def _open_rows(self) -> Rows:
        if self._closed:
            raise StorageError("the store is closed", remedy="open it again")
        return self._rows

    def _holder(self, scope: Scope) -> str | None:
        token, expires_at = self._locks.get(scope, (None, None))
        return token if expires_at is not None and self._clock.now() < expires_at else None

    def _when_free(self, scope: Scope, token: str | None, action: Callable[[], T]) -> T:
        """Do ``action`` under the guard once nobody but the owner of ``token`` holds the scope."""
        deadline = time.monotonic() + self._lock_timeout
        while True:
            with self._guard:
                if self._holder(scope) in (None, token):
                    return action()
            if time.monotonic() >= deadline:
                raise busy_scope(scope, self._lock_timeout)
            time.sleep(_POLL_SECONDS)

    def _apply(self, plan: Plan) -> Applied:
        known = self._open_rows()
        replayed = self._replayed(known, plan)
        if replayed is not None:
            return replayed
        epoch = known.epochs.get(plan.scope, 0)
        if plan.expected_epoch is not None and plan.expected_epoch != epoch:
            raise moved_epoch(plan, epoch)
        changes = resolve(plan, known.named(plan))
        rows = known.copy()
        _write(rows, plan, changes)
        for job in changes.jobs:
            rows.jobs[job.id] = job
            self._notes.pop(job.id, None)
        rows.epochs[plan.scope] = epoch + changes.moves_epoch
        rows.ledger.extend(changes.entries or (Entry("plan", "", ""),))
        rows.plans[plan.id] = len(rows.ledger)
        receipt = receipt_of(plan, changes, len(rows.ledger))
        if plan.command is not None and receipt is not None:
            digest = keyed_hash(plan.command.input, _HASH_KEY)
            rows.receipts[plan.scope, plan.command.id] = KeepReceipt(receipt, digest, _HASH_KEY)
        if plan.request is not None:
            outcome = None if plan.outcome is None else mapping_from_json(to_json(plan.outcome))
            expires_at = self._clock.now() + REQUEST_LIFE
            row = RequestRow(plan.request.input_hash, plan.id, outcome, expires_at)
            rows.requests[plan.scope, plan.request.id] = row
        self._rows = rows
        return Applied(plan.id, rows.plans[plan.id], rows.epochs[plan.scope], False, changes.aliases, receipt)

    def _replayed(self, rows: Rows, plan: Plan) -> Applied | None:
        receipt = None
        if plan.command is not None:
            receipt = MemoryTraces(rows, plan.scope).answered(plan.command)
        first = plan.id if plan.id in rows.plans else receipt.plan_id if receipt else None
        if first is None and plan.request is not None:
            request = rows.requests.get((plan.scope, plan.request.id))
            if request is not None and self._clock.now() < request.expires_at:
                if request.input_hash != plan.request.input_hash:
                    raise other_input(plan.request.id)
                first = request.plan_id if request.outcome is not None else None
        if first is None:
            return None
        proposed = [operation.evidence for operation in plan.operations if isinstance(operation, AddEvidence)]
        stored = {record.id: rows.origins.get((plan.scope, record.origin)) for record in proposed}
        evidence = {key: known for key, known in stored.items() if known is not None}
        return Applied(first, rows.plans[first], rows.epochs.get(plan.scope, 0), True, evidence, receipt)


def _write(rows: Rows, plan: Plan, changes: Changes) -> None:
    _erase(rows, plan, changes)
    for record in (*changes.evidence, *changes.altered.values()):
        rows.evidence[record.id] = replace(record, metadata=mapping_from_json(to_json(record.metadata)))
        rows.origins[record.scope, record.origin] = record.id
        if is_indexed(record):
            rows.words[Unit.EVIDENCE][record.id] = evidence_words(record)
    for memory_id, memory in changes.memories.items():
        rows.memories[memory_id] = replace(
            memory,
            qualifiers=mapping_from_json(to_json(memory.qualifiers)),
            extra=mapping_from_json(to_json(memory.extra)),
        )
        if memory_id not in changes.erased:
            rows.words[Unit.MEMORY][memory_id] = memory_words(memory)
    for step in changes.transitions:
        rows.transitions[step.memory_id] = (*rows.transitions.get(step.memory_id, ()), step)
    for record_vectors in changes.vectors:
        _index(rows, plan, record_vectors)
    rows.formed.update(changes.formed)
    for key, others in changes.dependencies.items():
        rows.dependencies[key] = (*rows.dependencies.get(key, ()), *others)
    for kept in changes.receipts:
        rows.receipts.setdefault((plan.scope, kept.receipt.command_id), kept)


def _erase(rows: Rows, plan: Plan, changes: Changes) -> None:
    for grave in changes.graves:
        rows.words[grave.unit].pop(grave.record_id, None)
        rows.vectors[grave.unit].pop(grave.record_id, None)
        if grave.unit is Unit.EVIDENCE and grave.spans is None:
            record = rows.evidence[grave.record_id]
            del rows.origins[record.scope, record.origin]
            rows.origins[record.scope, changes.altered[record.id].origin] = record.id
            rows.formed.discard(record.id)
            rows.dependencies.pop(record.id, None)
    for memory_id in changes.reworded:
        rows.vectors[Unit.MEMORY].pop(memory_id, None)
    for stone in (*(grave.tombstone(_HASH_KEY) for grave in changes.graves), *changes.buried):
        known = rows.tombstones.get(stone.record_id)
        rows.tombstones[stone.record_id] = (plan.scope, known[1].merged(stone) if known else stone)
    for memory_id in changes.erased:
        steps = rows.transitions.get(memory_id, ())
        rows.transitions[memory_id] = tuple(
            replace(step, state=State.ERASED, valid_until=None, muted_at=None) for step in steps
        )
    if changes.graves:
        gone = [grave.record_id for grave in changes.graves]
        for key, request in list(rows.requests.items()):
            if key[0] == plan.scope and (
                request.outcome is None or any(i in (to_json(request.outcome) or "") for i in gone)
            ):
                del rows.requests[key]


def _index(rows: Rows, plan: Plan, item: IndexRecord) -> None:
    if not item.vectors:
        rows.vectors[item.unit].pop(item.record_id, None)
        return
    dimensions = len(item.vectors[0].data) // 4
    if rows.dimensions.setdefault(item.model, dimensions) != dimensions:
        raise other_dimensions(plan, item.model, dimensions, rows.dimensions[item.model])
    rows.vectors[item.unit][item.record_id] = item
