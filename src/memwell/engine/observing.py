"""Observations: material that a host keeps current by version, such as a setting. No model reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memwell.domain.command import Command, Receipt
from memwell.domain.decision import Action, Candidate
from memwell.domain.evidence import (
    SOURCE_KEY,
    VERSION,
    Evidence,
    Permissions,
    Speaker,
    default_permissions,
    observed_prefix,
)
from memwell.domain.memory import FormedBy, Kind, MemoryRecord, Source
from memwell.domain.plan import AddEvidence, AddMemory, MarkFormed, Operation, Plan
from memwell.domain.scope import Scope, checked_id
from memwell.domain.text import checked_text
from memwell.domain.validity import Validity, parse_time
from memwell.engine.cascade import Selection, cascade
from memwell.engine.erasure import clean, erasing
from memwell.engine.indexing import index_both
from memwell.engine.ports import Clock, Embedder, Ids, Store
from memwell.engine.versions import new_version
from memwell.errors import EvidenceConflictError, InputError, StaleObservationError

MAX_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Observed:
    """What an observation became; ``receipt`` is ``None`` where this version was known already.

    Attributes:
        memory_id: the state that was formed from it; ``None`` where that was known already.
    """

    evidence_id: str
    receipt: Receipt | None
    memory_id: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "evidence_id": self.evidence_id,
            "receipt": self.receipt and self.receipt.to_dict(),
            "memory_id": self.memory_id,
        }


@dataclass(frozen=True, slots=True)
class Observing:
    """The use case."""

    store: Store
    embedder: Embedder
    clock: Clock
    ids: Ids

    def observe(
        self,
        scope: Scope,
        source_key: str,
        content: str,
        *,
        version: int,
        valid_from: str | datetime | None = None,
        valid_until: str | datetime | None = None,
        permissions: Permissions | None = None,
        session_id: str = "default",
        command_id: str | None = None,
    ) -> Observed:
        """Keep ``content`` as what ``source_key`` is at ``version``; it becomes a state, word for word.

        A newer version erases the one before with all that it led to.

        Raises:
            StaleObservationError: a newer version is known, or was withdrawn (``stale_observed_version``).
            EvidenceConflictError: this version is known with other content.
        """
        checked_id("source_key", source_key)
        checked_text("content", content, max_bytes=MAX_BYTES)
        if isinstance(version, bool) or not isinstance(version, int) or version < 0:
            raise InputError(f"version is {version!r}", remedy="give a whole number that grows, 0 or more")
        now = self.clock.now()
        held = Validity(
            now if valid_from is None else parse_time("valid_from", valid_from),
            None if valid_until is None else parse_time("valid_until", valid_until),
        )
        evidence = Evidence(
            id=self.ids.new("ev"),
            scope=scope,
            origin=f"{observed_prefix(source_key)}{version:020d}",
            speaker=Speaker.OBSERVED,
            content=content,
            occurred_at=now,
            recorded_at=now,
            session_id=checked_id("session_id", session_id),
            permissions=permissions or default_permissions(Speaker.OBSERVED),
            valid_from=held.start,
            valid_until=held.end,
            metadata={SOURCE_KEY: source_key, VERSION: version},
        )
        with self.store.lock_scope(scope) as lock:
            known = self._known(evidence)
            if known is not None and known.metadata[VERSION] == version:
                return Observed(known.id, None)
            asked = json.dumps([source_key, version, content])
            command_id = self.ids.new("cmd") if command_id is None else checked_id("command_id", command_id)
            command = Command(command_id, "observe", scope.user_id, (evidence.id,), asked, {VERSION: version})
            state = self._state(evidence)
            operations = (*self._removal(known), *self._addition(evidence, state))
            plan = Plan(self.ids.new("plan"), scope, now, operations, lock=lock, command=command)
            receipt = self.store.apply(plan).receipt
        if known is not None:
            clean(self.store, self.embedder)
        return Observed(evidence.id, receipt, state.id)

    def _known(self, evidence: Evidence) -> Evidence | None:
        """The newest version that is stored, if ``evidence`` may follow it or is the same."""
        key = evidence.metadata[SOURCE_KEY]
        with self.store.view() as view:
            found = view.traces(evidence.scope).originating(observed_prefix(key))
        found = [record for record in found if record.metadata.get(SOURCE_KEY) == key]
        if not found:
            return None
        newest = max(found, key=lambda record: int(record.metadata[VERSION]))
        theirs, ours = newest.metadata[VERSION], evidence.metadata[VERSION]
        if ours < theirs:
            raise StaleObservationError(
                f"version {ours} of {evidence.metadata[SOURCE_KEY]!r} is older than version {theirs}, which is known",
                remedy="send the newest version only",
            )
        if ours == theirs and newest.content != evidence.content:
            raise EvidenceConflictError(
                f"version {ours} of {evidence.metadata[SOURCE_KEY]!r} was stored before with other content",
                remedy="give changed content a higher version",
            )
        return newest

    def _removal(self, known: Evidence | None) -> tuple[Operation, ...]:
        if known is None:
            return ()
        with self.store.view() as view:
            return erasing(cascade(view, known.scope, Selection(evidence=(known.id,))), self.embedder)

    def _state(self, evidence: Evidence) -> MemoryRecord:
        return new_version(
            memory_id=self.ids.new("mem"),
            scope=evidence.scope,
            candidate=_candidate(evidence),
            action=Action.SUPPLEMENT,
            targets=[],
            confidence=1.0,
            reason="observed",
            makers=("observed", "observed"),
            now=evidence.recorded_at,
        )

    def _addition(self, evidence: Evidence, state: MemoryRecord) -> tuple[Operation, ...]:
        return (
            AddEvidence(evidence),
            AddMemory(state),
            *index_both(self.embedder, evidence, state),
            MarkFormed((evidence.id,)),
        )


def _candidate(evidence: Evidence) -> Candidate:
    return Candidate(
        sources=(Source(evidence.id, 0, len(evidence.content), evidence.occurred_at),),
        content=evidence.content,
        kind=Kind.STATE,
        said_at=evidence.occurred_at,
        formed_by=FormedBy.OBSERVED,
        valid_from=evidence.valid_from,
        valid_until=evidence.valid_until,
        session_id=evidence.session_id,
    )


def permissions_from(given: Mapping[str, bool] | None) -> Permissions | None:
    """Rights of an observation; those not given are as is usual.

    Raises:
        InputError: a right is unknown or neither true nor false.
    """
    if given is None:
        return None
    usual = default_permissions(Speaker.OBSERVED)
    if not all(name in usual.to_dict() and isinstance(value, bool) for name, value in given.items()):
        raise InputError(f"permissions are {dict(given)!r}", remedy="give local, cloud and infer, each True or False")
    return replace(usual, **given)
