"""Correction: a new version replaces one that was wrong, and rests on the words of the correction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from memwell.domain.command import Command, Receipt
from memwell.domain.decision import Action, Candidate
from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.memory import MemoryRecord, Source, State
from memwell.domain.plan import AddEvidence, AddMemory, MarkFormed, Operation, Plan, Retire
from memwell.domain.scope import Scope, checked_id
from memwell.domain.text import checked_text
from memwell.domain.validity import parse_time
from memwell.engine.indexing import index_both
from memwell.engine.ports import Clock, Embedder, Ids, Store
from memwell.engine.reading import found
from memwell.engine.versions import new_version
from memwell.errors import InputError, NotCurrentError

_BY_HAND = ("user", "user")
_REASON = "corrected by hand"
# What may turn out never to have been true. What another version took over from is only retracted: its correction would
# stand as current beside that version.
_CORRECTABLE = (State.CURRENT, State.ENDED, State.ARCHIVED)


@dataclass(frozen=True, slots=True)
class CorrectionSource:
    """The message in which the user made the correction; the host may deliver it later, or have done so already.

    Attributes:
        content: all of the message; ``quote``: the part that is the correction, which must stand in it once.
        at: when it was said; now where omitted.
        preceding: the assistant's turn before it.
    """

    message_id: str
    session_id: str
    content: str
    quote: str
    at: str | datetime | None = None
    preceding: str | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """What a correction did."""

    receipt: Receipt
    memory_id: str
    evidence_id: str

    def to_dict(self) -> dict[str, Any]:
        return {"receipt": self.receipt.to_dict(), "memory_id": self.memory_id, "evidence_id": self.evidence_id}


@dataclass(frozen=True, slots=True)
class Correcting:
    """The use case."""

    store: Store
    embedder: Embedder
    clock: Clock
    ids: Ids

    def correct(
        self,
        memory_ids: str | Sequence[str],
        content: str | None,
        scope: Scope | None,
        owner: tuple[str, str],
        *,
        source: CorrectionSource | Mapping[str, Any] | None = None,
        command_id: str | None = None,
    ) -> Correction:
        """Replace memories that were wrong by what is right.

        Args:
            memory_ids: one or several versions; each becomes ``retracted``.
            content: what is right, in the user's words; not given where ``source`` quotes it.
            source: the message that says so; see ``CorrectionSource``.

        Raises:
            NotFoundError: there is no such memory here.
            NotCurrentError: one was retracted before, or another version took over from it.
            InputError: the quote does not stand in the message exactly once.
            EvidenceConflictError: the message was stored before with other content.
        """
        ids = (memory_ids,) if isinstance(memory_ids, str) else tuple(dict.fromkeys(memory_ids))
        if not ids:
            raise InputError("no memory is named", remedy="name the memories that are wrong")
        given = _source(source)
        command_id = self.ids.new("cmd") if command_id is None else checked_id("command_id", command_id)
        asked = json.dumps([ids, content, given and asdict(given)], default=str, sort_keys=True)
        with self.store.view() as view:
            targets = [found(view, memory_id, scope, owner) for memory_id in ids]
            where = targets[0].scope
            command = Command(command_id, "correct", where.user_id, ids, asked, {})
            known = view.traces(where).answered(command)
        if known is not None:
            return _done(known)
        for memory in targets:
            if memory.state not in _CORRECTABLE:
                raise NotCurrentError(
                    f"memory {memory.id} is {memory.state} and cannot be corrected",
                    remedy="correct the version that took its place, or retract this one",
                )
        evidence, start, end = self._evidence(targets[0], content, given)
        plan = self._plan(targets, evidence, start, end, command)
        receipt = self.store.apply(plan).receipt
        if receipt is None:
            raise RuntimeError("a command left no receipt")
        return _done(receipt)

    def _evidence(
        self, memory: MemoryRecord, content: str | None, source: CorrectionSource | None
    ) -> tuple[Evidence, int, int]:
        """The correction as evidence, and where in it the correction stands."""
        now = self.clock.now()
        evidence = Evidence(
            id=self.ids.new("ev"),
            scope=memory.scope,
            origin=f"correction:{self.ids.new('plan')}",
            speaker=Speaker.USER,
            content=checked_text("content", content if source is None else source.content),
            occurred_at=now,
            recorded_at=now,
            session_id=memory.session_id,
        )
        if source is None:
            return evidence, 0, len(evidence.content)
        if content is not None and content != source.quote:
            raise InputError("content and the quote of source differ", remedy="give one of them, or the same words")
        start = source.content.find(source.quote) if source.quote.strip() else -1
        if start < 0 or source.content.find(source.quote, start + 1) >= 0:
            raise InputError(
                f"the quote {source.quote[:40]!r} does not stand in the message exactly once",
                remedy="quote more of the words around it",
                code="quote_not_unique",
            )
        evidence = replace(
            evidence,
            origin=f"message:{source.session_id}:{source.message_id}",
            session_id=source.session_id,
            message_id=source.message_id,
            occurred_at=now if source.at is None else parse_time("at", source.at),
            preceding=source.preceding,
        )
        return self._delivered(evidence), start, start + len(source.quote)

    def _delivered(self, evidence: Evidence) -> Evidence:
        """The message as the host delivered it before, where it did; its time holds."""
        with self.store.view() as view:
            known = view.evidence_by_origin(evidence.scope, [evidence.origin]).get(evidence.origin)
        return evidence if known is None else _as_known(evidence, known)

    def _plan(
        self, targets: Sequence[MemoryRecord], evidence: Evidence, start: int, end: int, command: Command
    ) -> Plan:
        now = evidence.recorded_at
        first = targets[0]
        candidate = Candidate(
            sources=(Source(evidence.id, start, end, evidence.occurred_at),),
            content=evidence.content[start:end],
            kind=first.kind,
            said_at=evidence.occurred_at,
            subject=first.subject,
            attribute=first.attribute,
            session_id=evidence.session_id,
        )
        successor = new_version(
            memory_id=self.ids.new("mem"),
            scope=first.scope,
            candidate=candidate,
            action=Action.CORRECT,
            targets=targets,
            confidence=1.0,
            reason=_REASON,
            makers=_BY_HAND,
            now=now,
        )
        successor = replace(successor, boundary=first.boundary)
        # The rest of a message that says more than the correction is left to be formed as ever.
        marks: list[Operation] = [MarkFormed((evidence.id,))] if end - start == len(evidence.content) else []
        operations: tuple[Operation, ...] = (
            AddEvidence(evidence),
            AddMemory(successor),
            *(Retire(memory.id, memory.revision, State.RETRACTED, "correct") for memory in targets),
            *index_both(self.embedder, evidence, successor),
            *marks,
        )
        details = {"memory_id": successor.id, "evidence_id": evidence.id, "span": [start, end]}
        return Plan(self.ids.new("plan"), first.scope, now, operations, command=replace(command, details=details))


def _as_known(evidence: Evidence, known: Evidence) -> Evidence:
    permissions = known.permissions.tightened(evidence.permissions)
    return replace(evidence, id=known.id, occurred_at=known.occurred_at, permissions=permissions)


def _source(value: CorrectionSource | Mapping[str, Any] | None) -> CorrectionSource | None:
    if value is None or isinstance(value, CorrectionSource):
        return value
    try:
        return CorrectionSource(**value)
    except TypeError as error:
        raise InputError(
            f"source cannot be used: {error}",
            remedy="give message_id, session_id, content and quote, and at and preceding where known",
        ) from None


def _done(receipt: Receipt) -> Correction:
    return Correction(receipt, receipt.details["memory_id"], receipt.details["evidence_id"])
