"""Ports: what the use cases need from stores, embedders, extractors, judges, clocks and id makers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memwell.domain.decision import Action, Candidate, Situation
from memwell.domain.evidence import Evidence, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import FormedBy, Kind, MemoryRecord, Polarity, Span, State, Transition
from memwell.domain.plan import Applied, Plan, Unit
from memwell.domain.scope import Scope
from memwell.domain.validity import Validity
from memwell.engine.traces import Traces

Matrix = NDArray[np.float32]


class Clock(Protocol):
    def now(self) -> datetime:
        """Current time, UTC, aware."""


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """A fresh id ``prefix_…``, never given before; later ones sort after earlier ones."""


# --- stores ---------------------------------------------------------------------------------------------------------


class PoolEntry(NamedTuple):
    """One record in the running for a question.

    Attributes:
        similarity: cosine to the question's vector, best window; 0 where the record has no vector of the model.
        keyword: BM25 as a share of the highest reachable, 0 to 1; evidence also gets half the share of each of the two
            records before it in its episode, so at most 2.
        session_id, position: the session and the order within the store of its (first) evidence.
        said_at: when its (first) evidence was said, in seconds since 1970.
        episode: evidence of one number was said in one session without a long pause; 0 for memories.
        about_user: whether its subject is the user.
        intact: every memory of its turn is visible, so that what the whole turn says may speak for it.
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
    """

    lens: Lens
    limit: int
    model: str = ""
    vector: Matrix | None = None
    terms: Sequence[str] = ()
    periods: Sequence[Validity] = ()
    positions: Sequence[int] = ()


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


class View(Protocol):
    """One consistent, read-only snapshot of a store."""

    def epoch(self, scope: Scope) -> int:
        """Epoch of the scope; 0 before its first memory."""

    def memories(self, ids: Iterable[str]) -> dict[str, MemoryRecord]:
        """Memories by id, of any scope; unknown ids are absent."""

    def evidence(self, ids: Iterable[str]) -> dict[str, Evidence]:
        """Evidence by id, of any scope; unknown ids are absent."""

    def evidence_by_origin(self, scope: Scope, origins: Iterable[str]) -> dict[str, Evidence]:
        """Evidence by origin."""

    def formed(self, evidence_ids: Iterable[str]) -> set[str]:
        """Those ids from which memories have been formed already (see ``MarkFormed``)."""

    def heads(self, scope: Scope, keys: Iterable[tuple[str, str]]) -> list[MemoryRecord]:
        """Current memories whose ``(subject, attribute)`` is among ``keys``."""

    def unformed(self, limit: int) -> list[Evidence]:
        """Up to ``limit`` evidence records, oldest first, from which memories may be formed and have not been."""

    def page(self, query: PageQuery) -> list[MemoryRecord]:
        """Up to ``query.limit`` memories in order."""

    def count(self, scope: Scope, lens: Lens) -> int:
        """Number of memories that ``lens`` sees."""

    def pool(self, scope: Scope, unit: Unit, query: PoolQuery) -> list[PoolEntry]:
        """The contenders, in the order they were stored."""

    def recent(self, scope: Scope, session_id: str, *, before: datetime, limit: int) -> list[Evidence]:
        """The last ``limit`` evidence records of a session said at or before ``before``, oldest first."""

    def transitions(self, memory_id: str) -> tuple[Transition, ...]:
        """All transitions of a memory in revision order."""

    def chain(self, memory_id: str) -> list[MemoryRecord]:
        """The memory and all it is linked with by superseding or correcting, transitively, in no set order."""

    def outcome(self, scope: Scope, request_id: str) -> tuple[str, Mapping[str, Any] | None] | None:
        """``(input_hash, outcome)`` journalled for a request; the outcome is ``None`` while it is unfinished."""

    def traces(self, scope: Scope) -> Traces:
        """Where the words of the scope's records have gone, and what was done to them."""

    def unindexed(self, unit: Unit, model: str, limit: int) -> list[str]:
        """Ids of up to ``limit`` records that lack vectors of ``model``. Assistant turns need none."""

    def stats(self) -> Mapping[str, Any]:
        """Whole-store figures: ``scopes, evidence, unformed, memories, indexable, by_state, ledger, bytes,
        schema, cleanup, models``; ``cleanup`` is ``pending`` where ``Store.clean`` is due, else ``complete``;
        ``models`` gives the ``dimensions`` of each and how many ``memories`` and ``evidence`` it has indexed.
        """


class Store(Protocol):
    """The plan door and the snapshots behind it. Safe for threads; several processes may share one store."""

    def apply(self, plan: Plan) -> Applied:
        """Carry out ``plan`` in one transaction, once.

        A plan id or a finished request seen before changes nothing and says so (``replayed``).

        Raises:
            PreconditionError: the scope's epoch or a record's revision has moved on.
            IdempotencyConflictError: the request id is known with another input hash.
            CommandConflictError: the command id is known with another input.
            EvidenceConflictError, PlanRejectedError: see ``resolve.resolve``.
            StoreBusyError: another planner holds the scope lock, or the file stays locked.
            StorageError: the store cannot be written; nothing was.
        """

    def view(self) -> AbstractContextManager[View]:
        """Open a snapshot."""

    def lock_scope(self, scope: Scope) -> AbstractContextManager[str]:
        """Hold the scope against other writers; gives the token for ``Plan.lock``. Expires if its owner dies."""

    def rebuild(self) -> None:
        """Drop the keyword index and derived rows and make them again from the records, to equal content."""

    def clean(self) -> bool:
        """Remove what erasing left behind in logs and indexes; whether nothing is left, so that no retry is due."""

    def check(self) -> list[str]:
        """Problems found by a whole check of integrity and invariants; empty when sound."""

    def close(self) -> None:
        """Release files and threads; safe to call twice."""


# --- providers ------------------------------------------------------------------------------------------------------


class Embedder(Protocol):
    """Text to vectors.

    Attributes:
        model: name and version; vectors of different models are never compared.
        dimensions: length of each vector.
        relation_threshold: similarity below which two statements are unrelated, calibrated for this model.
    """

    model: str
    dimensions: int
    relation_threshold: float

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors of stored texts, shape ``(len(texts), dimensions)``, L2-normalised."""

    def query(self, text: str) -> Matrix:
        """Vector of a question, shape ``(dimensions,)``, L2-normalised."""

    def target_queries(self, vectors: Matrix) -> Matrix:
        """With what to look for the memories that statements may act on.

        Args:
            vectors: passage vectors of the statements, shape ``(statements, dimensions)``.

        Returns:
            Shape and norm as given; ``vectors`` themselves where the embedder knows nothing better.
        """


@dataclass(frozen=True, slots=True)
class Turn:
    """One message as extractors see it: its evidence and the numbered sentences and segments (clauses) of it."""

    evidence: Evidence
    sentences: tuple[Span, ...]
    segments: tuple[Span, ...]

    def text(self, span: Span) -> str:
        return self.evidence.content[span.start : span.end]


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an extractor proposes; the engine turns it into a ``Candidate`` and derives the content from the spans.

    Attributes:
        evidence_id: the turn it is from.
        unit: ``"sentence"`` or ``"segment"``, which list ``chosen`` counts in.
        chosen: indexes into that list, adjacent and ascending.
        lead: span of the words that the chosen clause elides ("I" in "I live here and hate rain"), put before it.
        occurred_at: one unambiguous event date; else ``time_expression``, the source's own phrase.
    """

    evidence_id: str
    unit: str
    chosen: tuple[int, ...]
    kind: Kind = Kind.FACT
    lead: Span | None = None
    subject: str = "user"
    attribute: str | None = None
    value: str | None = None
    polarity: Polarity = Polarity.POSITIVE
    hedged: bool = False
    confidence: float = 1.0
    formed_by: FormedBy = FormedBy.STATED
    occurred_at: datetime | None = None
    time_expression: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Passed:
    """A sentence from which nothing is proposed, with the reason in words ("question", "hypothetical")."""

    evidence_id: str
    span: Span
    reason: str


@dataclass(frozen=True, slots=True)
class Extraction:
    proposals: tuple[Proposal, ...]
    passed: tuple[Passed, ...] = ()


class Extractor(Protocol):
    """Messages to proposals. ``name`` is its name and version."""

    name: str

    def extract(self, turns: Sequence[Turn], context: Sequence[Evidence]) -> Extraction:
        """Propose statements from the new ``turns`` (user, observed, import); ``context`` only resolves references."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a candidate is compared with: a current memory, or an earlier candidate of the same write.

    Attributes:
        memory_id: ``None`` for an earlier candidate.
        said_at: the latest time it was said.
        similarity: cosine to the candidate.
        likeness: cosine to the candidate's target query (see ``Embedder.target_queries``); ``None`` if not known.
    """

    memory_id: str | None
    content: str
    kind: Kind
    subject: str
    attribute: str | None
    value: str | None
    polarity: Polarity
    said_at: datetime
    similarity: float
    valid_until: datetime | None = None
    likeness: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One candidate, the message it is from, and the heads that it may act on, likeliest first.

    ``situations[i]`` is the situation if ``heads[i]`` is chosen; it decides the allowed actions.
    """

    candidate: Candidate
    message: str
    heads: tuple[Head, ...]
    situations: tuple[Situation, ...]
    preceding: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's answer: an action, indexes into ``Comparison.heads`` (none, one; several only with CORRECT)."""

    action: Action
    targets: tuple[int, ...]
    confidence: float
    reason: str


class Judge(Protocol):
    """Decides how candidates relate to what is current.

    Attributes:
        name: name and version.
        local: costs milliseconds and no money, so it is shown every candidate, also those that resemble nothing.
    """

    name: str
    local: bool

    def judge(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        """One verdict per comparison, in order.

        An earlier candidate of the batch may be a target; verdicts are made in order, so it is settled by then.
        """


@dataclass(frozen=True, slots=True)
class Question:
    """What a question says about itself.

    Attributes:
        terms: for the keyword index, stop words left out.
        about_owner: it asks about the user themself ("where do I live", "我住哪").
        about_past: it asks what used to be.
        names: capitalised or otherwise marked names in it, as written.
        periods: dates it names, as half-open UTC periods.
    """

    text: str
    terms: tuple[str, ...]
    about_owner: bool = False
    about_past: bool = False
    names: tuple[str, ...] = ()
    periods: tuple[Validity, ...] = ()


class QuestionReader(Protocol):
    def read(self, text: str, at: datetime) -> Question:
        """Read a question asked at ``at`` (relative dates count from there). Pure and fast (well under 1 ms)."""
