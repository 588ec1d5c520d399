"""Cases about several planners and readers at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from memwell.domain.scope import Scope
from memwell.engine.ports import Store
from memwell.errors import PreconditionError, StoreBusyError
from memwell.testing.conformance.cases import EMBEDDER, StoreCases, found
from memwell.testing.doubles import ALICE, BOB, FakeClock, make_plan, statement


class SharingCases(StoreCases):
    def test_a_locked_scope_is_closed_to_others(self, store: Store) -> None:
        plan = make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER))
        bobs = make_plan("p2", *statement("2", "I live in Rome", EMBEDDER, scope=BOB), scope=BOB)
        with store.lock_scope(ALICE) as token:
            with pytest.raises(StoreBusyError, match="alice"):
                store.apply(plan)
            with pytest.raises(StoreBusyError), store.lock_scope(ALICE):
                pass
            store.apply(bobs)
            store.apply(make_plan("p3", *statement("3", "I live in Nice", EMBEDDER), lock=token))
        store.apply(plan)
        with store.lock_scope(ALICE) as again:
            assert again != token

    def test_a_lock_ends_with_its_block(self, store: Store) -> None:
        with pytest.raises(ZeroDivisionError), store.lock_scope(ALICE):
            raise ZeroDivisionError
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER)))

    def test_the_lock_of_a_dead_owner_expires(self, store: Store, clock: FakeClock) -> None:
        with store.lock_scope(ALICE) as old:
            clock.advance(timedelta(minutes=1))
            with store.lock_scope(ALICE) as new:
                store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER), lock=new))
                with pytest.raises(StoreBusyError):
                    store.apply(make_plan("p2", *statement("2", "I live in Rome", EMBEDDER), lock=old))
        store.apply(make_plan("p3", *statement("3", "I live in Nice", EMBEDDER)))

    def test_threads_write_each_plan_once(self, store: Store) -> None:
        def write(number: int) -> bool:
            # Every plan comes from two threads.
            key = str(number // 2)
            return store.apply(make_plan(f"p{key}", *statement(key, f"Statement {key}", EMBEDDER))).replayed

        with ThreadPoolExecutor(8) as pool:
            replayed = list(pool.map(write, range(80)))
        assert sum(replayed) == 40
        with store.view() as view:
            assert view.epoch(ALICE) == view.stats()["memories"] == 40

    def test_of_two_plans_against_one_epoch_one_wins(self, store: Store) -> None:
        def write(number: int) -> bool:
            try:
                store.apply(
                    make_plan(f"p{number}", *statement(str(number), "I live in Lyon", EMBEDDER), expected_epoch=0)
                )
            except PreconditionError:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(write, range(8))) == 1

    def test_threads_read_their_own_scope_only(self, store: Store) -> None:
        scopes = [Scope(f"user{number}") for number in range(20)]
        for number, scope in enumerate(scopes):
            operations = statement(str(number), f"I am user {number}", EMBEDDER, scope=scope)
            store.apply(make_plan(f"p{number}", *operations, scope=scope))

        def read(number: int) -> list[str]:
            own = number % len(scopes)
            if number % 10 == 0:
                more = statement(f"{own}_{number}", "Nothing like it", EMBEDDER, scope=scopes[own])
                store.apply(make_plan(f"q{number}", *more, scope=scopes[own]))
            return found(store, "user", like=f"user {own}", scope=scopes[own])

        with ThreadPoolExecutor(20) as pool:
            for number, hits in enumerate(pool.map(read, range(1000))):
                own = number % len(scopes)
                assert f"mem_{own}" in hits
                assert all(hit == f"mem_{own}" or hit.startswith(f"mem_{own}_") for hit in hits)
