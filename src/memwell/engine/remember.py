"""Remember: from a host's messages to committed memories. Evidence first, then one plan of decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import groupby

from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.jobs import Job, JobState
from memwell.domain.plan import AddEvidence, AddJob, Plan, Request
from memwell.domain.scope import Scope, checked_id
from memwell.engine.correcting import Correcting
from memwell.engine.forming import Forming, Material
from memwell.engine.intake import Incoming, Messages, input_hash, read_messages, record_of
from memwell.engine.jobs import Jobs
from memwell.engine.outcome import replayed_result
from memwell.engine.ports import Clock, Ids, Store, View
from memwell.engine.results import PENDING, WriteResult
from memwell.engine.watch import Watch
from memwell.errors import IdempotencyConflictError

# Stored messages taken up together after an interruption.
_RESUME_BATCH = 64
# Unfinished jobs looked at then, at most.
_OPEN_JOBS = 10_000
# How long workers leave a job to the caller who waits for it.
_GRACE = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Remember:
    """The write use case.

    Args:
        durable: form by jobs also where the caller waits, since answers of models are paid for.
    """

    store: Store
    forming: Forming
    jobs: Jobs
    correcting: Correcting
    clock: Clock
    ids: Ids
    durable: bool = False

    def add(
        self,
        scope: Scope,
        messages: Messages,
        *,
        session_id: str,
        at: str | datetime | None = None,
        request_id: str | None = None,
        wait: bool = True,
        dependencies: Sequence[str] = (),
    ) -> WriteResult:
        """Keep ``messages`` as evidence and form memories from them.

        Args:
            messages: see ``intake.read_messages``.
            at: when they were said; now where neither it nor the message says so.
            request_id: makes the call idempotent: the same id and input give the first result again.
            wait: form at once; otherwise a job is stored with the evidence, and the result is pending.
            dependencies: ids of memories and evidence that the assistant's messages were made from.

        Raises:
            InputError, EvidenceConflictError, IdempotencyConflictError: nothing was stored.
            ExtractionError, EmbeddingError, JudgeError, BudgetError, DecisionContextError, DecisionContractError,
            StaleDecisionError:
                the evidence is stored and nothing else; the same call with the same ``request_id`` may be repeated.
        """
        watch = Watch()
        incoming = read_messages(messages, at)
        checked_id("session_id", session_id)
        request = None
        if request_id is not None:
            request = Request(checked_id("request_id", request_id), input_hash(session_id, incoming))
            with self.store.view() as view:
                first = self._first_result(view, scope, request)
            if first is not None:
                return first
        with watch.step("evidence"):
            evidence, job = self._keep(scope, session_id, incoming, request, wait, tuple(dict.fromkeys(dependencies)))
            self.correcting.fulfil(scope)
        if job is None:
            result = self.forming.form(Material(scope, session_id, evidence, request), watch)
        elif wait and (held := self.store.queue.claim_one(job.id, self.jobs.owner())) is not None:
            result = self.jobs.carry_out(held, watch)
        else:
            if job.state is JobState.DEAD:
                self.store.queue.retry(job.id)
            result = _pending(evidence, job, request)
        return result if result.replayed else replace(result, timings=watch.seconds)

    def resume(self) -> int:
        """Form memories from stored evidence that an earlier write did not get to, oldest first, in any scope.

        Returns:
            The number of messages formed.

        Raises:
            The errors of ``add``; what was formed before stays formed.
        """
        done = 0
        for scope in self.store.scopes():
            self.correcting.fulfil(scope)
        queue = self.store.queue
        self.jobs.release()
        for waiting_job in queue.jobs((JobState.WAITING, JobState.DEAD), _OPEN_JOBS):
            job = queue.claim_one(waiting_job.id, self.jobs.owner())
            if job is not None:
                self.jobs.carry_out(job)
                done += len(job.evidence_ids)
        while waiting := self._unformed():
            for (scope, session_id), group in groupby(waiting, key=lambda record: (record.scope, record.session_id)):
                evidence = tuple(group)
                self.forming.form(Material(scope, session_id, evidence))
                done += len(evidence)
        return done

    def _unformed(self) -> list[Evidence]:
        """Some evidence that waits to be formed and that no job is about."""
        open_jobs = self.store.queue.jobs((JobState.WAITING, JobState.CLAIMED, JobState.DEAD), _OPEN_JOBS)
        held = {key for job in open_jobs for key in job.evidence_ids}
        with self.store.view() as view:
            return [record for record in view.unformed(_RESUME_BATCH + len(held)) if record.id not in held]

    def _first_result(self, view: View, scope: Scope, request: Request) -> WriteResult | None:
        known = view.outcome(scope, request.id)
        if known is None:
            return None
        if known[0] != request.input_hash:
            raise IdempotencyConflictError(
                f"request_id {request.id!r} was used before with other input",
                remedy="use a new request_id for new input",
            )
        return None if known[1] is None else replayed_result(view, known[1], request.id)

    def _keep(
        self,
        scope: Scope,
        session_id: str,
        incoming: Sequence[Incoming],
        request: Request | None,
        wait: bool,
        dependencies: tuple[str, ...],
    ) -> tuple[tuple[Evidence, ...], Job | None]:
        """Store the evidence, with a job where one is needed, in its own transaction; both as stored."""
        now = self.clock.now()
        plan_id = self.ids.new("plan")
        with self.store.view() as view:
            preceding = self._preceding(view, scope, session_id, incoming, now)
        records = [
            record_of(self.ids.new("ev"), scope, session_id, message, number, plan_id, request, now)
            for number, message in enumerate(incoming)
        ]
        if records and preceding is not None:
            records[0] = replace(records[0], preceding=preceding)
        forms = any(record.speaker.supports_memories for record in records)
        job = None
        if forms and (self.durable or not wait):
            job = self._job(scope, session_id, records, request, now, wait)
        evidence = (
            AddEvidence(record, dependencies if record.speaker is Speaker.ASSISTANT else ()) for record in records
        )
        operations = (*evidence, *(() if job is None else (AddJob(job),)))
        plan = Plan(plan_id, scope, now, operations, request=request)
        applied = self.store.apply(plan)
        stored_ids = [applied.evidence.get(record.id, record.id) for record in records]
        with self.store.view() as view:
            stored = view.evidence(stored_ids)
        kept = tuple(stored[record_id] for record_id in dict.fromkeys(stored_ids))
        return kept, None if job is None else self.store.queue.job(job.id)

    def _job(
        self,
        scope: Scope,
        session_id: str,
        records: Sequence[Evidence],
        request: Request | None,
        now: datetime,
        wait: bool,
    ) -> Job:
        """The job that forms ``records``; a request has one and the same, however often it is repeated."""
        job_id = self.ids.new("job")
        if request is not None:
            named = "\0".join((scope.app_id, scope.user_id, scope.agent_id, request.id))
            job_id = f"job_{blake2b(named.encode(), digest_size=10).hexdigest()}"
        return Job(
            id=job_id,
            scope=scope,
            session_id=session_id,
            evidence_ids=tuple(record.id for record in records),
            created_at=now,
            due_at=now + _GRACE if wait else now,
            request_id=None if request is None else request.id,
            input_hash=None if request is None else request.input_hash,
        )

    def _preceding(
        self, view: View, scope: Scope, session_id: str, incoming: Sequence[Incoming], now: datetime
    ) -> str | None:
        """The session's last stored turn, if it is the assistant's and a user turn follows it now."""
        if not incoming or incoming[0].speaker is not Speaker.USER:
            return None
        last = view.recent(scope, session_id, before=incoming[0].said_at or now, limit=1)
        return last[0].content if last and last[0].speaker is Speaker.ASSISTANT else None


def _pending(evidence: Sequence[Evidence], job: Job, request: Request | None) -> WriteResult:
    ids = tuple(record.id for record in evidence)
    request_id = None if request is None else request.id
    return WriteResult(ids, (), (), PENDING, request_id=request_id, job_id=job.id)
