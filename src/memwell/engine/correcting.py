"""Correction: a new version replaces one that was wrong, and rests on the words of the correction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from memwell.domain.command import Command, Receipt
from memwell.domain.decision import Action, Candidate
from memwell.domain.evidence import AWAITING, CORRECTS, Evidence, Speaker, message_origin
from memwell.domain.memory import MemoryRecord, Source, Span, State
from memwell.domain.plan import AddEvidence, AddMemory, MarkFormed, Operation, Permit, Plan, Retire, Withdraw
from memwell.domain.scope import Scope, checked_id
from memwell.domain.text import checked_text
from memwell.domain.validity import parse_time
from memwell.engine.indexing import index_both
from memwell.engine.ports import Clock, Embedder, Ids, Store, View
from memwell.engine.reading import found
from memwell.engine.versions import new_version
from memwell.engine.waiting import CORRECTABLE, READY, Waiting, place_of, waiting_corrections
from memwell.errors import ErasedSourceError, InputError, NotCurrentError, PreconditionError

_BY_HAND = ("user", "user")
_REASON = "corrected by hand"
DONE = "done"
PENDING = "pending"


@dataclass(frozen=True, slots=True)
class CorrectionSource:
    """The message in which the user made the correction; the host may deliver it later, or have done so already.

    Attributes:
        quote: the part that is the correction, which must stand in the message once.
        content: all of the message; without it the correction waits until the message is there.
        at: when it was said; now where omitted.
        preceding: the assistant's turn before it.
    """

    message_id: str
    session_id: str
    quote: str
    content: str | None = None
    at: str | datetime | None = None
    preceding: str | None = None


@dataclass(frozen=True, slots=True)
class Correction:
    """What a correction did.

    Attributes:
        memory_id: the new version; ``None`` while the correction waits for its message.
        evidence_id: what the new version rests on, or the quote that waits.
        status: ``"done"`` or ``"pending"``.
    """

    receipt: Receipt
    memory_id: str | None
    evidence_id: str
    status: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "receipt": self.receipt.to_dict(),
            "memory_id": self.memory_id,
            "evidence_id": self.evidence_id,
            "status": self.status,
        }


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
        given = _source(source, content)
        command_id = self.ids.new("cmd") if command_id is None else checked_id("command_id", command_id)
        asked = json.dumps([ids, content, given and asdict(given)], default=str, sort_keys=True)
        with self.store.view() as view:
            targets = [found(view, memory_id, scope, owner) for memory_id in ids]
            command = Command(command_id, "correct", targets[0].scope.user_id, ids, asked, {})
            known = view.traces(targets[0].scope).answered(command)
            if known is not None:
                return _done(view, known)
            for memory in targets:
                if memory.state not in CORRECTABLE:
                    raise NotCurrentError(
                        f"memory {memory.id} is {memory.state} and cannot be corrected",
                        remedy="correct the version that took its place, or retract this one",
                    )
            delivered = None if given is None else _delivered(view, targets[0].scope, given)
        if given is not None and given.content is None:
            if delivered is None:
                return self._applied(self._wait(targets, given, command))
            given = replace(given, content=delivered.content)
        evidence, span = self._evidence(targets[0], content, given, delivered)
        operations = (AddEvidence(evidence), *self._replacement(targets, evidence, span))
        return self._applied(self._plan(targets[0].scope, operations, command, evidence, span))

    def fulfil(self, scope: Scope) -> int:
        """Carry out the corrections of ``scope`` whose message has come; returns how many.

        Raises:
            EmbeddingError: the embedder failed; what waits still waits.
        """
        done = 0
        with self.store.view() as view:
            ready = [one for one in waiting_corrections(view, scope) if one.reason == READY]
        for one in ready:
            try:
                self.store.apply(self._fulfilment(one))
            except (PreconditionError, ErasedSourceError):
                continue  # what it is about has just changed; it shows why it still waits, or is gone
            done += 1
        return done

    def _wait(self, targets: Sequence[MemoryRecord], source: CorrectionSource, command: Command) -> Plan:
        """Keep the quote as what a message is expected to say; whatever it corrects takes it along when it goes."""
        now = self.clock.now()
        quote = Evidence(
            id=self.ids.new("ev"),
            scope=targets[0].scope,
            origin=f"{AWAITING}{command.id}",
            speaker=Speaker.USER,
            content=source.quote,
            occurred_at=now if source.at is None else parse_time("at", source.at),
            recorded_at=now,
            session_id=source.session_id,
            message_id=source.message_id,
            preceding=source.preceding,
            metadata={CORRECTS: list(command.targets)},
        )
        operations = (AddEvidence(quote, command.targets), MarkFormed((quote.id,)))
        details = {"status": PENDING, "evidence_id": quote.id}
        return Plan(self.ids.new("plan"), quote.scope, now, operations, command=replace(command, details=details))

    def _fulfilment(self, waiting: Waiting) -> Plan:
        quote, message = waiting.quote, waiting.message
        span = None if message is None else place_of(quote.content, message.content)
        if message is None or span is None:
            raise ValueError(f"correction {quote.id} is not ready")
        ids = tuple(memory.id for memory in waiting.memories)
        command = Command(self.ids.new("cmd"), "correct", quote.scope.user_id, ids, quote.id, {"fulfils": quote.id})
        tighter = message.permissions.tightened(quote.permissions)
        permits = [] if tighter == message.permissions else [Permit(message.id, tighter, message.permissions)]
        replacement = self._replacement(waiting.memories, message, span)
        return self._plan(quote.scope, (*replacement, Withdraw(quote.id), *permits), command, message, span)

    def _plan(
        self, scope: Scope, operations: tuple[Operation, ...], command: Command, evidence: Evidence, span: Span
    ) -> Plan:
        (memory_id,) = [one.memory.id for one in operations if isinstance(one, AddMemory)]
        details = {"memory_id": memory_id, "evidence_id": evidence.id, "span": [span.start, span.end]}
        command = replace(command, details={**command.details, **details})
        return Plan(self.ids.new("plan"), scope, self.clock.now(), operations, command=command)

    def _applied(self, plan: Plan) -> Correction:
        receipt = self.store.apply(plan).receipt
        if receipt is None:
            raise RuntimeError("a command left no receipt")
        with self.store.view() as view:
            return _done(view, receipt)

    def _evidence(
        self, memory: MemoryRecord, content: str | None, source: CorrectionSource | None, delivered: Evidence | None
    ) -> tuple[Evidence, Span]:
        """The correction as evidence, and where in it the correction stands."""
        now = self.clock.now()
        text = content if source is None else source.content
        evidence = Evidence(
            id=self.ids.new("ev"),
            scope=memory.scope,
            origin=f"correction:{self.ids.new('plan')}",
            speaker=Speaker.USER,
            content=checked_text("content", text),
            occurred_at=now,
            recorded_at=now,
            session_id=memory.session_id,
        )
        if source is None:
            return evidence, Span(0, len(evidence.content))
        span = place_of(source.quote, evidence.content)
        if span is None:
            raise InputError(
                f"the quote {source.quote[:40]!r} does not stand in the message exactly once",
                remedy="quote more of the words around it",
                code="quote_not_unique",
            )
        evidence = replace(
            evidence,
            origin=message_origin(source.session_id, source.message_id),
            session_id=source.session_id,
            message_id=source.message_id,
            occurred_at=now if source.at is None else parse_time("at", source.at),
            preceding=source.preceding,
        )
        return evidence if delivered is None else _as_known(evidence, delivered), span

    def _replacement(self, targets: Sequence[MemoryRecord], evidence: Evidence, span: Span) -> tuple[Operation, ...]:
        """The new version, and the end of those that were wrong."""
        first = targets[0]
        candidate = Candidate(
            sources=(Source(evidence.id, span.start, span.end, evidence.occurred_at),),
            content=evidence.content[span.start : span.end],
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
            now=self.clock.now(),
        )
        successor = replace(successor, boundary=first.boundary)
        # The rest of a message that says more than the correction is left to be formed as ever.
        whole = span.end - span.start == len(evidence.content)
        return (
            AddMemory(successor),
            *(Retire(memory.id, memory.revision, State.RETRACTED, "correct") for memory in targets),
            *index_both(self.embedder, evidence, successor),
            *([MarkFormed((evidence.id,))] if whole else []),
        )


def _delivered(view: View, scope: Scope, source: CorrectionSource) -> Evidence | None:
    """The message as the host delivered it before, where it did."""
    origin = message_origin(source.session_id, source.message_id)
    return view.evidence_by_origin(scope, [origin]).get(origin)


def _as_known(evidence: Evidence, known: Evidence) -> Evidence:
    """``evidence`` under the id and with the time of the message that is there; the tighter permissions hold."""
    permissions = known.permissions.tightened(evidence.permissions)
    return replace(evidence, id=known.id, occurred_at=known.occurred_at, permissions=permissions)


def _source(value: CorrectionSource | Mapping[str, Any] | None, content: str | None) -> CorrectionSource | None:
    if value is None:
        return None
    try:
        source = value if isinstance(value, CorrectionSource) else CorrectionSource(**value)
    except TypeError as error:
        raise InputError(
            f"source cannot be used: {error}",
            remedy="give message_id, session_id and quote, and content, at and preceding where known",
        ) from None
    checked_id("message_id", source.message_id)
    checked_id("session_id", source.session_id)
    checked_text("quote", source.quote)
    if content is not None and content != source.quote:
        raise InputError("content and the quote of source differ", remedy="give one of them, or the same words")
    return source


def _done(view: View, receipt: Receipt) -> Correction:
    """The correction of ``receipt`` as it stands now: one that waited may be done by now."""
    details = receipt.details
    if details.get("status") != PENDING:
        return Correction(receipt, details["memory_id"], details["evidence_id"], DONE)
    key = details["evidence_id"]
    quote = view.evidence([key]).get(key)
    records = view.memories(receipt.targets).values()
    corrected = view.memories(other for record in records for other in record.links.corrected_by)
    sources = view.evidence(source.evidence_id for memory in corrected.values() for source in memory.sources)
    for memory in corrected.values():
        message = sources[memory.sources[0].evidence_id] if memory.sources else None
        if message is not None and quote is not None and _same_message(message, quote):
            return Correction(receipt, memory.id, message.id, DONE)
    return Correction(receipt, None, key, PENDING)


def _same_message(record: Evidence, other: Evidence) -> bool:
    return (record.session_id, record.message_id) == (other.session_id, other.message_id)
