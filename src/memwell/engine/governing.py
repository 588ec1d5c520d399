"""Commands of those whose memory it is: permit, retract, unarchive, mute, withdraw. Each leaves a receipt."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memwell.domain.command import Command, Receipt
from memwell.domain.evidence import Evidence, EvidenceStatus
from memwell.domain.memory import TRANSITIONS, MemoryRecord, State
from memwell.domain.plan import Mute, Operation, Permit, Plan, Retire, Withdraw
from memwell.domain.scope import Scope, checked_id
from memwell.engine.ports import Clock, Embedder, Ids, Store, View
from memwell.engine.reading import found
from memwell.engine.support import supports, unsupporting
from memwell.errors import NotCurrentError, NotFoundError, PreconditionError

Planner = Callable[[View], tuple[Scope, Sequence[Operation]]]


@dataclass(frozen=True, slots=True)
class Governing:
    """The use cases; each takes the scope of the caller, or ``None`` where an id alone names the record."""

    store: Store
    embedder: Embedder
    clock: Clock
    ids: Ids

    def retract(
        self,
        memory_id: str,
        scope: Scope | None,
        owner: tuple[str, str],
        *,
        command_id: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Withdraw a memory as never true.

        Raises:
            NotCurrentError: it was retracted before.
            PreconditionError: it is not at ``expected_revision``.
        """
        return self._move(memory_id, State.RETRACTED, "retract", scope, owner, command_id, expected_revision)

    def archive(
        self,
        memory_id: str,
        scope: Scope | None,
        owner: tuple[str, str],
        *,
        command_id: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Put a memory away; history keeps it."""
        return self._move(memory_id, State.ARCHIVED, "archive", scope, owner, command_id, expected_revision)

    def unarchive(
        self,
        memory_id: str,
        scope: Scope | None,
        owner: tuple[str, str],
        *,
        command_id: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Make an archived memory current again."""
        return self._move(memory_id, State.CURRENT, "unarchive", scope, owner, command_id, expected_revision)

    def mute(
        self,
        memory_id: str,
        muted: bool,
        scope: Scope | None,
        owner: tuple[str, str],
        *,
        command_id: str | None = None,
        expected_revision: int | None = None,
    ) -> Receipt:
        """Keep a memory from being recalled, or let it be recalled again; without effect where it is so already."""

        def plan(view: View) -> tuple[Scope, Sequence[Operation]]:
            memory = _expected(found(view, memory_id, scope, owner), expected_revision)
            return memory.scope, [Mute(memory.id, memory.revision, muted)]

        asked = {"expected_revision": expected_revision}
        return self._carry_out("mute" if muted else "unmute", memory_id, asked, plan, command_id, scope, owner)

    def permit(
        self,
        evidence_id: str,
        scope: Scope | None,
        owner: tuple[str, str],
        *,
        local: bool | None = None,
        cloud: bool | None = None,
        infer: bool | None = None,
        command_id: str | None = None,
    ) -> Receipt:
        """Set what may be done with a source and all that rests on it; rights that are ``None`` stay as they are.

        Raises:
            NotFoundError: there is no such source here.
        """
        asked = {"local": local, "cloud": cloud, "infer": infer}
        wanted = {name: value for name, value in asked.items() if value is not None}

        def plan(view: View) -> tuple[Scope, Sequence[Operation]]:
            record = found_evidence(view, evidence_id, scope, owner)
            return record.scope, [Permit(record.id, replace(record.permissions, **wanted), record.permissions)]

        return self._carry_out("permit", evidence_id, asked, plan, command_id, scope, owner)

    def withdraw(
        self, evidence_id: str, scope: Scope | None, owner: tuple[str, str], *, command_id: str | None = None
    ) -> Receipt:
        """Take a source back: nothing that rests on it alone is read any more.

        A memory that another message says too goes on in the words of that one. Those of the source stay until it, or
        the memory, is forgotten.
        """

        def plan(view: View) -> tuple[Scope, Sequence[Operation]]:
            record = found_evidence(view, evidence_id, scope, owner)
            citing = view.traces(record.scope).citing([record.id])
            found = supports(view, citing, {record.id}) if record.status is EvidenceStatus.ACTIVE else {}
            return record.scope, [Withdraw(record.id), *unsupporting(found.values(), self.embedder)]

        return self._carry_out("withdraw", evidence_id, {}, plan, command_id, scope, owner)

    def receipt(self, command_id: str, scope: Scope) -> Receipt:
        """The receipt of a command, its hash checked.

        Raises:
            NotFoundError: no command of that id was carried out in this scope.
            ReceiptError: the stored receipt does not match its hash.
        """
        with self.store.view() as view:
            receipt = view.traces(scope).receipt(command_id)
        if receipt is None:
            raise NotFoundError(f"no receipt of {command_id!r} here", remedy="check the id and whose command it was")
        return receipt

    def _move(
        self,
        memory_id: str,
        state: State,
        operation: str,
        scope: Scope | None,
        owner: tuple[str, str],
        command_id: str | None,
        expected_revision: int | None,
    ) -> Receipt:
        def plan(view: View) -> tuple[Scope, Sequence[Operation]]:
            memory = _expected(found(view, memory_id, scope, owner), expected_revision)
            if memory.state is state:
                raise NotCurrentError(f"memory {memory.id} is {state} already", remedy="nothing is left to do")
            if state not in TRANSITIONS[memory.state]:
                raise NotCurrentError(
                    f"memory {memory.id} is {memory.state}", remedy=f"it cannot become {state}; see its history"
                )
            return memory.scope, [Retire(memory.id, memory.revision, state, operation)]

        asked = {"expected_revision": expected_revision}
        return self._carry_out(operation, memory_id, asked, plan, command_id, scope, owner)

    def _carry_out(
        self,
        operation: str,
        target: str,
        asked: Mapping[str, Any],
        planner: Planner,
        command_id: str | None,
        caller: Scope | None,
        owner: tuple[str, str],
    ) -> Receipt:
        """Make and apply the plan of a command, once per command id."""
        command_id = self.ids.new("cmd") if command_id is None else checked_id("command_id", command_id)
        text = json.dumps([operation, target, asked], sort_keys=True)
        with self.store.view() as view:
            where = scope_of(view, target)
            if where is not None and caller in (None, where) and (where.app_id, where.agent_id) == owner:
                known = view.traces(where).answered(Command(command_id, operation, "", (target,), text, {}))
                if known is not None:
                    return known
            scope, operations = planner(view)
        command = Command(command_id, operation, scope.user_id, (target,), text, {})
        plan = Plan(self.ids.new("plan"), scope, self.clock.now(), tuple(operations), command=command)
        receipt = self.store.apply(plan).receipt
        if receipt is None:
            raise RuntimeError("a command left no receipt")
        return receipt


def found_evidence(view: View, evidence_id: str, scope: Scope | None, owner: tuple[str, str]) -> Evidence:
    """The evidence of that id if it is in ``scope`` (or, without one, of ``owner``'s application and agent)."""
    record = view.evidence([evidence_id]).get(evidence_id)
    if (
        record is None
        or record.status is EvidenceStatus.ERASED
        or (scope is not None and record.scope != scope)
        or (record.scope.app_id, record.scope.agent_id) != owner
    ):
        raise NotFoundError(f"no source {evidence_id!r} here", remedy="explain a memory to see the ids of its sources")
    return record


def scope_of(view: View, record_id: str) -> Scope | None:
    """The scope of the memory or evidence of that id."""
    record = view.memories([record_id]).get(record_id) or view.evidence([record_id]).get(record_id)
    return None if record is None else record.scope


def _expected(memory: MemoryRecord, revision: int | None) -> MemoryRecord:
    if revision is not None and memory.revision != revision:
        raise PreconditionError(
            f"memory {memory.id} is at revision {memory.revision}, not {revision}",
            remedy="read it again and repeat",
            code="revision_conflict",
        )
    return memory
