"""The records of a scope that a lens sees, as parallel arrays in the order they were stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from memwell.domain.memory import Kind
from memwell.domain.plan import Unit
from memwell.storage.signals import Numbers, episodes
from memwell.storage.sqlite.columns import Columns, Mask

Places = slice | NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Records:
    """Parallel arrays.

    Attributes:
        sessions: a number for each record's session.
        said_at: microseconds.
        length: number of index terms.
        speakers: names, as given.
        intact: every record at this position is visible.
    """

    numbers: Numbers
    sessions: Numbers
    said_at: Numbers
    positions: Numbers
    length: Numbers
    about_user: Mask
    ids: NDArray[np.object_]
    speakers: NDArray[np.object_]
    intact: Mask

    @property
    def bytes(self) -> int:
        """Memory of the arrays that are no mere views of others."""
        arrays: Iterable[NDArray[np.generic]] = (getattr(self, field.name) for field in fields(self))
        return sum(array.nbytes for array in arrays if array.base is None)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a lens sees.

    Attributes:
        session_names: the names behind ``records.sessions``.
        episode: the episode of each record; 0 for memories, which have none.
        follower: for evidence the place of the record after it in its episode, -1 after the last; else empty.
    """

    records: Records
    session_names: Sequence[str]
    episode: Numbers
    follower: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.records.numbers)

    @property
    def bytes(self) -> int:
        return self.records.bytes + self.episode.nbytes + self.follower.nbytes


def visible_places(columns: Columns, visible: Mask, kinds: frozenset[Kind] | None) -> Places:
    """Rows of ``columns`` that are visible and of one of ``kinds``.

    Where all are, the columns serve as they are; copying them would cost as much as the dot product.
    """
    chosen = visible & columns.of_kinds(kinds)
    return slice(None) if chosen.all() else np.flatnonzero(chosen)


def records_at(columns: Columns, places: Places, hidden: Mask, sessions: Numbers) -> Records:
    """The rows of ``columns`` at ``places``.

    Args:
        hidden: which rows the lens does not see, whatever their kind.
        sessions: the number to use for each of the columns' sessions.
    """
    broken = columns.position[hidden]
    positions = columns.position[places]
    return Records(
        columns.no[places],
        sessions[columns.session[places]],
        columns.said_at[places],
        positions,
        columns.length[places],
        columns.about_user[places],
        columns.id[places],
        columns.speaker[places],
        ~np.isin(positions, broken) if len(broken) else np.ones(len(positions), np.bool_),
    )


def united(shares: Sequence[Records]) -> tuple[Records, NDArray[np.intp]]:
    """All records of ``shares`` in the order they were stored, and where each stands in ``shares``, laid end to end."""
    numbers = np.concatenate([share.numbers for share in shares])
    order = np.argsort(numbers, kind="stable")
    joined = {f.name: np.concatenate([getattr(share, f.name) for share in shares])[order] for f in fields(Records)}
    return Records(**joined), order


def seen(unit: Unit, records: Records, session_names: Sequence[str]) -> Seen:
    """``records`` with their episodes."""
    if unit is Unit.EVIDENCE:
        return Seen(records, session_names, *episodes(records.sessions, records.said_at))
    return Seen(records, session_names, np.zeros(len(records.numbers), np.int64), np.zeros(0, np.intp))
