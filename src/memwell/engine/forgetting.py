"""Forgetting: show exactly what will go, and erase exactly that once it is confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from memwell.domain.command import Command, Receipt
from memwell.domain.evidence import EvidenceStatus
from memwell.domain.memory import State
from memwell.domain.plan import Plan
from memwell.domain.scope import Scope, checked_id
from memwell.domain.text import checked_text, terms
from memwell.engine.cascade import Selection, cascade
from memwell.engine.erasure import clean, erasing
from memwell.engine.forget_scope import Item, count_of, items_of, named, read_token, token_of
from memwell.engine.people import Naming
from memwell.engine.ports import Clock, Embedder, Ids, Store, View
from memwell.engine.progress import Progress, no_progress
from memwell.errors import (
    ErasedSourceError,
    ForgetScopeError,
    FormationInProgressError,
    InputError,
    NotFoundError,
    PreconditionError,
    StaleDecisionError,
)

MAX_TARGETS = 32
# Messages stored this long ago and still not formed are taken for left over by a failed write, not for in work.
FORMATION_TIME = timedelta(minutes=10)
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Preview:
    """What forgetting would erase.

    Attributes:
        token: confirms exactly this; a change of any of it makes the token void.
        items: every record that goes, and the memories that stay beside blacked out words.
        counts: numbers of what goes, by sort.
    """

    token: str
    items: tuple[Item, ...]
    counts: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {"token": self.token, "items": [item.to_dict() for item in self.items], "counts": dict(self.counts)}


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was erased, and whether the store's files are rid of it.

    Attributes:
        storage_cleanup: ``complete``, or ``pending`` while a reader still holds an older state; ``clean`` again later.
    """

    receipt: Receipt
    storage_cleanup: str
    replayed: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {
            "receipt": self.receipt.to_dict(),
            "storage_cleanup": self.storage_cleanup,
            "replayed": self.replayed,
        }


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The use cases of erasure.

    Attributes:
        naming: how statements name people.
    """

    store: Store
    embedder: Embedder
    clock: Clock
    ids: Ids
    naming: Naming

    def preview(self, scope: Scope, selection: Selection, *, query: str | None = None) -> Preview:
        """What would go with ``selection``; nothing is changed.

        Args:
            selection: 1 to 32 memories and sources, or a session, a person or the whole scope.
            query: adds the memories, and the sources without any, that hold all of these words.

        Raises:
            NotFoundError: an id names nothing here, or the selection nothing at all.
            ErasedSourceError: it was forgotten before.
            InputError: nothing or too much is named.
        """
        with self.store.view() as view:
            _check_count(selection, query)
            if query is not None:
                selection = _with_query(view, scope, selection, query)
            _check(view, scope, selection)
            doomed = cascade(view, scope, selection, self.naming)
        if not doomed.memories and not doomed.evidence and not doomed.blacked_out:
            raise NotFoundError("there is nothing to forget", remedy="list or search to see what is stored")
        counts = {
            **count_of([*doomed.memories.values()], [*doomed.evidence.values()]),
            "blacked_out": len(doomed.blacked_out),
        }
        return Preview(token_of(scope, selection, doomed), items_of(doomed), counts)

    def forget(
        self,
        token: str,
        command_id: str | None,
        scope: Scope | None,
        owner: tuple[str, str],
        progress: Progress = no_progress,
    ) -> Forgotten:
        """Erase what the preview of ``token`` showed: all of it in one transaction, or nothing.

        Args:
            command_id: the same id and token give the first receipt again; a new one is made where omitted.
            scope: the scope that the token must be of, or ``None`` for any of ``owner``.
            progress: told of the two steps: erasing, and cleaning the files.

        Raises:
            InputError: no token (``forget_scope_required``).
            ForgetScopeError: what the preview showed has changed, or the token is of another scope.
            FormationInProgressError: other messages of the scope are being formed.
            CommandConflictError: ``command_id`` was used for something else.
        """
        found, selection = read_token(token)
        if (found.app_id, found.agent_id) != owner or (scope is not None and scope != found):
            raise ForgetScopeError(
                "the token is of another scope", remedy="preview in this scope and pass that token unchanged"
            )
        command_id = self.ids.new("cmd") if command_id is None else checked_id("command_id", command_id)
        command = Command(command_id, "forget", found.user_id, named(selection), token, {})
        with self.store.view() as view:
            known = view.traces(found).answered(command)
        progress(0, 2, "erasing")
        receipt = self._erase(found, selection, token, command) if known is None else known
        progress(1, 2, "cleaning the files")
        forgotten = Forgotten(receipt, self._clean(), replayed=known is not None)
        progress(2, 2, "")
        return forgotten

    def clean(self) -> str:
        """Remove what erasing left in logs and indexes: ``complete``, or ``pending`` while an old reader holds it."""
        return self._clean()

    def _clean(self) -> str:
        return "complete" if clean(self.store, self.embedder) else "pending"

    def _erase(self, scope: Scope, selection: Selection, token: str, command: Command) -> Receipt:
        for _ in range(_TRIES - 1):
            try:
                return self._try(scope, selection, token, command, None)
            except PreconditionError:
                continue
        with self.store.lock_scope(scope) as lock:
            try:
                return self._try(scope, selection, token, command, lock)
            except PreconditionError as error:
                raise StaleDecisionError(
                    f"the memories of {scope.user_id} kept changing: {error.message}", remedy="repeat the call as it is"
                ) from error

    def _try(self, scope: Scope, selection: Selection, token: str, command: Command, lock: str | None) -> Receipt:
        now = self.clock.now()
        with self.store.view() as view:
            epoch = view.epoch(scope)
            doomed = cascade(view, scope, selection, self.naming)
            if token_of(scope, selection, doomed) != token:
                raise _changed(view, scope, selection)
            forming = set(view.traces(scope).forming(now - FORMATION_TIME)) - doomed.evidence.keys()
        if forming:
            raise FormationInProgressError(
                f"{len(forming)} messages of {scope.user_id} are being formed, such as {min(forming)}",
                remedy="repeat in a moment; after a failed write run `memwell doctor --repair` first",
            )
        counts = count_of([*doomed.memories.values()], [*doomed.evidence.values()])
        plan = Plan(
            id=self.ids.new("plan"),
            scope=scope,
            at=now,
            operations=erasing(doomed, self.embedder),
            expected_epoch=epoch,
            lock=lock,
            command=replace(command, details={**counts, "blacked_out": len(doomed.blacked_out)}),
        )
        receipt = self.store.apply(plan).receipt
        if receipt is None:
            raise RuntimeError("a command left no receipt")
        return receipt


def _changed(view: View, scope: Scope, selection: Selection) -> ForgetScopeError:
    """Says which receipt proves it where all that was named has been forgotten already."""
    targets = set(named(selection))
    traces = view.traces(scope)
    gone = targets and targets <= {stone.record_id for stone in traces.tombstones() if stone.spans is None}
    done = [one.receipt for one in traces.receipts() if one.receipt.operation == "forget"] if gone else []
    for receipt in sorted(done, key=lambda receipt: receipt.seq):
        if targets <= {key for ids in receipt.changed.values() for key in ids}:
            return ForgetScopeError(
                f"this was forgotten before, by command {receipt.command_id}",
                remedy="nothing is left to do; that command's receipt proves it",
            )
    return ForgetScopeError(
        "what would be forgotten is no longer what the preview showed",
        remedy="preview again, look at it, and pass the new token with a new command_id",
    )


def _with_query(view: View, scope: Scope, selection: Selection, query: str) -> Selection:
    wanted = terms(checked_text("query", query))
    traces = view.traces(scope)
    memories, evidence = traces.mentioning(wanted)
    replies = traces.replies(wanted)
    if not memories and not evidence and not replies:
        raise NotFoundError(f"nothing holds all words of {query[:40]!r}", remedy="search to see what is stored")
    cited = {source.evidence_id for memory in memories for source in memory.sources}
    sources = [record.id for record in (*evidence, *replies) if record.id not in cited]
    return replace(
        selection,
        memories=_once((*selection.memories, *(memory.id for memory in memories))),
        evidence=_once((*selection.evidence, *sources)),
    )


def _check_count(selection: Selection, query: str | None) -> None:
    wide = (selection.session, selection.person, query, selection.everything or None)
    count = len(selection.memories) + len(selection.evidence) + sum(part is not None for part in wide)
    if count == 0:
        raise InputError(
            "nothing is named that is to be forgotten",
            remedy="name memories or sources by id, a session, a person, the words of a query, or everything",
            code="forget_targets",
        )
    if count > MAX_TARGETS:
        raise InputError(
            f"{count} targets are to be forgotten",
            remedy=f"name at most {MAX_TARGETS} at a time",
            code="forget_targets",
        )


def _check(view: View, scope: Scope, selection: Selection) -> None:
    chosen = (*selection.memories, *selection.evidence)
    memories, evidence = view.memories(selection.memories), view.evidence(selection.evidence)
    for key in chosen:
        record = memories.get(key) or evidence.get(key)
        if record is None or record.scope != scope:
            raise NotFoundError(f"no memory or source {key!r} here", remedy="list or search to see the ids")
    erased = [key for key, memory in memories.items() if memory.state is State.ERASED]
    erased += [key for key, record in evidence.items() if record.status is EvidenceStatus.ERASED]
    if erased:
        raise ErasedSourceError(f"{erased[0]} was forgotten before", remedy="leave it out")


def _once(ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))
