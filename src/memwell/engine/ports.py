"""Ports: what the use cases need from stores, embedders, extractors, judges, clocks and id makers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memwell.domain.decision import Action, Candidate, Situation
from memwell.domain.evidence import Evidence, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import FormedBy, Kind, MemoryRecord, Polarity, Span, Transition
from memwell.domain.plan import Applied, Plan, Unit
from memwell.domain.scope import Scope
from memwell.domain.validity import Validity
from memwell.engine.calls import Spending
from memwell.engine.queries import PageQuery, Pool, PoolQuery
from memwell.engine.queue import Queue
from memwell.engine.traces import Traces

Matrix = NDArray[np.float32]


class Clock(Protocol):
    def now(self) -> datetime:
        """Current time, UTC, aware."""


class Ids(Protocol):
    def new(self, prefix: str) -> str:
        """A fresh id ``prefix_…``, never given before; later ones sort after earlier ones."""


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

    def aliases(self, scope: Scope) -> list[MemoryRecord]:
        """Current memories that tell names of people, see ``people.ALIAS``."""

    def unformed(self, limit: int) -> list[Evidence]:
        """Up to ``limit`` evidence records, oldest first, from which memories may be formed and have not been."""

    def pending(self, scope: Scope, limit: int) -> list[Evidence]:
        """Up to ``limit`` evidence records of unfinished jobs that nothing has been formed from, newest first."""

    def page(self, query: PageQuery) -> list[MemoryRecord]:
        """Up to ``query.limit`` memories in order."""

    def count(self, scope: Scope, lens: Lens) -> int:
        """Number of memories that ``lens`` sees."""

    def pool(self, scope: Scope, unit: Unit, query: PoolQuery) -> Pool:
        """The contenders, in the order they were stored."""

    def words(self, ids: Iterable[str], model: str) -> dict[str, bytes]:
        """Codes of the telling words of evidence, by id; absent where ``model`` has made none."""

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

    def unindexed(self, unit: Unit, model: str, limit: int, target: Target = Target.LOCAL) -> list[str]:
        """Ids of up to ``limit`` records that lack vectors of ``model`` and may go to ``target``, where that model is.

        Assistant turns need none.
        """

    def stats(self) -> Mapping[str, Any]:
        """Whole-store figures: ``scopes, evidence, unformed, memories, indexable, by_state, ledger, bytes,
        schema, cleanup, staying, jobs, models``; ``cleanup`` is ``pending`` where ``Store.clean`` is due, else
        ``complete``; ``staying`` counts the indexable that may not leave this machine, ``jobs`` the unfinished ones by
        state, ``models`` gives the ``dimensions`` of each and how many ``memories`` and ``evidence`` it has indexed.
        """


class Store(Protocol):
    """The plan door and the snapshots behind it. Safe for threads; several processes may share one store."""

    @property
    def queue(self) -> Queue:
        """The claims on its jobs."""

    @property
    def spending(self) -> Spending:
        """Its account book of model calls."""

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

    def scopes(self) -> list[Scope]:
        """Every scope of which anything is kept, if only tombstones, by application, user and agent."""

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
            Shape and norm as given; the very ``vectors`` where the embedder knows nothing better.
        """


@runtime_checkable
class Caching(Protocol):
    """An embedder that keeps vectors it has made in memory."""

    def forget(self) -> None:
        """Drop them all: texts that they were made of are erased."""


@runtime_checkable
class AnswerCalibrated(Protocol):
    """An embedder for which it is known how near to a question an answer is.

    Attributes:
        answer_threshold: similarity below which a text answers no question. With embedders that do not tell, a search
            returns the nearest, however far.
        stranger_threshold: similarity below which a text answers no question about somebody whom no text names.
    """

    answer_threshold: float
    stranger_threshold: float


@runtime_checkable
class WordEmbedder(Embedder, Protocol):
    """An embedder that also tells what each telling word of a text means where it stands.

    A word of a question is compared with the words of a text one by one: so a text is found by the one word that
    answers, whatever else it tells.

    Attributes:
        word_bits: length of a word's code, a multiple of 8. Codes of different models are never compared.
    """

    word_bits: int

    def passages_with_words(self, texts: Sequence[str]) -> tuple[Matrix, Sequence[bytes]]:
        """What ``Embedder.passages`` gives, and for each text the codes of its telling words, end to end: the signs."""

    def query_with_words(self, text: str) -> tuple[Matrix, Matrix]:
        """What ``Embedder.query`` gives, and the question's telling words, shape ``(words, word_bits)``, normalised."""


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
        part: span within the chosen clauses that alone states something ("my vegan daughter" in a question); by default
            all of them do.
        lead: span of the words that the chosen clause elides ("I" in "I live here and hate rain"), put before it.
        confirmed: span of ``evidence.preceding``, the assistant's words that this short reply confirms; they become the
            content.
        occurred_at: one unambiguous event date; else ``time_expression``, the source's own phrase.
    """

    evidence_id: str
    unit: str
    chosen: tuple[int, ...]
    kind: Kind = Kind.FACT
    part: Span | None = None
    lead: Span | None = None
    confirmed: Span | None = None
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
        likeness: cosine to the candidate's target query; ``None`` where the embedder knows no better one than the
            candidate's vector (see ``Embedder.target_queries``).
        speaker: name of who said it; ``None`` for the user and for whom no name is known.
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
    speaker: str | None = None


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
        asks_several: it asks for what was told at several times ("Where has Ana been?").
        names: capitalised or otherwise marked names in it, as written.
        people: names of those whom it asks about ("What does Ana paint?"), as written.
        periods: dates it names, as half-open UTC periods.
    """

    text: str
    terms: tuple[str, ...]
    about_owner: bool = False
    about_past: bool = False
    asks_several: bool = False
    names: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    periods: tuple[Validity, ...] = ()


class QuestionReader(Protocol):
    def read(self, text: str, at: datetime) -> Question:
        """Read a question asked at ``at`` (relative dates count from there). Pure and fast (well under 1 ms)."""
