"""Portable bundles: export a scope, see what an import would do, and do exactly that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from memwell.domain.evidence import Target
from memwell.domain.plan import AddEvidence, Bury, MarkFormed, Operation, Plan, RestoreMemory
from memwell.domain.rights import readable, sendable
from memwell.domain.scope import Scope
from memwell.engine.bundle import Bundle, Contents, pack, pack_store, unpack
from memwell.engine.erasure import clean, erasing
from memwell.engine.fates import Fates, fates, linked_within
from memwell.engine.ports import Clock, Embedder, Ids, Store, View
from memwell.engine.progress import Progress, no_progress
from memwell.errors import BundleError, PreconditionError, StaleImportError

_NAME_CHARS = 16
COUNTS = ("added", "known", "erased", "forgotten", "tombstones", "receipts")


@dataclass(frozen=True, slots=True)
class ScopePlan:
    """What taking in a bundle would do to one scope; see ``ImportPlan``."""

    bundle: Bundle
    hash: str
    counts: Mapping[str, int]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What taking in a bundle would do.

    Attributes:
        scopes: scope by scope.
        notes: what a reader should know beside what the plan does.
    """

    scopes: tuple[ScopePlan, ...]
    notes: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """Names exactly this; applying it is refused where the store has changed since."""
        return f"{self._what}.{_digest(part.hash for part in self.scopes)}"

    @property
    def _what(self) -> str:
        """Names what is taken in, and for whom, whatever the store has of it already."""
        return _digest(f"{part.bundle.id} {part.bundle.scope.to_dict()}" for part in self.scopes)[:_NAME_CHARS]

    @property
    def counts(self) -> Mapping[str, int]:
        """Numbers by what happens.

        ``added``, ``known`` (there already), ``erased`` (kept out by a tombstone), ``forgotten`` (records of this store
        that a tombstone of the bundle erases), ``tombstones``, ``receipts``.
        """
        return {name: sum(part.counts[name] for part in self.scopes) for name in COUNTS}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know, in words."""
        return (*self.notes, *(warning for part in self.scopes for warning in part.warnings))

    def check_confirmed(self, confirmed: str) -> None:
        """Refuse to be done where another plan was confirmed; one that does nothing was done, and its answer got lost.

        A hash names the bundle too, so that of another bundle confirms nothing.

        Args:
            confirmed: hash of a plan that was shown.

        Raises:
            StaleImportError: it is the hash of another plan.
        """
        changes = any(self.counts[what] for what in ("added", "forgotten", "tombstones", "receipts"))
        same = confirmed.startswith(f"{self._what}.")
        if confirmed != self.hash and (changes or not same or any(part.warnings for part in self.scopes)):
            raise StaleImportError("that is the hash of another plan", remedy="look at the plan and give its hash")

    def to_dict(self) -> dict[str, Any]:
        parts = [{"bundle": part.bundle.id, "scope": part.bundle.scope.to_dict()} for part in self.scopes]
        return {"scopes": parts, "hash": self.hash, "counts": dict(self.counts), "warnings": list(self.warnings)}


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did; ``replayed``: it had been done before."""

    counts: Mapping[str, int]
    replayed: bool

    def to_dict(self) -> dict[str, Any]:
        return {"counts": dict(self.counts), "replayed": self.replayed}


@dataclass(frozen=True, slots=True)
class Portable:
    """The use cases."""

    store: Store
    embedder: Embedder
    clock: Clock
    ids: Ids

    def export(self, scope: Scope, target: Target | None = None) -> bytes:
        """The bundle of all that is kept of ``scope``; the same content gives the same bytes.

        Args:
            target: leave out what may not be read there; ``None``: everything, for a backup or its owner.
        """
        with self.store.view() as view:
            return pack(_contents(view, scope, target))

    def export_store(self, target: Target | None = None, progress: Progress = no_progress) -> bytes:
        """The bundle of every scope of the store, of one snapshot; the same content gives the same bytes."""

        def contents(view: View, scopes: Sequence[Scope]) -> Iterator[Contents]:
            for number, scope in enumerate(scopes):
                progress(number, len(scopes), scope.user_id)
                yield _contents(view, scope, target)

        scopes = self.store.scopes()
        with self.store.view() as view:
            return pack_store(contents(view, scopes))

    def plan(self, data: bytes, scope: Scope | None, owner: tuple[str, str]) -> ImportPlan:
        """What taking in the bundle of these bytes would do; nothing is changed.

        Args:
            scope: where it goes; ``None`` for where it was. Another user than it names renames its subject.
            owner: application and agent that the bundle of one scope is taken into.

        Raises:
            BundleError: it cannot be read, or an id of it stands for another record here (``bundle_conflict``).
        """
        bundles = unpack(data, scope=scope)
        if len(bundles) == 1 and (bundles[0].scope.app_id, bundles[0].scope.agent_id) != owner:
            named = bundles[0].scope
            raise BundleError(
                f"the bundle is of application {named.app_id!r} and agent {named.agent_id!r}",
                remedy="open the store with those, or name the user that it shall go to",
            )
        with self.store.view() as view:
            return ImportPlan(tuple(_planned(bundle, fates(view, bundle)) for bundle in bundles))

    def apply(self, plan: ImportPlan, progress: Progress = no_progress) -> Imported:
        """Do what ``plan`` says, each scope in one transaction; a second time it does nothing.

        Raises:
            StaleImportError: the store has changed since (``portable_plan_stale``); where it had before the first
                scope, nothing was done.
        """
        if len(plan.scopes) > 1:
            with self.store.view() as view:
                if any(_moved(part, fates(view, part.bundle)) for part in plan.scopes):
                    raise _stale()
        replayed = True
        for number, part in enumerate(plan.scopes):
            progress(number, len(plan.scopes), part.bundle.scope.user_id)
            replayed = self._take_in(part) and replayed
        if not replayed:
            clean(self.store, self.embedder)
        return Imported(plan.counts, replayed)

    def _take_in(self, part: ScopePlan) -> bool:
        """Take in one scope; whether it had been done before."""
        scope = part.bundle.scope
        with self.store.lock_scope(scope) as lock:
            with self.store.view() as view:
                epoch = view.epoch(scope)
                found = fates(view, part.bundle)
            if _moved(part, found):
                raise _stale()
            if found.nothing_to_do:
                return True
            operations = (*erasing(found.doomed, self.embedder), *_operations(part.bundle, found))
            try:
                self.store.apply(
                    Plan(self.ids.new("plan"), scope, self.clock.now(), operations, expected_epoch=epoch, lock=lock)
                )
            except PreconditionError:
                raise _stale() from None
        return False


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _moved(part: ScopePlan, found: Fates) -> bool:
    """Whether the store is neither as it was when ``part`` was planned nor as ``part`` leaves it."""
    done = found.nothing_to_do and found.erased == part.counts["erased"]
    return not done and _planned(part.bundle, found).hash != part.hash


def _contents(view: View, scope: Scope, target: Target | None) -> Contents:
    traces = view.traces(scope)
    evidence = {r.id: r for r in traces.evidence() if target is None or sendable(r, target)}
    memories = [m for m in traces.memories() if target is None or readable(m, evidence, target)]
    kept = {*evidence, *(memory.id for memory in memories)}
    return Contents(
        scope=scope,
        evidence=tuple(evidence.values()),
        memories=tuple((linked_within(memory, kept), view.transitions(memory.id)) for memory in memories),
        dependencies={
            key: tuple(other for other in others if other in kept)
            for key, others in traces.dependencies().items()
            if key in evidence
        },
        formed=traces.formed(),
        tombstones=tuple(traces.tombstones()),
        receipts=tuple(traces.receipts()),
    )


def _operations(bundle: Bundle, found: Fates) -> tuple[Operation, ...]:
    """Each record after what it rests on or was made from."""
    order = sorted(found.evidence, key=lambda record: (record.recorded_at, record.id))
    adds: dict[str, AddEvidence | RestoreMemory] = {}
    needs: dict[str, tuple[str, ...]] = {}
    for record in order:
        needs[record.id] = bundle.dependencies.get(record.id, ())
        adds[record.id] = AddEvidence(record, needs[record.id])
    for restore in found.memories:
        adds[restore.memory.id] = restore
        needs[restore.memory.id] = tuple(source.evidence_id for source in restore.memory.sources)
    formed = tuple(record.id for record in order if record.id in bundle.formed)
    return (
        *(adds[key] for key in _sorted(needs) if key in adds),
        *([MarkFormed(formed)] if formed else []),
        *found.permits,
        *(Bury(stone) for stone in found.stones),
        *found.receipts,
    )


def _sorted(needs: Mapping[str, tuple[str, ...]]) -> list[str]:
    try:
        return [*TopologicalSorter(needs).static_order()]
    except CycleError as error:
        raise BundleError(
            f"the bundle says that {' and '.join(error.args[1][:2])} are made from each other",
            remedy="export it again; nothing was taken in",
        ) from None


def _planned(bundle: Bundle, found: Fates) -> ScopePlan:
    doomed = found.doomed
    counts = {
        "added": len(found.evidence) + len(found.memories),
        "known": found.known,
        "erased": found.erased,
        "forgotten": len(doomed.memories) + len(doomed.evidence) + len(doomed.blacked_out),
        "tombstones": len(found.stones),
        "receipts": len(found.receipts),
    }
    facts = [
        bundle.id,
        bundle.scope.to_dict(),
        counts,
        sorted(record.id for record in found.evidence),
        sorted(restore.memory.id for restore in found.memories),
        sorted(permit.evidence_id for permit in found.permits),
        sorted(stone.record_id for stone in found.stones),
        sorted(kept.receipt.command_id for kept in found.receipts),
        sorted([memory.id, memory.revision] for memory in doomed.memories.values()),
        sorted([*doomed.evidence, *doomed.blacked_out]),
        sorted([one.before.id, one.before.revision, *one.evidence] for one in doomed.supported.values()),
    ]
    warnings = []
    if found.erased:
        warnings.append(f"{found.erased} records were forgotten here and stay forgotten")
    if counts["forgotten"]:
        warnings.append(f"{counts['forgotten']} records of this store go, since they were forgotten where it is from")
    if doomed.supported:
        warnings.append(f"{len(doomed.supported)} memories of this store go on in the words of other messages")
    if found.unfounded:
        some = f"{len(found.unfounded)} memories say what the messages they cite do not, such as {found.unfounded[0]}"
        warnings.append(f"{some}; this program writes no such bundles")
    if found.permits:
        warnings.append(f"{len(found.permits)} sources get the tighter permissions of the bundle")
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    return ScopePlan(bundle, digest, counts, tuple(warnings))


def _stale() -> StaleImportError:
    return StaleImportError(
        "the store has changed since the import was planned", remedy="plan it again and apply that plan"
    )
