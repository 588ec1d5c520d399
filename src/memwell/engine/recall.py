"""Recall: answer a question from what is stored. Read-only, one snapshot, no model call, deterministic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from memwell.domain.evidence import Evidence, Target
from memwell.domain.lens import Lens, sees_memory
from memwell.domain.memory import Kind, Layer, MemoryRecord, Span, State
from memwell.domain.plan import Unit
from memwell.domain.rights import readable
from memwell.domain.scope import Scope
from memwell.domain.text import checked_text, terms
from memwell.engine.items import MemoryItem, RawItem
from memwell.engine.ports import Clock, Embedder, Matrix, PoolEntry, PoolQuery, Question, QuestionReader, Store, View
from memwell.engine.ranking import memory_scores, one_of_each_turn_first, ranked, shown_score, turn_scores
from memwell.engine.reading import known_then, quotes_of
from memwell.engine.results import SearchResult
from memwell.engine.vectors import checked, windows
from memwell.errors import InputError

MAX_LIMIT = 1_000
# Records that each signal brings into the running, at least, and for each result asked for.
POOL = 100
POOL_PER_RESULT = 2
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
            if not isinstance(value, int) or not 0 <= value <= MAX_LIMIT:
                raise InputError(f"limit for {name} is {value!r}", remedy=f"use 0 to {MAX_LIMIT:,}")


@dataclass(frozen=True, slots=True)
class Recall:
    """The search use case."""

    store: Store
    embedder: Embedder
    reader: QuestionReader
    clock: Clock

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
            query: a question in any language.
            as_of: ask what held at that moment; otherwise what holds now.
            known_at: ask what the store knew at that moment.
            target: where the text will go; decides which evidence may be used.
            include_relations: let each hit carry what it replaced and what conflicts with it.
        """
        checked_text("query", query)
        now = self.clock.now()
        question = self.reader.read(query, as_of or now)
        vector = checked(np.asarray(self.embedder.query(query))[None], self.embedder.dimensions, 1)[0]
        lens = Lens(now=now, as_of=as_of, known_at=known_at, target=target, include_past=question.about_past)
        contenders = max(POOL, POOL_PER_RESULT * max(limits.memories, limits.raw, limits.procedures))
        with self.store.view() as view:
            looker = _Looker(view, scope, self.embedder.model, question, vector, lens, contenders, include_relations)
            turns = looker.turns()
            memories = looker.memories(limits.memories, turns, frozenset(Kind) - {Kind.PROCEDURE})
            profile: tuple[MemoryItem, ...] = ()
            if question.about_owner and limits.profile:
                shown = {item.id for item in memories}
                found = looker.memories(limits.profile + len(shown), turns, PROFILE_KINDS)
                own = [item for item in found if item.id not in shown and item.memory.subject == "user"]
                profile = tuple(own[: limits.profile])
            return SearchResult(
                question=query,
                target=target,
                memories=memories,
                profile=profile,
                procedures=looker.memories(limits.procedures, turns, frozenset({Kind.PROCEDURE})),
                raw=looker.raw(limits.raw, turns),
            )


@dataclass(frozen=True, slots=True)
class _Looker:
    """One question put to one snapshot."""

    view: View
    scope: Scope
    model: str
    question: Question
    vector: Matrix
    lens: Lens
    contenders: int
    relations: bool

    def turns(self) -> list[tuple[PoolEntry, float]]:
        """Evidence in the running with its score, best first."""
        pool = self._pool(Unit.EVIDENCE, replace(self.lens, include_past=False), ())
        scores = turn_scores(pool, self.question.periods)
        return [(pool[i], float(scores[i])) for i in ranked(pool, scores)]

    def memories(
        self, limit: int, turns: Sequence[tuple[PoolEntry, float]], kinds: frozenset[Kind]
    ) -> tuple[MemoryItem, ...]:
        if not limit:
            return ()
        positions = [entry.position for entry, _ in turns]
        pool = self._pool(Unit.MEMORY, replace(self.lens, kinds=kinds), positions)
        by_position = {entry.position: score for entry, score in turns}
        scores = memory_scores(pool, by_position, about_owner=self.question.about_owner)
        order = one_of_each_turn_first(pool, ranked(pool, scores))[:limit]
        records = self.view.memories(pool[i].record_id for i in order)
        known = [known_then(self.view, records[pool[i].record_id], self.lens.known_at) for i in order]
        quotes = quotes_of(self.view, known)
        related = self._related(known)
        return tuple(
            MemoryItem(
                memory=memory,
                score=shown_score(float(scores[i])),
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
            for i, memory in zip(order, known, strict=True)
        )

    def raw(self, limit: int, turns: Sequence[tuple[PoolEntry, float]]) -> tuple[RawItem, ...]:
        best = turns[:limit]
        evidence = self.view.evidence(entry.record_id for entry, _ in best)
        items = []
        for entry, score in best:
            record = evidence[entry.record_id]
            window = self._window(record)
            items.append(RawItem(record, min(shown_score(score), RAW_SCORE_CAP), window.start, window.end))
        return tuple(items)

    def _window(self, record: Evidence) -> Span:
        """The window of ``record`` that holds most terms of the question; the first of equals."""
        wanted = set(self.question.terms)
        return max(windows(record.content), key=lambda w: len(wanted & set(terms(record.content[w.start : w.end]))))

    def _pool(self, unit: Unit, lens: Lens, positions: Sequence[int]) -> list[PoolEntry]:
        query = PoolQuery(
            lens=lens,
            limit=self.contenders,
            model=self.model,
            vector=self.vector,
            terms=self.question.terms,
            periods=self.question.periods,
            positions=positions,
        )
        return self.view.pool(self.scope, unit, query)

    def _related(self, memories: Sequence[MemoryRecord]) -> Mapping[str, MemoryRecord]:
        if not self.relations:
            return {}
        ids = {i for m in memories for i in (*m.links.supersedes, *m.links.superseded_by, *m.links.conflicts_with)}
        records = self.view.memories(ids)
        evidence = self.view.evidence({s.evidence_id for m in records.values() for s in m.sources})
        open_lens = replace(self.lens, as_of=None, include_past=True, kinds=None)
        return {
            memory_id: memory
            for memory_id, memory in records.items()
            if sees_memory(open_lens, memory, readable=readable(memory, evidence, self.lens.target))
        }
