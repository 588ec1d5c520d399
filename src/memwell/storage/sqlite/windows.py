"""The vectors of a scope's records as one matrix, several windows per record."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from memwell.domain.plan import Unit
from memwell.engine.machine import cores
from memwell.engine.ports import Matrix
from memwell.storage.sqlite.columns import Columns, Numbers
from memwell.storage.sqlite.grown import BLOCK, Grown

Blob = bytes
_GONE = -1
_CHUNK = 512  # rows read at a time: what they hold stays in the processor's cache
# OpenBLAS shares products of more values than this among threads; one that must wait for a busy core costs more time
# than sharing saves.
_BATCH_VALUES = 8192
# What no cache holds is read faster by several cores; less is read before their threads have begun.
_SHARE_VALUES = 4_000_000
_MOST_SHARES = 4

_MEMORIES = "SELECT v.record, v.data FROM memories r JOIN memory_vectors v ON v.record = r.no "
_EVIDENCE = "SELECT v.record, v.data FROM evidence r JOIN evidence_vectors v ON v.record = r.no "
# In the order of the index, so that nothing has to be sorted: that of the numbers, but for what changed later.
_BASE = {Unit.MEMORY: _MEMORIES, Unit.EVIDENCE: _EVIDENCE}
_CHANGED = "WHERE r.scope = ? AND r.changed > ? AND v.model = ? ORDER BY r.changed, r.no"
_LISTED = "WHERE r.no IN (SELECT value FROM json_each(?)) AND v.model = ? ORDER BY r.no"


class Windows:
    """Vectors of one model.

    Attributes:
        model: the model's row number.
    """

    def __init__(self, model: int, dimensions: int) -> None:
        self.model = model
        self._matrix = Grown(np.float32, dimensions)
        self._owner = Grown(np.int64)  # row of the record, or _GONE
        self._gone = 0
        self._one_each: bool | None = None  # whether window and row have the same number; None: to be found out
        self._last: tuple[Matrix, Matrix] | None = None  # the last vector asked for, and the answer

    @property
    def bytes(self) -> int:
        return self._matrix.bytes + self._owner.bytes

    @property
    def mostly_gone(self) -> bool:
        """Whether so many vectors were replaced that reading anew is better."""
        return self._gone > len(self._owner) // 2

    def read_on(self, connection: sqlite3.Connection, columns: Columns, scope: int, after: int) -> None:
        """Take over the vectors of the records that changed after ``after``; ``columns`` has them already."""
        self._forget()
        if after and len(self._owner):
            stale = np.flatnonzero(columns.changed > after)
            dropped = np.isin(self._owner.rows, stale)
            self._gone += int(dropped.sum())
            self._owner.rows[dropped] = _GONE
        else:
            self._matrix.reserve(len(columns))
        self._take(columns, connection.execute(_BASE[columns.unit] + _CHANGED, (scope, after, self.model)))

    def read_listed(self, connection: sqlite3.Connection, columns: Columns, numbers: Numbers) -> None:
        """Take over the vectors of the records of these numbers; ``columns`` has them already."""
        listed = json.dumps(numbers.tolist())
        self._take(columns, connection.execute(_BASE[columns.unit] + _LISTED, (listed, self.model)))

    def _take(self, columns: Columns, cursor: sqlite3.Cursor) -> None:
        while rows := cursor.fetchmany(_CHUNK):
            self._add(columns, rows)

    def _add(self, columns: Columns, rows: Sequence[tuple[int, Blob]]) -> None:
        self._forget()
        width = self._matrix.rows.shape[1]
        numbers, vectors = zip(*rows, strict=True)
        counts = [size // (4 * width) for size in map(len, vectors)]
        self._matrix.extend(np.frombuffer(b"".join(vectors), "<f4").reshape(-1, width))
        self._owner.extend(np.repeat(columns.places(numbers), counts))

    def best(self, vector: Matrix, records: int) -> Matrix:
        """Highest dot product of ``vector`` with any window of each record; ``-inf`` where it has none.

        The answer is kept for the next question and must not be changed: several groups of results share it.
        """
        if self._last is None or len(self._last[1]) != records or not np.array_equal(self._last[0], vector):
            self._last = vector.copy(), self._best(vector, records)
        return self._last[1]

    def _best(self, vector: Matrix, records: int) -> Matrix:
        owner = self._owner.rows
        products = _products(self._matrix.blocks, vector)[: len(owner)]
        if self._one_each is None:
            self._one_each = np.array_equal(owner, np.arange(len(owner)))
        if self._one_each and len(owner) == records:
            return products
        found = np.full(records, -np.inf, np.float32)
        kept = owner >= 0
        if not kept.all():
            owner, products = owner[kept], products[kept]
        np.maximum.at(found, owner, products)
        return found

    def _forget(self) -> None:
        self._one_each = None
        self._last = None


def _products(blocks: Matrix, vector: Matrix) -> Matrix:
    """``blocks @ vector``, in even batches of rows, so that a row's product does not depend on where it stands."""
    width = blocks.shape[1]
    batch = BLOCK
    while batch > 1 and batch * width > _BATCH_VALUES:
        batch //= 2
    batches = blocks.reshape(-1, batch, width)
    products: Matrix = np.empty(batches.shape[:2], np.float32)
    shares = max(1, min(_MOST_SHARES, cores(), blocks.size // _SHARE_VALUES))
    bounds = [len(batches) * share // shares for share in range(shares + 1)]

    def multiply(first: int, last: int) -> None:
        np.matmul(batches[first:last], vector, out=products[first:last])

    if shares == 1:
        multiply(0, len(batches))
    else:
        # Threads for this once: kept ones would be missing after a fork.
        with ThreadPoolExecutor(shares) as threads:
            list(threads.map(multiply, bounds, bounds[1:]))
    return products.ravel()
