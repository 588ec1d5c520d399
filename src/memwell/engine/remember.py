"""Remember: from a host's messages to committed memories. Evidence first, then one plan of decisions."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby

from memwell.domain.decision import Candidate, Decision
from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.plan import AddEvidence, IndexRecord, MarkFormed, Operation, Plan, Request, Unit
from memwell.domain.scope import Scope, checked_id
from memwell.domain.segments import clauses, sentences
from memwell.engine.compile import candidates as compile_candidates
from memwell.engine.indexing import embed, first_rows, index_operation, indexable_evidence, indexable_memory
from memwell.engine.intake import Incoming, Messages, input_hash, read_messages, record_of
from memwell.engine.outcome import journalled, replayed_result
from memwell.engine.ports import (
    Clock,
    Comparison,
    Embedder,
    Extractor,
    Ids,
    Judge,
    Matrix,
    Passed,
    Store,
    Turn,
    Verdict,
    View,
)
from memwell.engine.results import Passage, WriteResult
from memwell.engine.route import routed
from memwell.engine.settle import settle
from memwell.engine.working import WorkingSet
from memwell.errors import IdempotencyConflictError, PreconditionError, StaleDecisionError

# Tries against changing heads; the last one holds the scope lock.
TRIES = 3
# Candidates judged together.
JUDGE_BATCH = 12
# Stored messages taken up together after an interruption.
_RESUME_BATCH = 64
# Earlier user turns that extraction may read to resolve references.
CONTEXT_TURNS = 5


@dataclass(frozen=True, slots=True)
class _Material:
    turns: tuple[Turn, ...]
    candidates: tuple[Candidate, ...]
    passed: tuple[Passed, ...]
    resent: bool


@dataclass(frozen=True, slots=True)
class _Formed:
    """What extraction made of a write: candidates, what it passed over, and all vectors needed to store them.

    ``resent``: memories had been formed from some of its messages before.
    """

    turns: tuple[Turn, ...]
    resent: bool
    candidates: tuple[Candidate, ...]
    passed: tuple[Passed, ...]
    vectors: Matrix
    index: tuple[IndexRecord, ...]
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Remember:
    """The write use case.

    Args:
        abbreviations: words whose full stop ends no sentence.
        joint: what separates clauses besides punctuation.
    """

    store: Store
    embedder: Embedder
    extractor: Extractor
    judge: Judge
    clock: Clock
    ids: Ids
    abbreviations: frozenset[str] = field(default_factory=frozenset)
    joint: re.Pattern[str] | None = None

    def add(
        self,
        scope: Scope,
        messages: Messages,
        *,
        session_id: str,
        at: str | datetime | None = None,
        request_id: str | None = None,
        dependencies: Sequence[str] = (),
    ) -> WriteResult:
        """Keep ``messages`` as evidence and form memories from them.

        Args:
            messages: see ``intake.read_messages``.
            at: when they were said; now where neither it nor the message says so.
            request_id: makes the call idempotent: the same id and input give the first result again.
            dependencies: ids of memories and evidence that the assistant's messages were made from.

        Raises:
            InputError, EvidenceConflictError, IdempotencyConflictError: nothing was stored.
            ExtractionError, EmbeddingError, DecisionContextError, DecisionContractError, StaleDecisionError:
                the evidence is stored and nothing else; the same call with the same ``request_id`` may be repeated.
        """
        watch = _Watch()
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
            evidence = self._keep(scope, session_id, incoming, request, tuple(dict.fromkeys(dependencies)))
        with watch.step("extract"):
            material = self._extract(scope, session_id, evidence)
        with watch.step("embed"):
            formed = self._embed(material)
        with watch.step("decide"):
            result = self._decide(scope, evidence, formed, request)
        return result if result.replayed else replace(result, timings=watch.seconds)

    def resume(self) -> int:
        """Form memories from stored evidence that an earlier write did not get to, oldest first, in any scope.

        Returns:
            The number of messages formed.

        Raises:
            The errors of ``add``; what was formed before stays formed.
        """
        done = 0
        while True:
            with self.store.view() as view:
                waiting = view.unformed(_RESUME_BATCH)
            if not waiting:
                return done
            for (scope, session_id), group in groupby(waiting, key=lambda record: (record.scope, record.session_id)):
                evidence = tuple(group)
                formed = self._embed(self._extract(scope, session_id, evidence))
                self._decide(scope, evidence, formed, None)
                done += len(evidence)

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
        dependencies: tuple[str, ...],
    ) -> tuple[Evidence, ...]:
        """Store the evidence in its own transaction and return it as stored."""
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
        operations = tuple(
            AddEvidence(record, dependencies if record.speaker is Speaker.ASSISTANT else ()) for record in records
        )
        plan = Plan(plan_id, scope, now, operations, request=request)
        applied = self.store.apply(plan)
        stored_ids = [applied.evidence.get(record.id, record.id) for record in records]
        with self.store.view() as view:
            stored = view.evidence(stored_ids)
        return tuple(stored[record_id] for record_id in dict.fromkeys(stored_ids))

    def _preceding(
        self, view: View, scope: Scope, session_id: str, incoming: Sequence[Incoming], now: datetime
    ) -> str | None:
        """The session's last stored turn, if it is the assistant's and a user turn follows it now."""
        if not incoming or incoming[0].speaker is not Speaker.USER:
            return None
        last = view.recent(scope, session_id, before=incoming[0].said_at or now, limit=1)
        return last[0].content if last and last[0].speaker is Speaker.ASSISTANT else None

    def _extract(self, scope: Scope, session_id: str, evidence: Sequence[Evidence]) -> _Material:
        with self.store.view() as view:
            done = view.formed(record.id for record in evidence)
            fresh = [
                record
                for record in evidence
                if record.id not in done and record.speaker.supports_memories and record.permissions.infer
            ]
            if not fresh:
                return _Material((), (), (), resent=bool(done))
            new = {record.id for record in evidence}
            before = view.recent(scope, session_id, before=fresh[0].occurred_at, limit=len(new) + 2 * CONTEXT_TURNS)
        context = [record for record in before if record.id not in new and _tells(record)]
        turns = tuple(self._turn(record) for record in fresh)
        extraction = self.extractor.extract(turns, context[-CONTEXT_TURNS:])
        candidates = tuple(compile_candidates(turns, extraction.proposals))
        return _Material(turns, candidates, extraction.passed, resent=bool(done))

    def _turn(self, record: Evidence) -> Turn:
        spans = sentences(record.content, self.abbreviations)
        segments = tuple(clause for span in spans for clause in clauses(record.content, span, self.joint))
        return Turn(record, spans, segments)

    def _embed(self, material: _Material) -> _Formed:
        candidates = material.candidates
        memory_ids = tuple(self.ids.new("mem") for _ in candidates)
        statements = [
            indexable_memory(memory_id, candidate) for memory_id, candidate in zip(memory_ids, candidates, strict=True)
        ]
        sources = [indexable_evidence(turn.evidence) for turn in material.turns]
        rows = embed(self.embedder, (text for item in (*statements, *sources) for text in item.texts))
        return _Formed(
            turns=material.turns,
            candidates=candidates,
            passed=material.passed,
            resent=material.resent,
            vectors=first_rows(statements, rows, self.embedder.dimensions),
            index=tuple(index_operation(item, self.embedder.model, rows) for item in (*sources, *statements)),
            memory_ids=memory_ids,
        )

    def _decide(
        self, scope: Scope, evidence: Sequence[Evidence], formed: _Formed, request: Request | None
    ) -> WriteResult:
        plan_id = self.ids.new("plan")
        for _ in range(TRIES - 1):
            try:
                return self._try(scope, evidence, formed, request, plan_id, lock=None)
            except PreconditionError:
                continue
        with self.store.lock_scope(scope) as lock:
            try:
                return self._try(scope, evidence, formed, request, plan_id, lock=lock)
            except PreconditionError as error:
                raise StaleDecisionError(
                    f"the memories of {scope.user_id} kept changing: {error.message}", remedy="repeat the call as it is"
                ) from error

    def _try(
        self,
        scope: Scope,
        evidence: Sequence[Evidence],
        formed: _Formed,
        request: Request | None,
        plan_id: str,
        lock: str | None,
    ) -> WriteResult:
        now = self.clock.now()
        with self.store.view() as view:
            epoch = view.epoch(scope)
            working = WorkingSet(
                view=view,
                scope=scope,
                model=self.embedder.model,
                candidates=formed.candidates,
                vectors=formed.vectors,
                target_queries=self.embedder.target_queries(formed.vectors),
                memory_ids=formed.memory_ids,
                now=now,
                makers=(self.extractor.name, self.judge.name),
            )
            decisions = self._judge_all(working, formed)
        result = _result(evidence, formed, decisions, request)
        plan = Plan(
            id=plan_id,
            scope=scope,
            at=now,
            operations=_operations(working, formed),
            expected_epoch=epoch if formed.candidates else None,
            request=request,
            outcome=journalled(result) if request is not None else None,
            lock=lock,
        )
        if not plan.operations and request is None:
            return result
        applied = self.store.apply(plan)
        if applied.replayed and request is not None:
            with self.store.view() as view:
                return self._first_result(view, scope, request) or result
        return result

    def _judge_all(self, working: WorkingSet, formed: _Formed) -> list[Decision]:
        turns = {turn.evidence.id: turn.evidence for turn in formed.turns}
        decisions: list[Decision] = []
        for group in _groups(formed.candidates):
            source = turns[formed.candidates[group[0]].sources[0].evidence_id]
            posed = [working.pose(number, group, source.content, source.preceding) for number in group]
            comparisons = [item.comparison for item in posed]
            settled = settle(comparisons, self._verdicts(comparisons))
            decisions.extend(working.carry_out(item, choice) for item, choice in zip(posed, settled, strict=True))
        return decisions

    def _verdicts(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        """Verdicts in order; the judge sees only what routing leaves open."""
        verdicts = [routed(comparison) for comparison in comparisons]
        left = [i for i, verdict in enumerate(verdicts) if verdict is None]
        judged = self.judge.judge([comparisons[i] for i in left]) if left else []
        for i, verdict in zip(left, judged, strict=False):
            verdicts[i] = verdict
        # Too few or too many are left standing, for ``settle`` to refuse.
        return [verdict for verdict in (*verdicts, *judged[len(left) :]) if verdict is not None]


def _tells(record: Evidence) -> bool:
    """Whether extraction may read ``record`` beside the turns it is asked about."""
    return record.speaker is Speaker.USER and record.permissions.infer


def _groups(candidates: Sequence[Candidate]) -> Iterator[list[int]]:
    """Numbers of the candidates judged together: those of one message, at most ``JUDGE_BATCH``."""
    for _, numbers in groupby(range(len(candidates)), key=lambda i: candidates[i].sources[0].evidence_id):
        group = list(numbers)
        for start in range(0, len(group), JUDGE_BATCH):
            yield group[start : start + JUDGE_BATCH]


def _operations(working: WorkingSet, formed: _Formed) -> tuple[Operation, ...]:
    """The write's operations; vectors of candidates that formed no version are left out."""
    born = {memory.id for memory in working.formed().values()}
    index = [item for item in formed.index if item.unit is Unit.EVIDENCE or item.record_id in born]
    marks = (MarkFormed(tuple(turn.evidence.id for turn in formed.turns)),) if formed.turns else ()
    return (*working.operations(), *index, *marks)


def _result(
    evidence: Sequence[Evidence], formed: _Formed, decisions: Sequence[Decision], request: Request | None
) -> WriteResult:
    memory_ids = tuple(dict.fromkeys(d.memory_id for d in decisions if d.memory_id is not None))
    born = set(formed.memory_ids)
    if any(memory_id in born for memory_id in memory_ids):
        status = "committed"
    else:
        status = "known" if memory_ids or formed.resent else "raw_only"
    texts = {record.id: record.content for record in evidence}
    return WriteResult(
        evidence_ids=tuple(record.id for record in evidence),
        memory_ids=memory_ids,
        decisions=tuple(decisions),
        status=status,
        passed=tuple(
            Passage(p.evidence_id, p.span.start, p.span.end, texts[p.evidence_id][p.span.start : p.span.end], p.reason)
            for p in formed.passed
        ),
        request_id=request.id if request is not None else None,
    )


class _Watch:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start
