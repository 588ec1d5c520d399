"""Portable bundles: export a scope, see what an import would do, and do exactly that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memwell.domain.evidence import Target
from memwell.domain.plan import AddEvidence, Bury, MarkFormed, Operation, Plan
from memwell.domain.rights import readable, sendable
from memwell.domain.scope import Scope
from memwell.engine.bundle import Bundle, pack, unpack
from memwell.engine.erasure import clean, erasing
from memwell.engine.fates import Fates, fates, linked_within
from memwell.engine.ports import Clock, Embedder, Ids, Store
from memwell.errors import BundleError, PreconditionError, StaleImportError


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What taking in a bundle would do.

    Attributes:
        hash: names exactly this; applying it is refused where the store has changed since.
        counts: by what happens: ``added``, ``known`` (there already), ``erased`` (kept out by a tombstone),
            ``forgotten`` (records of this store that a tombstone of the bundle erases), ``tombstones``, ``receipts``.
        warnings: what a reader should know, in words.
    """

    bundle: Bundle
    hash: str
    counts: Mapping[str, int]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "bundle": self.bundle.id,
            "scope": self.bundle.scope.to_dict(),
            "hash": self.hash,
            "counts": dict(self.counts),
            "warnings": list(self.warnings),
        }


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
            traces = view.traces(scope)
            evidence = {r.id: r for r in traces.evidence() if target is None or sendable(r, target)}
            memories = [m for m in traces.memories() if target is None or readable(m, evidence, target)]
            kept = {*evidence, *(memory.id for memory in memories)}
            dependencies = {
                key: tuple(other for other in others if other in kept)
                for key, others in traces.dependencies().items()
                if key in evidence
            }
            return pack(
                scope,
                evidence.values(),
                [(linked_within(memory, kept), view.transitions(memory.id)) for memory in memories],
                dependencies,
                traces.formed(),
                traces.tombstones(),
                traces.receipts(),
            )

    def plan(self, data: bytes, scope: Scope | None, owner: tuple[str, str]) -> ImportPlan:
        """What taking in the bundle of these bytes would do; nothing is changed.

        Args:
            scope: where it goes; ``None`` for the scope that it names. Another user than it names renames its subject.
            owner: application and agent that the bundle is taken into.

        Raises:
            BundleError: it cannot be read, or an id of it stands for another record here (``bundle_conflict``).
        """
        bundle = unpack(data, scope=scope)
        if (bundle.scope.app_id, bundle.scope.agent_id) != owner:
            raise BundleError(
                f"the bundle is of application {bundle.scope.app_id!r} and agent {bundle.scope.agent_id!r}",
                remedy="open the store with those, or name the user that it shall go to",
            )
        with self.store.view() as view:
            return _planned(bundle, fates(view, bundle))

    def apply(self, plan: ImportPlan) -> Imported:
        """Do what ``plan`` says, in one transaction; a second time it does nothing.

        Raises:
            StaleImportError: the store has changed since (``portable_plan_stale``).
        """
        scope = plan.bundle.scope
        with self.store.lock_scope(scope) as lock:
            with self.store.view() as view:
                epoch = view.epoch(scope)
                found = fates(view, plan.bundle)
            if found.nothing_to_do and found.erased == plan.counts["erased"]:
                return Imported(plan.counts, replayed=True)
            if _planned(plan.bundle, found).hash != plan.hash:
                raise _stale()
            operations = (*erasing(found.doomed, self.embedder), *_operations(plan.bundle, found))
            try:
                self.store.apply(
                    Plan(self.ids.new("plan"), scope, self.clock.now(), operations, expected_epoch=epoch, lock=lock)
                )
            except PreconditionError:
                raise _stale() from None
        clean(self.store, self.embedder)
        return Imported(plan.counts, replayed=False)


def _operations(bundle: Bundle, found: Fates) -> tuple[Operation, ...]:
    """Sources first, then what rests on them, then replies, which may be made from both."""
    order = sorted(found.evidence, key=lambda record: (record.recorded_at, record.id))
    adds = [AddEvidence(record, bundle.dependencies.get(record.id, ())) for record in order]
    formed = tuple(record.id for record in order if record.id in bundle.formed)
    return (
        *(add for add in adds if not add.dependencies),
        *found.memories,
        *(add for add in adds if add.dependencies),
        *([MarkFormed(formed)] if formed else []),
        *found.permits,
        *(Bury(stone) for stone in found.stones),
        *found.receipts,
    )


def _planned(bundle: Bundle, found: Fates) -> ImportPlan:
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
    ]
    warnings = []
    if found.erased:
        warnings.append(f"{found.erased} records were forgotten here and stay forgotten")
    if counts["forgotten"]:
        warnings.append(f"{counts['forgotten']} records of this store go, since they were forgotten where it is from")
    if found.permits:
        warnings.append(f"{len(found.permits)} sources get the tighter permissions of the bundle")
    digest = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    return ImportPlan(bundle, digest, counts, tuple(warnings))


def _stale() -> StaleImportError:
    return StaleImportError(
        "the store has changed since the import was planned", remedy="plan it again and apply that plan"
    )
