"""What visibility and ranking need of a scope's records, as numpy columns that grow at the end.

Rows are in order of their numbers. Visibility follows ``domain.lens``, written for whole columns.
"""

from __future__ import annotations

import json
import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memwell.domain.evidence import Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Kind, State
from memwell.domain.plan import Unit
from memwell.storage.sqlite.grown import Grown
from memwell.storage.values import to_micros

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]
NEVER = np.iinfo(np.int64).max

_STATES = tuple(State)
_STATE_CODES = {state.value: code for code, state in enumerate(_STATES)}
_WAS_TRUE = np.array([state.was_true for state in _STATES])
_CURRENT = _STATE_CODES[State.CURRENT.value]
_KINDS = tuple(Kind)
_KIND_CODES = {kind.value: code for code, kind in enumerate(_KINDS)}


def _code(column: str, codes: Mapping[str, int]) -> str:
    """SQL for the code of the text in ``column``."""
    return f"CASE {column} {' '.join(f'WHEN {value!r} THEN {code}' for value, code in codes.items())} END"


# Values come out ready for their columns. readable: 2 where local reading is allowed by every source, plus 1 where
# cloud reading is; all of it where there is no source.
_MEMORIES = f"""
SELECT m.no, m.changed, {_code("m.state", _STATE_CODES)}, {_code("m.kind", _KIND_CODES)},
    m.valid_from, coalesce(m.valid_until, {NEVER}), m.recorded_at, m.muted_at IS NOT NULL,
    coalesce((SELECT min(e.status = 'active' AND e.local) * 2 + min(e.status = 'active' AND e.cloud)
     FROM sources s JOIN evidence e ON e.no = s.evidence WHERE s.memory = m.no), 3),
    coalesce(f.session_id, m.session_id), coalesce(f.no, 0), coalesce(f.occurred_at, m.memory_at), m.length,
    m.subject = 'user', m.id, iif(f.speaker = 'user', coalesce(f.name, ''), '')
FROM memories m
LEFT JOIN sources first ON first.memory = m.no AND first.position = 0
LEFT JOIN evidence f ON f.no = first.evidence
"""
_EVIDENCE = f"""
SELECT e.no, e.changed, {_CURRENT}, {_KIND_CODES[Kind.FACT.value]}, e.occurred_at, {NEVER}, e.recorded_at, 0,
    (e.status = 'active' AND e.local) * 2 + (e.status = 'active' AND e.cloud),
    e.session_id, e.no, e.occurred_at, e.length, 1, e.id, iif(e.speaker = 'user', coalesce(e.name, ''), '')
FROM evidence e
"""
# Place of the session among the values.
_SESSION = 9
# What assistants and tools said is context and never found by itself.
_FOUND = "e.speaker IN ('user', 'observed', 'import')"
_CHANGED = {
    Unit.MEMORY: _MEMORIES + "WHERE m.scope = ? AND m.changed > ?",
    Unit.EVIDENCE: f"{_EVIDENCE} WHERE e.scope = ? AND e.changed > ? AND {_FOUND}",
}
_LISTED = {
    Unit.MEMORY: _MEMORIES + "WHERE m.no IN (SELECT value FROM json_each(?))",
    Unit.EVIDENCE: f"{_EVIDENCE} WHERE e.no IN (SELECT value FROM json_each(?)) AND {_FOUND}",
}

_AS_KNOWN = """
SELECT m.no, t.state, t.valid_until, t.muted_at IS NOT NULL, max(t.revision)
FROM memories m JOIN transitions t ON t.memory = m.no
WHERE m.scope = ? AND t.at <= ?
GROUP BY m.no
"""


@dataclass(frozen=True, slots=True)
class Known:
    """The mutable columns of memories as the store knew them at some moment, and which it knew at all."""

    exists: Mask
    state: NDArray[np.int8]
    valid_until: Numbers
    muted: Mask


class Columns:
    """Columns of one scope's memories or evidence.

    For evidence, ``valid_from`` is when it was said, and it never ends.
    """

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._sessions: list[str] = []
        self._session_codes: dict[str, int] = {}
        self._no = Grown(np.int64)
        self._changed = Grown(np.int64)
        self._state = Grown(np.int8)
        self._kind = Grown(np.int8)
        self._valid_from = Grown(np.int64)
        self._valid_until = Grown(np.int64)
        self._recorded_at = Grown(np.int64)
        self._muted = Grown(np.bool_)
        self._readable = Grown(np.int8)
        self._session = Grown(np.int32)
        self._position = Grown(np.int64)
        self._said_at = Grown(np.int64)
        self._length = Grown(np.int64)
        self._about_user = Grown(np.bool_)
        self._id = Grown(np.object_)
        self._speaker = Grown(np.object_)
        self._columns = (
            self._no,
            self._changed,
            self._state,
            self._kind,
            self._valid_from,
            self._valid_until,
            self._recorded_at,
            self._muted,
            self._readable,
            self._session,
            self._position,
            self._said_at,
            self._length,
            self._about_user,
            self._id,
            self._speaker,
        )

    def __len__(self) -> int:
        return len(self._no)

    @property
    def no(self) -> Numbers:
        return self._no.rows

    @property
    def changed(self) -> Numbers:
        return self._changed.rows

    @property
    def position(self) -> Numbers:
        return self._position.rows

    @property
    def said_at(self) -> Numbers:
        return self._said_at.rows

    @property
    def length(self) -> Numbers:
        """How many terms the keyword index holds of each row."""
        return self._length.rows

    @property
    def about_user(self) -> Mask:
        return self._about_user.rows

    @property
    def id(self) -> NDArray[np.object_]:
        return self._id.rows

    @property
    def speaker(self) -> NDArray[np.object_]:
        """Name of the person who said each row; empty where none was given."""
        return self._speaker.rows

    @property
    def session(self) -> NDArray[np.int32]:
        """Each row's session, as an index into ``session_names``."""
        return self._session.rows

    @property
    def session_names(self) -> Sequence[str]:
        return self._sessions

    @property
    def bytes(self) -> int:
        return sum(column.bytes for column in self._columns)

    def read_on(self, connection: sqlite3.Connection, scope: int, after: int) -> None:
        """Take over the rows that changed after the change counter ``after``."""
        self._take(connection.execute(_CHANGED[self.unit], (scope, after)))

    def read_listed(self, connection: sqlite3.Connection, numbers: Numbers) -> None:
        """Take over the records of these numbers, as far as they exist."""
        self._take(connection.execute(_LISTED[self.unit], (json.dumps(numbers.tolist()),)))

    def _take(self, found: Iterable[tuple[Any, ...]]) -> None:
        rows = sorted(found)
        if not rows:
            return
        last = int(self.no[-1]) if len(self) else 0
        added = bisect_right(rows, last, key=_number)
        if added:
            known = self._coded(rows[:added])
            places = self.places(known[0])
            for column, values in zip(self._columns, known, strict=True):
                column.rows[places] = values
        if added < len(rows):
            for column, values in zip(self._columns, self._coded(rows[added:]), strict=True):
                column.extend(values)

    def places(self, numbers: Sequence[int] | Numbers) -> NDArray[np.intp]:
        """Rows of record numbers that are all present."""
        return np.searchsorted(self.no, np.asarray(numbers, np.int64))

    def known_at(self, connection: sqlite3.Connection, scope: int, moment: int) -> Known:
        """The mutable columns as known at ``moment`` (microseconds)."""
        exists, muted = np.zeros(len(self), np.bool_), np.zeros(len(self), np.bool_)
        state, valid_until = np.zeros(len(self), np.int8), np.full(len(self), NEVER)
        known = {row[0]: row[1:4] for row in connection.execute(_AS_KNOWN, (scope, moment))}
        for row, no in enumerate(self.no.tolist()):
            if no in known:
                exists[row] = True
                state[row] = _STATE_CODES[known[no][0]]
                valid_until[row] = NEVER if known[no][1] is None else known[no][1]
                muted[row] = known[no][2]
        return Known(exists, state, valid_until, muted)

    def visible(self, lens: Lens, known: Known | None = None) -> Mask:
        """Which rows ``lens`` sees; ``known`` where it asks for what was known."""
        seen: Mask = (self._readable.rows & (2 if lens.target is Target.LOCAL else 1)) > 0
        if lens.known_at is not None:
            seen &= self._recorded_at.rows <= to_micros(lens.known_at)
        if self.unit is Unit.EVIDENCE:
            if lens.as_of is not None:
                seen &= self._valid_from.rows <= to_micros(lens.as_of)
            return seen
        state, until, muted = self._state.rows, self._valid_until.rows, self._muted.rows
        if known is not None:
            state, until, muted = known.state, known.valid_until, known.muted
            seen &= known.exists
        if not lens.include_muted:
            seen &= ~muted
        seen &= self.of_kinds(lens.kinds)
        if lens.as_of is not None:
            moment = to_micros(lens.as_of)
            seen &= _WAS_TRUE[state] & (self._valid_from.rows <= moment) & (moment < until)
        elif lens.include_past:
            seen &= _WAS_TRUE[state]
        else:
            seen &= (state == _CURRENT) & (to_micros(lens.now) < until)
        return seen

    def unchanged_around(self, now: int) -> tuple[int, int]:
        """From when until when no validity ends, around ``now``: half-open, microseconds."""
        until = self._valid_until.rows
        passed = until <= now
        began = int(until[passed].max()) if passed.any() else -NEVER
        return began, NEVER if passed.all() else int(until[~passed].min())

    def of_kinds(self, kinds: frozenset[Kind] | None) -> Mask:
        """Which rows are of one of ``kinds``; all where it is ``None``."""
        if kinds is None or self.unit is Unit.EVIDENCE:
            return np.ones(len(self), np.bool_)
        return _codes_among(self._kind.rows, (_KIND_CODES[kind.value] for kind in kinds), len(_KINDS))

    def _coded(self, rows: Sequence[tuple[Any, ...]]) -> list[Sequence[Any]]:
        """The values of ``rows`` column by column, sessions as numbers."""
        columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
        sessions = columns[_SESSION]
        for name in dict.fromkeys(sessions):
            if name not in self._session_codes:
                self._session_codes[name] = len(self._sessions)
                self._sessions.append(name)
        columns[_SESSION] = [self._session_codes[name] for name in sessions]
        return columns


def _number(row: tuple[Any, ...]) -> int:
    number: int = row[0]
    return number


def _codes_among(codes: NDArray[np.int8], wanted: Iterable[int], size: int) -> Mask:
    table = np.zeros(size, np.bool_)
    table[list(wanted)] = True
    found: Mask = table[codes]
    return found
