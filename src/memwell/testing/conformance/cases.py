"""What the cases share: an empty store, its clock, and shorthand for reading it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from memwell.domain.lens import Lens
from memwell.domain.memory import MemoryRecord
from memwell.domain.plan import Unit
from memwell.domain.scope import Scope
from memwell.domain.text import query_terms
from memwell.engine.ports import Store
from memwell.engine.queries import PoolEntry, PoolQuery
from memwell.testing.doubles import ALICE, START, FakeClock, HashEmbedder, make_plan, statement

EMBEDDER = HashEmbedder()
NOW = Lens(now=START)


class StoreCases(ABC):
    """Base of all case classes."""

    @abstractmethod
    def open_store(self, folder: Path, clock: FakeClock, lock_timeout: float) -> Store:
        """Open a store that keeps its files, if any, in ``folder``, which is empty at first.

        Args:
            clock: the store's clock.
            lock_timeout: seconds to wait for another planner's scope lock.
        """

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def store(self, tmp_path: Path, clock: FakeClock) -> Iterator[Store]:
        store = self.open_store(tmp_path, clock, 0.2)
        yield store
        problems = store.check()
        store.close()
        assert problems == []


def memory(store: Store, key: str) -> MemoryRecord:
    """The stored memory ``key``."""
    with store.view() as view:
        return view.memories([key])[key]


def found(
    store: Store,
    words: str = "",
    *,
    like: str | None = None,
    lens: Lens = NOW,
    scope: Scope = ALICE,
    unit: Unit = Unit.MEMORY,
    limit: int = 10,
) -> list[str]:
    """Ids in the pool for ``words`` (keywords) and ``like`` (similarity), ids sorted."""
    vector = None if like is None else EMBEDDER.query(like)
    with store.view() as view:
        pool = view.pool(
            scope,
            unit,
            PoolQuery(model=EMBEDDER.model, vector=vector, terms=query_terms(words), lens=lens, limit=limit),
        )
    return [entry.record_id for entry in pool]


def ids(memories: Sequence[MemoryRecord]) -> list[str]:
    return [record.id for record in memories]


def say(store: Store, *contents: str, first: int = 1) -> None:
    """Store each content as evidence and memory, numbered from ``first``."""
    for number, content in enumerate(contents, first):
        store.apply(make_plan(f"p{number}", *statement(str(number), content, EMBEDDER)))


def entries(store: Store, words: str, like: str, unit: Unit = Unit.MEMORY) -> list[PoolEntry]:
    """The pool of alice's records for words and meaning."""
    with store.view() as view:
        query = PoolQuery(NOW, 50, EMBEDDER.model, EMBEDDER.query(like), query_terms(words))
        return list(view.pool(ALICE, unit, query))
