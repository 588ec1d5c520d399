"""Jobs: claimed by one, finished once, given back, retried, dead."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from memwell.domain.jobs import ATTEMPTS, LEASE, Job, JobState
from memwell.domain.plan import AddEvidence, AddJob, EraseEvidence, FinishJob, MarkFormed
from memwell.domain.scope import Scope
from memwell.engine.calls import Call
from memwell.engine.ports import Store
from memwell.engine.queue import Backlog
from memwell.errors import BudgetError, LeaseLostError
from memwell.testing.conformance.cases import StoreCases
from memwell.testing.doubles import ALICE, BOB, START, FakeClock, make_evidence, make_plan


def make_job(key: str, *, scope: Scope = ALICE, request: str | None = None) -> Job:
    return Job(f"job_{key}", scope, "default", (f"ev_{key}",), START, START, request, request and "hash")


def leave(store: Store, *keys: str, scope: Scope = ALICE) -> None:
    """Store evidence and a job for each key."""
    for key in keys:
        operations = (
            AddEvidence(make_evidence(f"ev_{key}", f"Words {key}.", scope=scope)),
            AddJob(make_job(key, scope=scope)),
        )
        store.apply(make_plan(f"p_{key}", *operations, scope=scope))


def finish(store: Store, job: Job) -> None:
    plan = make_plan(
        f"f_{job.token}", MarkFormed(job.evidence_ids), FinishJob(job.id, job.token or ""), scope=job.scope
    )
    store.apply(plan)


def claim(store: Store, owner: str = "me") -> Job:
    job = store.queue.claim(owner)
    assert job is not None
    return job


def state(store: Store, key: str) -> JobState:
    job = store.queue.job(f"job_{key}")
    assert job is not None
    return job.state


class JobCases(StoreCases):
    def test_a_job_is_stored_with_its_evidence_claimed_and_finished_once(self, store: Store) -> None:
        assert store.queue.backlog() == Backlog({}, None)
        leave(store, "a")
        assert store.queue.backlog() == Backlog({"waiting": 1}, START)
        job = claim(store)
        assert store.queue.backlog() == Backlog({"claimed": 1}, START)
        assert (job.id, job.evidence_ids, job.attempts, job.owner) == ("job_a", ("ev_a",), 1, "me")
        assert store.queue.claim("other") is None
        finish(store, job)
        assert state(store, "a") is JobState.DONE
        assert store.queue.claim("other") is None
        with pytest.raises(LeaseLostError):
            store.apply(make_plan("again", FinishJob(job.id, job.token or "")))

    def test_a_known_job_is_kept_as_it_is(self, store: Store) -> None:
        leave(store, "a")
        job = claim(store)
        store.apply(make_plan("p2", AddJob(make_job("a"))))
        assert store.queue.job("job_a") == job

    def test_evidence_stored_before_under_the_same_origin_is_what_the_job_names(self, store: Store) -> None:
        first = make_evidence("ev_first")
        store.apply(make_plan("p1", AddEvidence(first)))
        again = replace(first, id="ev_b")
        store.apply(make_plan("p2", AddEvidence(again), AddJob(make_job("b"))))
        assert claim(store).evidence_ids == ("ev_first",)

    def test_oldest_first_and_one_at_a_time_in_a_scope(self, store: Store) -> None:
        leave(store, "a", "b")
        leave(store, "c", scope=BOB)
        first, other = claim(store), claim(store)
        assert [first.id, other.id] == ["job_a", "job_c"]
        assert store.queue.claim("me") is None
        finish(store, first)
        assert claim(store).id == "job_b"

    def test_many_claim_at_once_and_each_gets_another(self, store: Store) -> None:
        for number in range(8):
            leave(store, str(number), scope=Scope(f"user{number}"))
        with ThreadPoolExecutor(8) as pool:
            jobs = list(pool.map(lambda n: store.queue.claim(f"owner{n}"), range(16)))
        assert sorted(job.id for job in jobs if job) == [f"job_{n}" for n in range(8)]

    def test_a_failure_waits_longer_each_time_and_ends_dead(self, store: Store, clock: FakeClock) -> None:
        leave(store, "a")
        waits = []
        for _ in range(ATTEMPTS):
            store.queue.fail(claim(store), "endpoint_busy", final=False)
            due = store.queue.next_due()
            if due is not None:
                waits.append((due - clock.now()).total_seconds())
                assert store.queue.claim("me") is None
                clock.set(due)
        assert waits == [5, 30, 300]
        (dead,) = store.queue.jobs([JobState.DEAD], 10)
        assert (dead.error, dead.attempts) == ("endpoint_busy", ATTEMPTS)
        assert store.queue.backlog() == Backlog({"dead": 1}, None)
        with store.view() as view:
            assert [record.id for record in view.pending(ALICE, 5)] == ["ev_a"]

    def test_a_final_failure_is_dead_at_once_and_may_be_retried(self, store: Store) -> None:
        leave(store, "a", "b")
        job = claim(store)
        store.queue.notes(job).keep("k", "answer")
        store.queue.fail(job, "wrong_schema", final=True)
        assert state(store, "a") is JobState.DEAD
        assert claim(store).id == "job_b"
        assert store.queue.retry("job_b") == 0
        assert store.queue.retry(None) == 1
        again = store.queue.claim_one("job_a", "me")
        assert again is not None
        assert (again.attempts, again.error) == (1, None)
        assert store.queue.notes(again).answer("k") is None

    def test_a_lease_without_a_sign_of_life_lapses(self, store: Store, clock: FakeClock) -> None:
        leave(store, "a")
        job = claim(store)
        clock.advance(LEASE / 2)
        assert store.queue.beat(job)
        clock.advance(LEASE / 2 + timedelta(seconds=1))
        assert store.queue.claim("other") is None
        clock.advance(LEASE)
        taken = claim(store, "other")
        assert (taken.owner, taken.attempts) == ("other", 2)
        assert not store.queue.beat(job)
        store.queue.fail(job, "late", final=True)
        store.queue.give_back(job)
        assert store.queue.job("job_a") == taken
        with pytest.raises(LeaseLostError):
            finish(store, job)
        finish(store, taken)

    def test_a_job_whose_last_lease_lapsed_is_dead_and_blocks_nobody(self, store: Store, clock: FakeClock) -> None:
        leave(store, "a", "b")
        for _ in range(ATTEMPTS):
            assert claim(store).id == "job_a"
            clock.advance(LEASE + timedelta(seconds=1))
        assert claim(store).id == "job_b"
        assert state(store, "a") is JobState.DEAD

    def test_what_is_given_back_costs_no_attempt(self, store: Store, clock: FakeClock) -> None:
        leave(store, "a")
        for _ in range(2 * ATTEMPTS):
            store.queue.give_back(claim(store))
        later = clock.now() + timedelta(hours=1)
        store.queue.give_back(claim(store), until=later, error="budget_exhausted")
        assert store.queue.claim("me") is None
        assert store.queue.next_due() == later
        clock.set(later)
        assert claim(store).attempts == 1

    def test_claims_of_the_dead_are_freed_and_refunded(self, store: Store) -> None:
        leave(store, "a")
        leave(store, "b", scope=BOB)
        claim(store, "dead")
        claim(store, "alive")
        assert store.queue.release(lambda owner: owner == "alive") == 1
        job = claim(store, "next")
        assert (job.id, job.attempts) == ("job_a", 1)

    def test_a_job_that_kills_all_its_owners_ends_dead(self, store: Store, clock: FakeClock) -> None:
        leave(store, "a")
        for _ in range(60):
            if store.queue.claim("victim") is None:
                break
            store.queue.release(lambda owner: False)
            clock.advance(LEASE)
        assert state(store, "a") is JobState.DEAD

    def test_notes_are_kept_until_the_job_is_done(self, store: Store) -> None:
        leave(store, "a")
        job = claim(store)
        notes = store.queue.notes(job)
        assert notes.answer("k") is None
        assert notes.reserve("k")
        assert not notes.reserve("k")
        assert notes.answer("k") is None
        notes.release("k")
        assert notes.reserve("k")
        notes.keep("k", "答")
        notes.release("k")
        assert store.queue.notes(job).answer("k") == "答"
        finish(store, job)
        assert store.queue.notes(job).answer("k") is None

    def test_a_named_job_is_claimed_whatever_it_waits_for(self, store: Store) -> None:
        leave(store, "a")
        store.queue.fail(claim(store), "endpoint_busy", final=False)
        job = store.queue.claim_one("job_a", "me")
        assert job is not None
        assert store.queue.claim_one("job_a", "other") is None
        assert store.queue.claim_one("job_unknown", "me") is None
        finish(store, job)
        assert store.queue.claim_one("job_a", "me") is None

    def test_erasing_voids_the_claims_of_its_scope_and_leaves_jobs_no_words(self, store: Store) -> None:
        evidence = [AddEvidence(make_evidence(f"ev_{key}", f"Words {key}.")) for key in "ab"]
        store.apply(make_plan("p", *evidence, AddJob(make_job("a", request="r")), AddJob(make_job("b"))))
        leave(store, "c", scope=BOB)
        jobs = [store.queue.claim_one(f"job_{key}", "me") for key in "abc"]
        claimed = [job for job in jobs if job is not None]
        for job in claimed:
            store.queue.notes(job).keep("k", "Words a.")
        late = store.queue.notes(claimed[0])
        store.apply(make_plan("erase", EraseEvidence("ev_a")))
        late.keep("late", "Words a.")
        a, b, c = (store.queue.job(job.id) for job in claimed)
        assert a is not None
        assert (a.state, a.request_id, a.input_hash, a.session_id) == (JobState.DONE, None, None, "erased")
        assert b is not None
        assert (b.state, b.attempts, b.token) == (JobState.WAITING, 0, None)
        assert c == claimed[2]
        answers = [store.queue.notes(job).answer(key) for job in claimed for key in ("k", "late")]
        assert answers == [None, None, None, None, "Words a.", None]
        with pytest.raises(LeaseLostError):
            finish(store, claimed[1])
        finish(store, claim(store))
        assert state(store, "b") is JobState.DONE

    def test_erasing_takes_the_input_hash_of_a_finished_job(self, store: Store) -> None:
        store.apply(make_plan("p", AddEvidence(make_evidence("ev_a")), AddJob(make_job("a", request="r"))))
        finish(store, claim(store))
        store.apply(make_plan("erase", EraseEvidence("ev_a")))
        job = store.queue.job("job_a")
        assert job is not None
        assert (job.state, job.input_hash) == (JobState.DONE, None)

    def test_calls_are_booked_and_a_budget_holds_for_each_scope_and_day(self, store: Store) -> None:
        leave(store, "a")
        leave(store, "b", scope=BOB)
        call = Call(ALICE, "extraction", "m", START, 60, 20)
        number = store.spending.begin(call, 100)
        with pytest.raises(BudgetError):
            store.spending.begin(call, 100)
        store.spending.begin(replace(call, scope=BOB), 100)
        store.spending.begin(replace(call, at=START + timedelta(days=1)), 100)
        store.spending.begin(replace(call, scope=None), None)
        store.spending.end(number, replace(call, tokens_in=10, tokens_out=5, seconds=0.5, outcome="endpoint_busy"))
        store.spending.begin(call, 100)
        (row,) = store.spending.totals().values()
        assert (row["calls"], row["failed"], row["tokens_in"], row["seconds"]) == (5, 1, 250, 0.5)
