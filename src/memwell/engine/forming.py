"""Forming: from stored evidence to one plan of decisions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from memwell.domain.decision import Candidate, Decision
from memwell.domain.evidence import Evidence, EvidenceStatus, Speaker, Target
from memwell.domain.jobs import Job
from memwell.domain.memory import Source
from memwell.domain.plan import FinishJob, IndexRecord, MarkFormed, Operation, Plan, Request, Unit
from memwell.domain.rights import interpretable
from memwell.domain.scope import Scope
from memwell.domain.segments import clauses, sentences
from memwell.engine.calls import Errand, PassingNotes, on_behalf, target_of
from memwell.engine.compile import candidates as compile_candidates
from memwell.engine.indexing import embed, first_rows, index_operation, indexable_evidence, indexable_memory
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
from memwell.engine.watch import Watch
from memwell.engine.working import WorkingSet
from memwell.errors import PreconditionError, StaleDecisionError

# Tries against changing heads; the last one holds the scope lock.
TRIES = 3
# Candidates judged together.
JUDGE_BATCH = 12
# Earlier user turns that extraction may read to resolve references.
CONTEXT_TURNS = 5


@dataclass(frozen=True, slots=True)
class Material:
    """What is to be formed, and on whose request.

    Attributes:
        evidence: the stored messages of one write, in order.
        request: finished by the plan that stores what was formed.
        job: finished by it too.
    """

    scope: Scope
    session_id: str
    evidence: Sequence[Evidence]
    request: Request | None = None
    job: Job | None = None


@dataclass(frozen=True, slots=True)
class _Extracted:
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
class Forming:
    """Extract, embed, decide, apply: the part of a write that may be done later.

    Args:
        abbreviations: words whose full stop ends no sentence.
        joint: what separates clauses besides punctuation.
        local_judge: decides about what may not leave this machine, where ``judge`` is elsewhere.
    """

    store: Store
    embedder: Embedder
    extractor: Extractor
    judge: Judge
    clock: Clock
    ids: Ids
    abbreviations: frozenset[str] = field(default_factory=frozenset)
    joint: re.Pattern[str] | None = None
    local_judge: Judge | None = None

    def form(self, material: Material, watch: Watch | None = None) -> WriteResult:
        """Form memories and store them in one plan.

        Raises:
            ExtractionError, EmbeddingError, JudgeError, BudgetError, DecisionContextError, DecisionContractError,
            StaleDecisionError: nothing was stored; it may be repeated.
            LeaseLostError: somebody else has taken the job over.
        """
        watch = watch or Watch()
        notes = PassingNotes() if material.job is None else self.store.queue.notes(material.job)
        with on_behalf(Errand(material.scope, notes)):
            with watch.step("extract"):
                extracted = self._extract(material)
            with watch.step("embed"):
                formed = self._embed(extracted)
            with watch.step("decide"):
                return self._decide(material, formed)

    def _extract(self, material: Material) -> _Extracted:
        evidence = material.evidence
        with self.store.view() as view:
            done = view.formed(record.id for record in evidence)
            fresh = [
                record
                for record in evidence
                if record.id not in done and record.speaker.supports_memories and interpretable(record, Target.LOCAL)
            ]
            if not fresh:
                return _Extracted((), (), (), resent=bool(done))
            limit = len(evidence) + 2 * CONTEXT_TURNS
            before = view.recent(material.scope, material.session_id, before=fresh[0].occurred_at, limit=limit)
            corrections = view.traces(material.scope).citing(record.id for record in fresh)
        # What was stored later is left out, so that another attempt asks the same and finds the answer it has.
        context = [record for record in before if record.id < fresh[0].id and _tells(record)]
        turns = tuple(self._turn(record) for record in fresh)
        extraction = self.extractor.extract(turns, context[-CONTEXT_TURNS:])
        candidates = compile_candidates(turns, extraction.proposals)
        taken = [source for memory in corrections for source in memory.sources]
        left = tuple(candidate for candidate in candidates if not any(_overlaps(candidate, other) for other in taken))
        return _Extracted(turns, left, extraction.passed, resent=bool(done))

    def _turn(self, record: Evidence) -> Turn:
        spans = sentences(record.content, self.abbreviations)
        segments = tuple(clause for span in spans for clause in clauses(record.content, span, self.joint))
        return Turn(record, spans, segments)

    def _embed(self, extracted: _Extracted) -> _Formed:
        candidates = extracted.candidates
        memory_ids = tuple(self.ids.new("mem") for _ in candidates)
        statements = [
            indexable_memory(memory_id, candidate) for memory_id, candidate in zip(memory_ids, candidates, strict=True)
        ]
        target = target_of(self.embedder)
        stays = {turn.evidence.id for turn in extracted.turns if not interpretable(turn.evidence, target)}
        sources = [indexable_evidence(turn.evidence) for turn in extracted.turns if turn.evidence.id not in stays]
        sent = [
            item
            for item, candidate in zip(statements, candidates, strict=True)
            if not any(source.evidence_id in stays for source in candidate.sources)
        ]
        rows = embed(self.embedder, (text for item in (*sent, *sources) for text in item.texts))
        return _Formed(
            turns=extracted.turns,
            candidates=candidates,
            passed=extracted.passed,
            resent=extracted.resent,
            vectors=first_rows(statements, rows, self.embedder.dimensions),
            index=tuple(index_operation(item, self.embedder.model, rows) for item in (*sources, *sent)),
            memory_ids=memory_ids,
        )

    def _decide(self, material: Material, formed: _Formed) -> WriteResult:
        plan_id = self.ids.new("plan")
        for _ in range(TRIES - 1):
            try:
                return self._try(material, formed, plan_id, lock=None)
            except PreconditionError:
                continue
        with self.store.lock_scope(material.scope) as lock:
            try:
                return self._try(material, formed, plan_id, lock=lock)
            except PreconditionError as error:
                raise StaleDecisionError(
                    f"the memories of {material.scope.user_id} kept changing: {error.message}",
                    remedy="repeat the call as it is",
                ) from error

    def _try(self, material: Material, formed: _Formed, plan_id: str, lock: str | None) -> WriteResult:
        scope, request = material.scope, material.request
        now = self.clock.now()
        with self.store.view() as view:
            epoch = view.epoch(scope)
            self._check_rights(view, formed)
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
        result = _result(material.evidence, formed, decisions, request)
        plan = Plan(
            id=plan_id,
            scope=scope,
            at=now,
            operations=_operations(working, formed, material.job),
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
                known = view.outcome(scope, request.id)
                if known is not None and known[1] is not None:
                    return replayed_result(view, known[1], request.id)
        return result

    def _check_rights(self, view: View, formed: _Formed) -> None:
        """Refuse what has been withdrawn or restricted since it was read; the plan door refuses what was erased."""
        stored = view.evidence(turn.evidence.id for turn in formed.turns)
        alive = (record for record in stored.values() if record.status is not EvidenceStatus.ERASED)
        lost = [record.id for record in alive if not interpretable(record, Target.LOCAL)]
        if lost:
            raise StaleDecisionError(
                f"{lost[0]} was withdrawn or restricted while memories were formed from it",
                remedy="repeat the call as it is; what may not be used is left out",
            )

    def _judge_all(self, working: WorkingSet, formed: _Formed) -> list[Decision]:
        turns = {turn.evidence.id: turn.evidence for turn in formed.turns}
        decisions: list[Decision] = []
        for group in _groups(formed.candidates):
            source = turns[formed.candidates[group[0]].sources[0].evidence_id]
            judge = self._judge_of(source)
            working.makers = (self.extractor.name, judge.name)
            target = target_of(judge)
            posed = [working.pose(number, group, source.content, source.preceding, target) for number in group]
            comparisons = [item.comparison for item in posed]
            settled = settle(comparisons, self._verdicts(judge, comparisons))
            decisions.extend(working.carry_out(item, choice) for item, choice in zip(posed, settled, strict=True))
        return decisions

    def _judge_of(self, source: Evidence) -> Judge:
        """The judge; the local one for what may not go where the judge is."""
        return self.judge if interpretable(source, target_of(self.judge)) else self.local_judge or self.judge

    def _verdicts(self, judge: Judge, comparisons: Sequence[Comparison]) -> list[Verdict]:
        """Verdicts in order; the judge sees only what routing leaves open."""
        threshold = None if judge.local else self.embedder.relation_threshold
        verdicts = [routed(comparison, threshold) for comparison in comparisons]
        left = [i for i, verdict in enumerate(verdicts) if verdict is None]
        judged = judge.judge([comparisons[i] for i in left]) if left else []
        for i, verdict in zip(left, judged, strict=False):
            verdicts[i] = verdict
        # Too few or too many are left standing, for ``settle`` to refuse.
        return [verdict for verdict in (*verdicts, *judged[len(left) :]) if verdict is not None]


def _overlaps(candidate: Candidate, taken: Source) -> bool:
    """Whether ``candidate`` would say again what a correction has taken from the message already."""
    return any(
        source.evidence_id == taken.evidence_id and source.start < taken.end and taken.start < source.end
        for source in candidate.sources
    )


def _tells(record: Evidence) -> bool:
    """Whether extraction may read ``record`` beside the turns it is asked about."""
    return record.speaker is Speaker.USER and interpretable(record, Target.LOCAL)


def _groups(candidates: Sequence[Candidate]) -> Iterator[list[int]]:
    """Numbers of the candidates judged together: those of one message, at most ``JUDGE_BATCH``."""
    for _, numbers in groupby(range(len(candidates)), key=lambda i: candidates[i].sources[0].evidence_id):
        group = list(numbers)
        for start in range(0, len(group), JUDGE_BATCH):
            yield group[start : start + JUDGE_BATCH]


def _operations(working: WorkingSet, formed: _Formed, job: Job | None) -> tuple[Operation, ...]:
    """The write's operations; vectors of candidates that formed no version are left out."""
    finished = (FinishJob(job.id, job.token or ""),) if job is not None else ()
    born = {memory.id for memory in working.formed().values()}
    index = [item for item in formed.index if item.unit is Unit.EVIDENCE or item.record_id in born]
    marks = (MarkFormed(tuple(turn.evidence.id for turn in formed.turns)),) if formed.turns else ()
    return (*working.operations(), *index, *marks, *finished)


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
