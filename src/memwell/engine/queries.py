"""What is asked of a store: pages, and the records in the running for a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memwell.domain.evidence import Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Kind, State
from memwell.domain.scope import Scope
from memwell.domain.validity import Validity


class PoolEntry(NamedTuple):
    """One record in the running for a question.

    Attributes:
        similarity: cosine to the question's vector, best window; 0 where the record has no vector of the model.
        keyword: BM25 as a share of the highest reachable, 0 to 1; evidence also gets ``PoolQuery.context`` of the share
            of each of the two records before it in its episode.
        session_id, position: the session and the order within the store of its (first) evidence.
        said_at: when its (first) evidence was said, in seconds since 1970.
        episode: evidence of one number was said in one session without a long pause; 0 for memories.
        about_user: whether its subject is the user.
        intact: every memory of its turn is visible, so that what the whole turn says may speak for it.
        speaker: name of the person whose words its (first) evidence is, as given; empty where none was.
    """

    record_id: str
    similarity: float
    keyword: float
    session_id: str
    position: int
    said_at: float
    episode: int = 0
    about_user: bool = True
    intact: bool = True
    speaker: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Records in the running as parallel columns, in the order they were stored; iterating gives them one by one.

    Attributes: those of ``PoolEntry``, a column each.
    """

    record_ids: NDArray[np.object_]
    similarity: NDArray[np.float64]
    keyword: NDArray[np.float64]
    session_ids: Sequence[str]
    positions: NDArray[np.int64]
    said_at: NDArray[np.float64]
    episodes: NDArray[np.int64]
    about_user: NDArray[np.bool_]
    intact: NDArray[np.bool_]
    speakers: NDArray[np.object_]

    @classmethod
    def of(cls, entries: Sequence[PoolEntry]) -> Pool:
        """The pool of ``entries``."""
        ids, similarity, keyword, sessions, positions, said_at, episodes, about_user, intact, speakers = tuple(
            zip(*entries, strict=True)
        ) or ((),) * len(PoolEntry._fields)
        return cls(
            np.array(ids, np.object_),
            np.array(similarity, np.float64),
            np.array(keyword, np.float64),
            sessions,
            np.array(positions, np.int64),
            np.array(said_at, np.float64),
            np.array(episodes, np.int64),
            np.array(about_user, np.bool_),
            np.array(intact, np.bool_),
            np.array(speakers, np.object_),
        )

    def __len__(self) -> int:
        return len(self.record_ids)

    def __iter__(self) -> Iterator[PoolEntry]:
        columns = (
            self.record_ids.tolist(),
            self.similarity.tolist(),
            self.keyword.tolist(),
            self.session_ids,
            self.positions.tolist(),
            self.said_at.tolist(),
            self.episodes.tolist(),
            self.about_user.tolist(),
            self.intact.tolist(),
            self.speakers.tolist(),
        )
        return map(PoolEntry._make, zip(*columns, strict=True))


NO_POOL = Pool.of(())


@dataclass(frozen=True, slots=True)
class PoolQuery:
    """Which records come into the running: the best ``limit`` by each signal, united.

    Attributes:
        lens: visibility, applied before ranking and before ``limit``.
        model: embedding model of ``vector``; vectors of other models are not compared.
        vector: shape ``(dimensions,)``, L2-normalised; ``None`` for keywords alone.
        terms: as made by ``text.query_terms``; a record matches if it has at least one.
        periods: of what was said within these, the best by similarity have a place of their own.
        positions: records at these positions are taken besides.
        context: share of an evidence record's keyword share that each of the two after it in its episode gets.
        absent: how much each term that no visible record holds counts as missed, 0 to 1 of a term held by one.
    """

    lens: Lens
    limit: int
    model: str = ""
    vector: NDArray[np.float32] | None = None
    terms: Sequence[str] = ()
    periods: Sequence[Validity] = ()
    positions: Sequence[int] | NDArray[np.int64] = ()
    context: float = 0.0
    absent: float = 0.0


@dataclass(frozen=True, slots=True)
class PageQuery:
    """A page of memories, newest recorded first.

    Attributes:
        after: cursor, ``(recorded_at, id)`` of the last row of the page before.
        said_from, said_until: half-open bounds on ``memory_at``.
        live_at: leave out those whose validity has ended by then.
        target: leave out those that may not be read there; ``None``: read them all.
    """

    scope: Scope
    limit: int
    states: frozenset[State]
    kinds: frozenset[Kind] | None = None
    said_from: datetime | None = None
    said_until: datetime | None = None
    live_at: datetime | None = None
    after: tuple[datetime, str] | None = None
    target: Target | None = None


@dataclass(frozen=True, slots=True)
class EvidenceQuery:
    """A page of evidence that is neither withdrawn nor erased, newest recorded first.

    Attributes:
        session_id: only what was said in this session.
        origin_prefix: only what has an origin that begins so.
        after: cursor, ``(recorded_at, id)`` of the last row of the page before.
        target: leave out what may not be read there.
        alive_at: leave out observations whose time was over then.
    """

    limit: int
    session_id: str | None = None
    origin_prefix: str | None = None
    after: tuple[datetime, str] | None = None
    target: Target = Target.LOCAL
    alive_at: datetime | None = None
