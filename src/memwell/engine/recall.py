"""Recall: answer a question from what is stored. Read-only, one snapshot, no model call, deterministic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memwell.domain.evidence import Evidence, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Kind, Layer, MemoryRecord, Span, State
from memwell.domain.people import USER
from memwell.domain.plan import Unit
from memwell.domain.scope import Scope
from memwell.domain.text import checked_text, is_unspaced, query_terms, terms
from memwell.engine.calls import OUTAGES, Errand, on_behalf
from memwell.engine.items import MemoryItem, RawItem
from memwell.engine.matching import word_matches
from memwell.engine.pending import pending_corrections, statuses
from memwell.engine.people import known_people, with_other_names
from memwell.engine.ports import (
    AnswerCalibrated,
    Clock,
    Embedder,
    Matrix,
    Question,
    QuestionReader,
    Store,
    View,
    WordEmbedder,
)
from memwell.engine.provisional import provisional
from memwell.engine.queries import Pool, PoolQuery
from memwell.engine.ranking import (
    Scores,
    answered,
    contested_first,
    memory_scores,
    narrowness,
    one_of_each_turn_first,
    ranked,
    remaining,
    shown_score,
    turn_scores,
)
from memwell.engine.reading import known_then, quotes_of
from memwell.engine.results import SearchResult
from memwell.engine.seeing import seen
from memwell.engine.vectors import checked, windows
from memwell.engine.weights import Weights
from memwell.errors import BudgetError, EmbeddingError, InputError

MAX_LIMIT = 1_000
# A question; what is longer is a document, and reading it as a question takes time that grows with its square.
MAX_QUERY_BYTES = 8_192
# Records that each signal brings into the running, at least, and for each result asked for.
POOL = 100
POOL_PER_RESULT = 2
# Turns whose words are compared with the question's: the best by all other signals.
MATCHED = 50
# Unformed messages that are looked at, newest first.
UNFORMED = 200
# Scores of verbatim evidence are capped: it is no formed memory.
RAW_SCORE_CAP = 0.5
PROFILE_KINDS = frozenset(kind for kind in Kind if kind.layer is Layer.PROFILE) | {Kind.PERSONA}


@dataclass(frozen=True, slots=True)
class Limits:
    """How many results each group may hold; 0 leaves a group out."""

    memories: int = 5
    profile: int = 5
    procedures: int = 0
    raw: int = 0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_LIMIT:
                raise InputError(f"limit for {name} is {value!r}", remedy=f"use a whole number, 0 to {MAX_LIMIT:,}")


@dataclass(frozen=True, slots=True)
class Recall:
    """The search use case.

    Args:
        weights: what each signal weighs.
        corrects: whether a message says that something was wrong.
    """

    store: Store
    embedder: Embedder
    reader: QuestionReader
    clock: Clock
    weights: Weights
    corrects: Callable[[str], bool]

    def search(
        self,
        scope: Scope,
        query: str,
        *,
        limits: Limits,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        target: Target = Target.LOCAL,
        include_relations: bool = True,
    ) -> SearchResult:
        """Find what answers ``query``.

        Args:
            query: a question in any language, at most ``MAX_QUERY_BYTES`` in UTF-8.
            as_of: ask what held at that moment; otherwise what holds now.
            known_at: ask what the store knew at that moment.
            target: where the text will go; decides which evidence may be used.
            include_relations: let each hit carry what it replaced and what conflicts with it.
        """
        checked_text("query", query, max_bytes=MAX_QUERY_BYTES)
        now = self.clock.now()
        question = self.reader.read(query, as_of or now)
        asked, degraded = self._asked(scope, query)
        lens = Lens(now=now, as_of=as_of, known_at=known_at, target=target, include_past=question.about_past)
        contenders = max(POOL, POOL_PER_RESULT * max(limits.memories, limits.raw, limits.procedures))
        with self.store.view() as view:
            question = with_other_names(question, known_people(view, scope, lens))
            looker = _Looker(
                view, scope, self.embedder, self.weights, question, asked, lens, contenders, include_relations
            )
            turns = looker.turns()
            memories = looker.memories(limits.memories, turns, frozenset(Kind) - {Kind.PROCEDURE})
            profile: tuple[MemoryItem, ...] = ()
            if question.about_owner and limits.profile:
                shown = {item.id for item in memories}
                found = looker.memories(limits.profile + len(shown), turns, PROFILE_KINDS)
                own = [item for item in found if item.id not in shown and item.memory.subject == "user"]
                profile = tuple(own[: limits.profile])
            waiting = view.pending(scope, UNFORMED)
            pending = pending_corrections(view, scope, lens, waiting, self.corrects)
            status = statuses(pending)
            procedures = looker.memories(limits.procedures, turns, frozenset({Kind.PROCEDURE}))
            return SearchResult(
                question=query,
                target=target,
                memories=_marked(memories, status),
                profile=_marked(profile, status),
                procedures=_marked(procedures, status),
                raw=looker.raw(limits.raw, turns),
                degraded=degraded,
                provisional=provisional(waiting, lens, question.terms),
                pending=pending,
            )

    def _asked(self, scope: Scope, query: str) -> tuple[_Asked, str | None]:
        """What the embedder makes of the question; where an endpoint gives nothing, the result says why.

        Keywords go on alone then.

        Raises:
            EmbeddingError: a local embedder failed, or an endpoint gave a vector that cannot be used.
        """
        try:
            with on_behalf(Errand(scope)):
                asked = self._embedded(query)
        except BudgetError as error:
            return _Asked(), error.code
        except EmbeddingError as error:
            if error.code not in OUTAGES:
                raise
            return _Asked(), error.code
        return asked, None

    def _embedded(self, query: str) -> _Asked:
        words = None
        if isinstance(self.embedder, WordEmbedder):
            row, words = self.embedder.query_with_words(query)
        else:
            row = self.embedder.query(query)
        return _Asked(checked(np.asarray(row)[None], self.embedder.dimensions, 1)[0], words)


def _marked(items: tuple[MemoryItem, ...], status: Mapping[str, str]) -> tuple[MemoryItem, ...]:
    if not status:
        return items
    return tuple(replace(item, correction_status=status.get(item.id)) for item in items)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question's vector and its telling words; ``None`` where the embedder gives none."""

    vector: Matrix | None = None
    words: Matrix | None = None


@dataclass(frozen=True, slots=True)
class _Turns:
    """Evidence in the running, the score of each, and whether the question is about people whom nothing names."""

    pool: Pool
    scores: Scores
    of_strangers: bool


@dataclass(frozen=True, slots=True)
class _Looker:
    """One question put to one snapshot."""

    view: View
    scope: Scope
    embedder: Embedder
    weights: Weights
    question: Question
    asked: _Asked
    lens: Lens
    contenders: int
    relations: bool

    def turns(self) -> _Turns:
        """Evidence in the running."""
        pool = self._pool(Unit.EVIDENCE, replace(self.lens, include_past=False), ())
        return _Turns(pool, turn_scores(pool, self.question, self.weights), self._of_strangers(pool))

    def _matched(self, turns: _Turns) -> Scores:
        """Score of each turn, its words compared with the question's one by one for the best of ``turns``.

        Memories do without: what matches in their turn may be a statement beside them, and one that holds no more.
        """
        if self.asked.words is None or not self.weights.words:
            return turns.scores
        near = ranked(turns.pool, turns.scores)[:MATCHED]
        ids: list[str] = turns.pool.record_ids[near].tolist()
        codes = self.view.words(ids, self.embedder.model)
        found = word_matches(self.asked.words, [codes.get(key) for key in ids])
        if found is None:
            return turns.scores
        matches = np.zeros(len(turns.pool))
        matches[near] = found
        return turn_scores(turns.pool, self.question, self.weights, matches)

    def memories(self, limit: int, turns: _Turns, kinds: frozenset[Kind]) -> tuple[MemoryItem, ...]:
        if not limit:
            return ()
        pool = self._pool(Unit.MEMORY, replace(self.lens, kinds=kinds), turns.pool.positions)
        if not self._answered(pool, turns):
            return ()
        about_owner = self.question.about_owner
        scores = memory_scores(pool, turns.pool, turns.scores, self.weights, about_owner=about_owner)
        if about_owner:
            scores = self._with_own(pool, scores, limit)
        order = one_of_each_turn_first(pool, ranked(pool, scores))[:limit]
        places: dict[str, int] = dict(zip(pool.record_ids[order].tolist(), order, strict=True))
        records = self.view.memories(list(places))
        known = contested_first([known_then(self.view, records[key], self.lens.known_at) for key in places])
        quotes = quotes_of(self.view, known)
        related = self._related(known)
        return tuple(
            MemoryItem(
                memory=memory,
                score=shown_score(float(scores[places[memory.id]])),
                quotes=quotes[memory.id],
                previous=tuple(
                    other
                    for j in (*memory.links.supersedes, *memory.links.superseded_by)
                    if (other := related.get(j)) is not None and other.state is not State.CURRENT
                ),
                conflicts=tuple(
                    other
                    for j in memory.links.conflicts_with
                    if (other := related.get(j)) is not None and other.state is State.CURRENT
                ),
            )
            for memory in known
        )

    def _with_own(self, pool: Pool, scores: Scores, limit: int) -> Scores:
        """``scores``, with what the user tells of themself before what is told of others in the same attribute.

        "Where do I live?" is nearer to "Tom lives in Bonn" than to "I moved to Vienna"; Tom's residence shows what is
        asked for.
        """
        if self.lens.as_of is not None:  # only what is current is known by its attribute
            return scores
        first = ranked(pool, scores)[:limit]
        ids: list[str] = pool.record_ids[[i for i in first if not pool.about_user[i]]].tolist()
        told = {key: memory.attribute for key, memory in self.view.memories(ids).items() if memory.attribute}
        own = self.view.heads(self.scope, [(USER, attribute) for attribute in set(told.values())]) if told else []
        places = {key: i for i, key in enumerate(pool.record_ids.tolist())}
        raised = scores.copy()
        for memory in own:
            if (place := places.get(memory.id)) is not None:
                best = max(scores[places[key]] for key, attribute in told.items() if attribute == memory.attribute)
                raised[place] = max(raised[place], np.nextafter(best, np.inf))
        return raised

    def raw(self, limit: int, turns: _Turns) -> tuple[RawItem, ...]:
        if not limit or not self._answered(turns.pool, turns):
            return ()
        scores = self._matched(turns)
        best = ranked(turns.pool, scores)[:limit]
        ids: list[str] = turns.pool.record_ids[best].tolist()
        evidence = self.view.evidence(ids)
        items = []
        for key, score in zip(ids, scores[best].tolist(), strict=True):
            window = self._window(evidence[key])
            items.append(RawItem(evidence[key], min(shown_score(score), RAW_SCORE_CAP), window.start, window.end))
        return tuple(items)

    def _window(self, record: Evidence) -> Span:
        """The window of ``record`` that holds most terms of the question; the first of equals."""
        wanted = set(self.question.terms)
        return max(windows(record.content), key=lambda w: len(wanted & set(terms(record.content[w.start : w.end]))))

    def _answered(self, pool: Pool, turns: _Turns) -> bool:
        if not isinstance(self.embedder, AnswerCalibrated):
            return True
        if turns.of_strangers and pool.similarity.max(initial=0.0) < self.embedder.stranger_threshold:
            return False
        return answered(pool, self.weights, self.embedder.answer_threshold)

    def _of_strangers(self, pool: Pool) -> bool:
        """Whether nobody whom the question asks about by name is ever named, though it is known who talks.

        A user who never told their name may be who is meant; and names are spelt otherwise in other scripts.

        Args:
            pool: the evidence in the running.
        """
        people = self.question.people
        if not people or not len(pool) or self.asked.vector is None:
            return False
        open_lens = replace(self.lens, kinds=None)
        if not pool.speakers.all() and not seen(self.view, open_lens, self.view.heads(self.scope, [(USER, "name")])):
            return False
        named = PoolQuery(
            lens=replace(self.lens, include_past=False),
            limit=1,
            model=self.embedder.model,
            vector=None,
            terms=query_terms(" ".join(people)),
        )
        if len(self.view.pool(self.scope, Unit.EVIDENCE, named)):
            return False
        nearest: str = pool.record_ids[pool.similarity.argmax()]
        unspaced = any(map(is_unspaced, people))
        return is_unspaced(self.view.evidence([nearest])[nearest].content) is unspaced

    def _pool(self, unit: Unit, lens: Lens, positions: Sequence[int] | NDArray[np.int64]) -> Pool:
        query = PoolQuery(
            lens=lens,
            limit=self.contenders,
            model=self.embedder.model,
            vector=self.asked.vector,
            terms=self.question.terms,
            periods=self.question.periods,
            positions=positions,
            context=self.weights.context * remaining(narrowness(self.question, self.weights), self.weights),
            absent=self.weights.absent,
        )
        return self.view.pool(self.scope, unit, query)

    def _related(self, memories: Sequence[MemoryRecord]) -> Mapping[str, MemoryRecord]:
        if not self.relations:
            return {}
        ids = {i for m in memories for i in (*m.links.supersedes, *m.links.superseded_by, *m.links.conflicts_with)}
        if not ids:
            return {}
        open_lens = replace(self.lens, as_of=None, include_past=True, kinds=None)
        return {memory.id: memory for memory in seen(self.view, open_lens, self.view.memories(ids).values())}
