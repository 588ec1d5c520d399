"""What happens to each record of a bundle that is taken in: added, known, or kept out because it was erased."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from memwell.domain.evidence import Evidence
from memwell.domain.memory import Links, MemoryRecord, Source, Span, State
from memwell.domain.plan import KeepReceipt, Permit, RestoreMemory, Unit
from memwell.domain.support import resting_on_rest, speaks_for_itself
from memwell.domain.tombstone import Tombstone, source_hashes, united
from memwell.engine.bundle import Bundle
from memwell.engine.cascade import Doomed, Selection, cascade
from memwell.engine.ports import View
from memwell.errors import BundleError

# Links by which what is erased takes others along; see ``cascade``.
_TAKEN_ALONG = ("supersedes", "superseded_by", "corrects", "corrected_by", "derived_from")


@dataclass(frozen=True, slots=True)
class Fates:
    """What happens to a bundle's records, and to the store's own that its tombstones name (``doomed``).

    Attributes:
        unfounded: ids of the memories to be added whose words do not stand in what they cite.
    """

    evidence: tuple[Evidence, ...]
    memories: tuple[RestoreMemory, ...]
    permits: tuple[Permit, ...]
    stones: tuple[Tombstone, ...]
    receipts: tuple[KeepReceipt, ...]
    doomed: Doomed
    known: int
    erased: int
    unfounded: tuple[str, ...] = ()

    @property
    def nothing_to_do(self) -> bool:
        ours = self.doomed
        theirs = (*self.evidence, *self.memories, *self.permits, *self.stones, *self.receipts)
        return not theirs and not (ours.memories or ours.evidence or ours.blacked_out or ours.supported)


def fates(view: View, bundle: Bundle) -> Fates:
    """Compare ``bundle`` with what the store has.

    Raises:
        BundleError: an id of it stands for another record here (``bundle_conflict``), or a memory of it cites what is
            not in it.
    """
    return _Comparison(view, bundle).result()


class _Comparison:
    def __init__(self, view: View, bundle: Bundle) -> None:
        self._view = view
        self._bundle = bundle
        traces = view.traces(bundle.scope)
        self._stones = {stone.record_id: stone for stone in traces.tombstones()}
        self._theirs = {stone.record_id: stone for stone in bundle.tombstones}
        self._keys = {stone.hash_key for stone in self._stones.values() if stone.hash_key is not None}
        self._hashes = {h for s in self._stones.values() for h in (s.origin_hash, s.replay_hash) if h is not None}
        self._local = view.evidence(record.id for record in bundle.evidence)
        self._told = view.evidence_by_origin(bundle.scope, (record.origin for record in bundle.evidence))
        self._records = {**{record.id: record for record in bundle.evidence}, **self._local}
        self._kept_out: set[str] = set()
        self._known = 0

    def result(self) -> Fates:
        self._keep_out()
        permits = []
        evidence = []
        for record in self._bundle.evidence:
            ours = self._local.get(record.id)
            if record.id in self._kept_out:
                continue
            if ours is None:
                self._check_told(record)
                evidence.append(record)
            else:
                permits += self._compared(record, ours)
        memories = self._new_memories()
        stones = tuple(stone for stone in self._bundle.tombstones if self._adds(stone))
        return Fates(
            evidence=tuple(evidence),
            memories=memories,
            permits=tuple(permits),
            stones=stones,
            receipts=self._new_receipts(),
            doomed=self._doomed(),
            known=self._known,
            erased=len(self._kept_out),
            unfounded=tuple(one.memory.id for one in memories if not speaks_for_itself(one.memory, self._records)),
        )

    def _keep_out(self) -> None:
        """What was erased here stays out, with all that forgetting it would have taken along."""
        self._kept_out = {record.id for record in self._bundle.evidence if self._erased(record)}
        self._kept_out.update(memory.id for memory, _ in self._bundle.memories if memory.id in self._stones)
        while more := self._goes_along():
            self._kept_out |= more

    def _goes_along(self) -> set[str]:
        """One step on: versions of one chain, what rests on erased words or was made from them, and their sources."""
        found = set()
        cited_by: dict[str, set[bool]] = {}
        for memory, _ in self._bundle.memories:
            out = memory.id in self._kept_out
            if not out and self._goes(memory):
                found.add(memory.id)
            for source in memory.sources:
                cited_by.setdefault(source.evidence_id, set()).add(out)
        for record in self._bundle.evidence:
            made_of = self._bundle.dependencies.get(record.id, ())
            only_for_them = cited_by.get(record.id) == {True} and record.id not in self._local
            if only_for_them or any(map(self._gone, made_of)):
                found.add(record.id)
        return found - self._kept_out

    def _erased(self, record: Evidence) -> bool:
        if record.id in self._stones:
            return True
        return any(set(source_hashes(record, key)) & self._hashes for key in self._keys)

    def _check_told(self, record: Evidence) -> None:
        """What this store was told itself under that origin must be the same."""
        told = self._told.get(record.origin, record)
        if (told.content, told.speaker) != (record.content, record.speaker):
            raise _conflict(record.id)

    def _compared(self, record: Evidence, ours: Evidence) -> list[Permit]:
        """A source that is here too; the tighter permissions of both hold, and the words must be the same."""
        self._known += 1
        both = ours.permissions.tightened(record.permissions)
        theirs = replace(record, permissions=ours.permissions, permitted_at=ours.permitted_at, status=ours.status)
        if theirs != ours and record.id not in self._theirs:
            raise _conflict(record.id)
        return [] if both == ours.permissions else [Permit(ours.id, both, ours.permissions)]

    def _new_memories(self) -> tuple[RestoreMemory, ...]:
        local = self._view.memories(memory.id for memory, _ in self._bundle.memories)
        fresh = []
        for memory, steps in self._bundle.memories:
            ours = local.get(memory.id)
            if memory.id in self._kept_out:
                continue
            if ours is None:
                fresh.append((memory, steps))
            elif self._differ(self._alive_links(ours), memory) and memory.id not in self._theirs:
                raise _conflict(memory.id)
            else:
                self._known += 1
        fresh = [(self._left(memory, self._lost_here) or memory, steps) for memory, steps in fresh]
        for memory, _ in fresh:
            self._check_quotes(memory)
        there = {*local, *(memory.id for memory, _ in fresh)} - self._kept_out
        return tuple(RestoreMemory(linked_within(memory, there), steps) for memory, steps in fresh)

    def _check_quotes(self, memory: MemoryRecord) -> None:
        for source in memory.sources:
            record = self._records.get(source.evidence_id)
            if record is None or not record.speaker.supports_memories or source.end > len(record.content):
                raise BundleError(
                    f"memory {memory.id} cites characters {source.start} to {source.end} of {source.evidence_id},"
                    " which are not in the bundle",
                    remedy="export it again; nothing was taken in",
                )

    def _goes(self, memory: MemoryRecord) -> bool:
        """Whether its words, what it was derived from, or another version of it were erased here."""
        if self._left(memory, self._lost_here) is None:
            return True
        return any(self._gone(key) for name in _TAKEN_ALONG for key in getattr(memory.links, name))

    def _lost_here(self, source: Source) -> bool:
        stone = self._stones.get(source.evidence_id)
        return source.evidence_id in self._kept_out if stone is None else _covers(stone, source)

    def _lost_there(self, source: Source) -> bool:
        stone = self._theirs.get(source.evidence_id)
        return stone is not None and _covers(stone, source)

    def _left(self, memory: MemoryRecord, lost: Callable[[Source], bool]) -> MemoryRecord | None:
        """``memory`` in the words that are not lost; ``None`` where none of them says it."""
        if not any(map(lost, memory.sources)):
            return memory
        return resting_on_rest(memory, lost, self._records)

    def _differ(self, ours: MemoryRecord, theirs: MemoryRecord) -> bool:
        """Whether they are two records, and not one that has lost sources on one side and loses them now here."""
        ours_left, theirs_left = self._left(ours, self._lost_there), self._left(theirs, self._lost_here)
        if ours_left is ours and theirs_left is theirs:
            return ours != theirs
        if ours_left is None or theirs_left is None:
            return True
        return replace(ours_left, revision=0) != replace(theirs_left, revision=0)

    def _gone(self, key: str) -> bool:
        """Whether nothing of that record is left here; of a blacked out source something is."""
        stone = self._stones.get(key)
        return key in self._kept_out if stone is None else stone.spans is None

    def _alive_links(self, memory: MemoryRecord) -> MemoryRecord:
        linked = self._view.memories(i for name in Links.__slots__ for i in getattr(memory.links, name))
        return linked_within(memory, {key for key, other in linked.items() if other.state is not State.ERASED})

    def _adds(self, stone: Tombstone) -> bool:
        ours = self._stones.get(stone.record_id)
        return ours is None or ours.merged(stone) != ours

    def _new_receipts(self) -> tuple[KeepReceipt, ...]:
        traces = self._view.traces(self._bundle.scope)
        fresh = []
        for kept in self._bundle.receipts:
            ours = traces.receipt(kept.receipt.command_id)
            if ours is None:
                fresh.append(kept)
            elif ours != kept.receipt:
                raise _conflict(kept.receipt.command_id)
            else:
                self._known += 1
        return tuple(fresh)

    def _doomed(self) -> Doomed:
        """The store's own records that go because the bundle's tombstones name them."""
        stones = [stone for stone in self._bundle.tombstones if self._adds(stone)]
        memories = self._view.memories(s.record_id for s in stones if s.unit is Unit.MEMORY)
        whole = self._view.evidence(s.record_id for s in stones if s.unit is Unit.EVIDENCE and s.spans is None)
        partly = self._view.evidence(s.record_id for s in stones if s.unit is Unit.EVIDENCE and s.spans is not None)
        ids = {key for key, memory in memories.items() if memory.state is not State.ERASED}
        for stone in stones:
            if stone.record_id in partly:
                ids.update(_resting_on(self._view.traces(self._bundle.scope).citing([stone.record_id]), stone))
        alive = tuple(key for key in whole if key not in self._stones)
        if not ids and not alive and not partly:
            return Doomed()
        doomed = cascade(self._view, self._bundle.scope, Selection(tuple(sorted(ids)), tuple(sorted(alive))))
        for stone in stones:
            if stone.record_id in partly and stone.record_id not in doomed.evidence:
                record = partly[stone.record_id]
                _, spans, preceding = doomed.blacked_out.get(record.id, (record, (), False))
                doomed.blacked_out[record.id] = (record, united((*spans, *(stone.spans or ()))), preceding)
        return doomed


def _covers(stone: Tombstone, source: Source) -> bool:
    span = Span(source.start, source.end)
    return stone.spans is None or any(span.overlaps(other) for other in stone.spans)


def linked_within(memory: MemoryRecord, ids: Iterable[str]) -> MemoryRecord:
    """``memory`` without links to any record outside ``ids``."""
    kept = set(ids)
    links = {name: tuple(key for key in getattr(memory.links, name) if key in kept) for name in Links.__slots__}
    return replace(memory, links=Links(**links))


def _resting_on(memories: Iterable[MemoryRecord], stone: Tombstone) -> Iterable[str]:
    for memory in memories:
        if any(source.evidence_id == stone.record_id and _covers(stone, source) for source in memory.sources):
            yield memory.id


def _conflict(key: str) -> BundleError:
    return BundleError(
        f"{key} stands for another record in this store than in the bundle",
        remedy="take the bundle into a new store, or export again from the store that is ahead",
        code="bundle_conflict",
    )
