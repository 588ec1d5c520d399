"""Changing memories by hand: update and delete, each a plan like every other change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memwell.domain.decision import Action, Candidate, Decision
from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.memory import MemoryRecord, Source, State
from memwell.domain.plan import AddEvidence, AddMemory, MarkFormed, Operation, Plan, Retire
from memwell.domain.scope import Scope
from memwell.domain.text import checked_text
from memwell.domain.validity import parse_time
from memwell.engine.indexing import index_both
from memwell.engine.ports import Clock, Embedder, Ids, Store
from memwell.engine.reading import found
from memwell.engine.results import WriteResult
from memwell.engine.versions import new_version
from memwell.errors import NotCurrentError, PreconditionError

_BY_HAND = ("user", "user")
_REASON = "updated by hand"


@dataclass(frozen=True, slots=True)
class Managing:
    """Update and delete."""

    store: Store
    embedder: Embedder
    clock: Clock
    ids: Ids

    def update(
        self,
        memory_id: str,
        content: str,
        scope: Scope | None,
        owner: tuple[str, str],
        *,
        at: str | datetime | None = None,
        expected_revision: int | None = None,
    ) -> WriteResult:
        """Let ``content`` take over from a current memory: the world changed.

        Args:
            expected_revision: the revision that the caller has seen; any will do where omitted.

        Raises:
            NotFoundError: there is no such memory here.
            NotCurrentError: that version is no longer current; the message names the one that is, if any.
            PreconditionError: it was changed meanwhile; read it again.
        """
        checked_text("content", content)
        now = self.clock.now()
        said_at = now if at is None else parse_time("at", at)
        with self.store.view() as view:
            memory = _unmoved(found(view, memory_id, scope, owner), expected_revision)
        if memory.state is not State.CURRENT:
            raise _not_current(memory, "updated")
        evidence = self._kept(memory, content, said_at, now)
        successor = self._successor(memory, evidence, now)
        until = max(successor.valid_from, memory.valid_from)
        operations: tuple[Operation, ...] = (
            AddMemory(successor),
            Retire(memory.id, memory.revision, State.SUPERSEDED, "update", valid_until=until),
            *index_both(self.embedder, evidence, successor),
            MarkFormed((evidence.id,)),
        )
        self.store.apply(Plan(self.ids.new("plan"), memory.scope, now, operations))
        decision = Decision(
            Action.OVERRIDE, 1.0, _REASON, successor.sources, content, (memory.id,), successor.id, memory.kind
        )
        return WriteResult((evidence.id,), (successor.id,), (decision,), "committed")

    def delete(
        self, memory_id: str, scope: Scope | None, owner: tuple[str, str], *, expected_revision: int | None = None
    ) -> MemoryRecord:
        """Archive a memory: put away on request, kept in history. Returns it as it is then.

        Raises:
            NotFoundError: there is no such memory here.
            NotCurrentError: a newer version has taken over from it, or it was retracted.
            PreconditionError: it has another revision than ``expected_revision``, or was changed meanwhile.
        """
        with self.store.view() as view:
            memory = _unmoved(found(view, memory_id, scope, owner), expected_revision)
        if memory.state is State.ARCHIVED:
            return memory
        if memory.state in (State.SUPERSEDED, State.RETRACTED):
            raise _not_current(memory, "deleted")
        retire = Retire(memory.id, memory.revision, State.ARCHIVED, "delete")
        self.store.apply(Plan(self.ids.new("plan"), memory.scope, self.clock.now(), (retire,)))
        with self.store.view() as view:
            return found(view, memory_id, scope, owner)

    def _successor(self, memory: MemoryRecord, evidence: Evidence, now: datetime) -> MemoryRecord:
        candidate = Candidate(
            sources=(Source(evidence.id, 0, len(evidence.content), evidence.occurred_at),),
            content=evidence.content,
            kind=memory.kind,
            said_at=evidence.occurred_at,
            subject=memory.subject,
            attribute=memory.attribute,
            session_id=memory.session_id,
        )
        successor = new_version(
            memory_id=self.ids.new("mem"),
            scope=memory.scope,
            candidate=candidate,
            action=Action.OVERRIDE,
            targets=[memory],
            confidence=1.0,
            reason=_REASON,
            makers=_BY_HAND,
            now=now,
        )
        return replace(successor, boundary=memory.boundary)

    def _kept(self, memory: MemoryRecord, content: str, said_at: datetime, now: datetime) -> Evidence:
        plan_id = self.ids.new("plan")
        evidence = Evidence(
            id=self.ids.new("ev"),
            scope=memory.scope,
            origin=f"update:{plan_id}",
            speaker=Speaker.USER,
            content=content,
            occurred_at=said_at,
            recorded_at=now,
            session_id=memory.session_id,
        )
        self.store.apply(Plan(plan_id, memory.scope, now, (AddEvidence(evidence),)))
        return evidence


def _unmoved(memory: MemoryRecord, expected_revision: int | None) -> MemoryRecord:
    if expected_revision is not None and expected_revision != memory.revision:
        raise PreconditionError(
            f"memory {memory.id} is at revision {memory.revision}, not {expected_revision}", remedy="read it again"
        )
    return memory


def _not_current(memory: MemoryRecord, done: str) -> NotCurrentError:
    newer = (*memory.links.superseded_by, *memory.links.corrected_by)
    remedy = f"use its successor {newer[-1]}" if newer else "list the current memories"
    return NotCurrentError(f"memory {memory.id} is {memory.state} and cannot be {done}", remedy=remedy)
