"""In-process caches of what ranking needs, one per scope and unit, kept in step with the file.

A view sees the file as of its own change counter. A cache behind it reads on; a cache ahead of it leaves out every
row that changed later and takes those rows, as the view sees them, from a small index of their own. So the cost of a
read after a write grows with what was written, and no view is shown what it should not know yet.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from memwell.domain.evidence import Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Kind
from memwell.domain.plan import Unit
from memwell.engine.ports import Matrix
from memwell.storage.sqlite.columns import Columns, Mask, Numbers
from memwell.storage.sqlite.seen import Places, Seen, records_at, seen, visible_places
from memwell.storage.sqlite.windows import Windows
from memwell.storage.values import to_micros

CACHE_BYTES = 512 * 1024 * 1024
# Lenses whose view of an index is kept: a question looks through one for turns and one for each group of memories.
_LENSES = 4


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model as the file knows it."""

    no: int
    dimensions: int


@dataclass(frozen=True, slots=True)
class _Look:
    """What a lens saw of a whole index, the same for every ``now`` from ``began`` until ``ends``, in microseconds."""

    began: int
    ends: int
    places: Places
    seen: Seen


class ScopeIndex:
    """Columns and vectors of one scope's records of one unit, as of the change counter ``changes``."""

    def __init__(self, scope: int, unit: Unit) -> None:
        self.scope = scope
        self.changes = 0
        self.columns = Columns(unit)
        self._windows: Windows | None = None
        self._looks: OrderedDict[tuple[Target, bool, frozenset[Kind] | None, bool], _Look] = OrderedDict()

    @property
    def bytes(self) -> int:
        looks = sum(look.seen.bytes for look in self._looks.values())
        return self.columns.bytes + (self._windows.bytes if self._windows else 0) + looks

    def has_vectors_of(self, model: Model | None) -> bool:
        return model is None or (self._windows is not None and self._windows.model == model.no)

    def read_on(self, connection: sqlite3.Connection, changes: int, model: Model | None) -> None:
        """Catch up with the connection's snapshot, at ``changes``; ``model`` if its vectors will be asked for."""
        before = self.changes
        if changes > before:
            self._looks.clear()
            self.columns.read_on(connection, self.scope, before)
            self.changes = changes
        if not self.has_vectors_of(model) or (self._windows is not None and self._windows.mostly_gone):
            self._windows = Windows(model.no, model.dimensions) if model is not None else None
            before = 0
        if self._windows is not None and changes > before:
            self._windows.read_on(connection, self.columns, self.scope, before)

    def earlier(self, connection: sqlite3.Connection, numbers: Numbers, model: Model | None) -> ScopeIndex:
        """A small index of the records of these numbers, as the connection's snapshot has them."""
        index = ScopeIndex(self.scope, self.columns.unit)
        index.columns.read_listed(connection, numbers)
        if model is not None:
            index._windows = Windows(model.no, model.dimensions)
            index._windows.read_listed(connection, index.columns, numbers)
        return index

    def visible(self, connection: sqlite3.Connection, lens: Lens) -> Mask:
        known = None
        if lens.known_at is not None and self.columns.unit is Unit.MEMORY:
            known = self.columns.known_at(connection, self.scope, to_micros(lens.known_at))
        return self.columns.visible(lens, known)

    def seen(self, connection: sqlite3.Connection, lens: Lens) -> tuple[Places, Seen]:
        """What ``lens`` sees of the whole index, and the rows it is in."""
        if lens.as_of is not None or lens.known_at is not None:
            return self._see(connection, lens)
        key = (lens.target, lens.include_past, lens.kinds, lens.include_muted)
        look = self._looks.get(key)
        now = to_micros(lens.now)
        if look is None or not look.began <= now < look.ends:
            look = self._looks[key] = _Look(*self.columns.unchanged_around(now), *self._see(connection, lens))
        self._looks.move_to_end(key)
        while len(self._looks) > _LENSES:
            self._looks.popitem(last=False)
        return look.places, look.seen

    def _see(self, connection: sqlite3.Connection, lens: Lens) -> tuple[Places, Seen]:
        visible = self.visible(connection, replace(lens, kinds=None))
        places = visible_places(self.columns, visible, lens.kinds)
        names = self.columns.session_names
        records = records_at(self.columns, places, ~visible, np.arange(len(names)))
        return places, seen(self.columns.unit, records, names)

    def similarity(self, vector: Matrix | None) -> Matrix:
        """Cosine of each record's best window; ``-inf`` for records without one."""
        if vector is None or self._windows is None:
            return np.full(len(self.columns), -np.inf, np.float32)
        return self._windows.best(vector, len(self.columns))


@dataclass(frozen=True, slots=True)
class Part:
    """An index and which of its rows a view may use at all; all where ``usable`` is ``None``."""

    index: ScopeIndex
    usable: Mask | None = None

    def visible(self, connection: sqlite3.Connection, lens: Lens) -> Mask:
        visible = self.index.visible(connection, lens)
        return visible if self.usable is None else visible & self.usable

    def hidden(self, visible: Mask) -> Mask:
        """Usable rows that are not ``visible``."""
        return ~visible if self.usable is None else self.usable & ~visible


class _Slot:
    """An index, the lock for using it, and its size when it was last used, guarded by the cache's lock."""

    def __init__(self, index: ScopeIndex) -> None:
        self.lock = Lock()
        self.index = index
        self.bytes = 0


class IndexCache:
    """The most recently used scope indexes within a budget.

    Args:
        budget: bytes; a single scope larger than that is still kept, alone.
    """

    def __init__(self, budget: int = CACHE_BYTES) -> None:
        self._budget = budget
        self._guard = Lock()
        self._slots: OrderedDict[tuple[int, Unit], _Slot] = OrderedDict()
        self._bytes = 0

    @contextmanager
    def parts(
        self, connection: sqlite3.Connection, scope: int, unit: Unit, changes: int, model: Model | None
    ) -> Iterator[list[Part]]:
        """The scope's records as of ``changes``, which is what ``connection``'s transaction sees.

        The indexes may be used inside the ``with`` block only: another thread's view changes them afterwards.
        """
        slot = self._slot(scope, unit)
        with slot.lock:
            if slot.index.changes <= changes:
                slot.index.read_on(connection, changes, model)
            yield _parts(connection, slot.index, changes, model)
            size = slot.index.bytes
        self._trim(slot, size)

    def clear(self) -> None:
        """Forget everything; for when the file was rebuilt."""
        with self._guard:
            self._slots.clear()
            self._bytes = 0

    def _slot(self, scope: int, unit: Unit) -> _Slot:
        with self._guard:
            slot = self._slots.get((scope, unit))
            if slot is None:
                slot = self._slots[scope, unit] = _Slot(ScopeIndex(scope, unit))
            self._slots.move_to_end((scope, unit))
            return slot

    def _trim(self, used: _Slot, size: int) -> None:
        """Note the size of the index just used, and forget those used longest ago until all are within the budget."""
        with self._guard:
            if self._slots.get((used.index.scope, used.index.columns.unit)) is used:
                self._bytes += size - used.bytes
                used.bytes = size
            while self._bytes > self._budget and len(self._slots) > 1:
                _, slot = self._slots.popitem(last=False)
                self._bytes -= slot.bytes


def _parts(connection: sqlite3.Connection, index: ScopeIndex, changes: int, model: Model | None) -> list[Part]:
    if index.changes == changes:
        return [Part(index)]
    if not index.has_vectors_of(model):
        own = ScopeIndex(index.scope, index.columns.unit)
        own.read_on(connection, changes, model)
        return [Part(own)]
    usable = index.columns.changed <= changes
    earlier = index.earlier(connection, index.columns.no[~usable], model)
    return [Part(index, usable), Part(earlier)]
