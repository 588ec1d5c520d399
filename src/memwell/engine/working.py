"""The working set of one write: what is current as it would be after the decisions made so far.

Decisions of one write are made message by message. Each sees what the earlier ones did, though nothing is stored until
the whole write is applied as one plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memwell.domain.decision import Action, Candidate, Decision, Situation
from memwell.domain.evidence import Target
from memwell.domain.indexed import SPEAKER
from memwell.domain.lens import Lens
from memwell.domain.memory import MemoryRecord, Source, State
from memwell.domain.people import ALIAS, SOMEONE, USER, People, people_of
from memwell.domain.plan import AddMemory, AddSources, Operation, Retire, Shorten, Unit
from memwell.domain.rights import readable
from memwell.domain.scope import Scope
from memwell.engine.ports import Comparison, Head, Matrix, View
from memwell.engine.queries import Pool, PoolQuery
from memwell.engine.settle import Settled
from memwell.engine.versions import new_version

# Heads shown to the judge for each candidate, besides those of the same attribute.
TARGET_LIMIT = 5
# Heads whose likeness to a candidate is known at all; those of the same attribute are shown wherever they lie.
CANDIDATE_LIMIT = 64

# What each retiring action makes of its target.
STATE_AFTER = {
    Action.OVERRIDE: State.SUPERSEDED,
    Action.NEGATE: State.ENDED,
    Action.CORRECT: State.RETRACTED,
    Action.DELETE: State.ARCHIVED,
}


@dataclass(frozen=True, slots=True)
class Posed:
    """A comparison, and what its heads stand for: a memory id, or the number of an earlier candidate."""

    number: int
    comparison: Comparison
    refs: tuple[str | int, ...]


class _Offer(NamedTuple):
    """How likely a candidate acts on a statement, and how alike the two are."""

    likeness: float
    similarity: float


@dataclass
class WorkingSet:
    """Heads of a scope overlaid with what this write adds and retires.

    Args:
        view: the snapshot that decisions are made against.
        candidates: all candidates of the write, in order; ``vectors[i]`` is the vector of ``candidates[i]``, and
            ``target_queries[i]`` the one that finds what it may act on.
        memory_ids: an id for each candidate, used where it forms a memory.
        now: transaction time of the write.
        makers: name and version of the extractor and of the judge.
    """

    view: View
    scope: Scope
    model: str
    candidates: Sequence[Candidate]
    vectors: Matrix
    target_queries: Matrix
    memory_ids: Sequence[str]
    now: datetime
    makers: tuple[str, str]
    _ascribed: dict[int, Candidate] = field(default_factory=dict)
    _heads: dict[str, MemoryRecord] = field(default_factory=dict)
    _drafts: dict[int, MemoryRecord] = field(default_factory=dict)
    _told: list[MemoryRecord] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _standing: list[int] = field(default_factory=list)
    _by_key: dict[tuple[str, str | None], list[int]] = field(default_factory=dict)
    _became: dict[int, str] = field(default_factory=dict)
    _grown: dict[str, list[Source]] = field(default_factory=dict)
    _shortened: dict[str, Shorten] = field(default_factory=dict)
    _retired: dict[str, tuple[Action, datetime | None]] = field(default_factory=dict)

    def pose(
        self,
        number: int,
        group: Sequence[int],
        message: str,
        preceding: str | None,
        target: Target = Target.LOCAL,
    ) -> Posed:
        """The comparison of candidate ``number`` with the nearest heads and with those before it in ``group``.

        Args:
            target: where the comparison goes; memories that may not go there are left out.
        """
        people = self._people()
        candidate = self._ascribed[number] = _ascribed(self.candidates[number], people)
        keys = self._keys(number, people)
        offered = self._offered_memories(number, keys)
        if target is not Target.LOCAL:
            offered = {ref: offer for ref, offer in offered.items() if self._may_go(ref, target)}
        offered.update((i, self._offer(number, i)) for i in group if i < number)
        likeliest = sorted(offered, key=lambda ref: (-offered[ref].likeness, str(ref)))
        refs = tuple(ref for rank, ref in enumerate(likeliest) if rank < TARGET_LIMIT or self._key(ref) in keys)
        candidate = replace(candidate, subject=people.canonical(candidate.subject))
        heads = tuple(self._head(ref, offered[ref], people) for ref in refs)
        situations = tuple(self._situation(candidate, head, ref) for head, ref in zip(heads, refs, strict=True))
        return Posed(number, Comparison(candidate, message, heads, situations, preceding), refs)

    def carry_out(self, posed: Posed, settled: Settled) -> Decision:
        """Note the effect of a settled verdict and return the decision for the result."""
        candidate = posed.comparison.candidate
        chosen = (posed.refs[i] for i in settled.targets)
        resolved = [self._became.get(ref) if isinstance(ref, int) else ref for ref in chosen]
        targets = tuple(target for target in resolved if target is not None and self._stands(target))
        action, reason = settled.action, settled.reason
        if settled.targets and not targets:
            action, reason = Action.SUPPLEMENT, "its target formed nothing"
        memory_id = self._form(posed.number, action, targets, settled.confidence, reason)
        if action.retires:
            until = None
            if action in (Action.OVERRIDE, Action.NEGATE):
                until = self._drafts[posed.number].valid_from
            for target in targets:
                self._retired[target] = (action, until)
                if target in self._numbers:
                    self._standing.remove(self._numbers[target])
        if memory_id is not None:
            self._became[posed.number] = memory_id
        return Decision(
            action=action,
            confidence=settled.confidence,
            reason=reason,
            sources=candidate.sources,
            content=candidate.content,
            targets=targets,
            memory_id=memory_id,
            kind=candidate.kind,
        )

    def formed(self) -> dict[int, MemoryRecord]:
        """The new versions by number of their candidate."""
        return dict(self._drafts)

    def operations(self) -> list[Operation]:
        """New versions first, then grown sources, then retirements."""
        operations: list[Operation] = [AddMemory(memory) for memory in self._drafts.values()]
        revision = {memory.id: 1 for memory in self._drafts.values()}
        revision.update((memory_id, head.revision) for memory_id, head in self._heads.items())
        for memory_id, sources in self._grown.items():
            fresh = [source for source in sources if source not in self._memory(memory_id).sources]
            if fresh:
                operations.append(AddSources(memory_id, revision[memory_id], tuple(fresh)))
                revision[memory_id] += 1
        operations.extend(self._shortened.values())
        for memory_id, (action, until) in self._retired.items():
            begun = self._memory(memory_id).valid_from
            operations.append(
                Retire(
                    memory_id=memory_id,
                    expected_revision=revision[memory_id],
                    state=STATE_AFTER[action],
                    cause=action.value.lower(),
                    valid_until=max(until, begun) if until is not None else None,
                )
            )
        return operations

    def _form(
        self, number: int, action: Action, targets: tuple[str, ...], confidence: float, reason: str
    ) -> str | None:
        candidate = self._ascribed[number]
        if action in (Action.RAW_ONLY, Action.INVALID, Action.DELETE):
            return None
        if action is Action.SKIP:
            self._grown.setdefault(targets[0], []).extend(candidate.sources)
            return targets[0]
        chain = self._chain(targets) if action is Action.HISTORICAL else []
        memory = new_version(
            memory_id=self.memory_ids[number],
            scope=self.scope,
            candidate=candidate,
            action=action,
            targets=[self._memory(target) for target in targets],
            confidence=confidence,
            reason=reason,
            makers=self.makers,
            now=self.now,
            chain=chain,
        )
        self._cut_before(memory, chain)
        self._drafts[number] = memory
        self._numbers[memory.id] = number
        if memory.state is State.CURRENT:
            self._standing.append(number)
        if memory.attribute == ALIAS:
            self._told.append(memory)
        if memory.attribute is not None:
            self._by_key.setdefault((memory.subject, memory.attribute), []).append(number)
        return memory.id

    def _cut_before(self, report: MemoryRecord, chain: Sequence[MemoryRecord]) -> None:
        """Let the version before an older ``report`` end where the report begins."""
        for version in chain:
            past = version.state.was_true and version.state is not State.CURRENT
            until = self._shortened[version.id].valid_until if version.id in self._shortened else version.valid_until
            if past and version.valid_from <= report.valid_from and (until is None or report.valid_from < until):
                self._shortened[version.id] = Shorten(version.id, version.revision, report.valid_from)

    def _chain(self, memory_ids: Sequence[str]) -> list[MemoryRecord]:
        """All stored versions of what these memories are about."""
        stored = (memory_id for memory_id in memory_ids if memory_id in self._heads)
        return [version for memory_id in stored for version in self.view.chain(memory_id)]

    def _stands(self, memory_id: str) -> bool:
        """Whether it would still be current after the decisions so far."""
        return memory_id not in self._retired and self._memory(memory_id).state is State.CURRENT

    def _memory(self, memory_id: str) -> MemoryRecord:
        return self._heads[memory_id] if memory_id in self._heads else self._drafts[self._numbers[memory_id]]

    def _last_said_at(self, memory: MemoryRecord) -> datetime:
        grown = (source.said_at for source in self._grown.get(memory.id, ()))
        return max([memory.last_said_at, *grown])

    @property
    def _mapped(self) -> bool:
        """Whether target queries are more than the vectors themselves."""
        return self.target_queries is not self.vectors

    def _offer(self, number: int, other: int) -> _Offer:
        vector = self.vectors[other]
        return _Offer(float(self.target_queries[number] @ vector), float(self.vectors[number] @ vector))

    def _people(self) -> People:
        """Who is who, by what is stored and by what this write has told so far."""
        told = (*self._aliases, *self._told)
        return people_of(memory for memory in told if memory.id not in self._retired)

    @cached_property
    def _aliases(self) -> list[MemoryRecord]:
        return self.view.aliases(self.scope)

    def _keys(self, number: int, people: People) -> list[tuple[str, str]]:
        """The candidate's attribute with each subject that means the same person; none where it has no attribute."""
        subject, attribute = self._ascribed[number].subject, self._ascribed[number].attribute
        return [] if attribute is None else [(name, attribute) for name in people.subjects(subject)]

    def _offered_memories(self, number: int, keys: Sequence[tuple[str, str]]) -> dict[str | int, _Offer]:
        """The heads and drafts that the candidate likeliest acts on, and all that have one of ``keys``."""
        offered = self._offered_heads(number, keys)
        drafts = [draft for key in keys for draft in self._by_key.get(key, [])]
        if self._standing:
            likeness = (self.vectors[:number] @ self.target_queries[number])[self._standing]
            likeliest = np.argsort(-likeness, kind="stable")[:TARGET_LIMIT].tolist()
            drafts = [self._standing[place] for place in likeliest] + drafts
        offers = {self._drafts[draft].id: self._offer(number, draft) for draft in drafts}
        offered.update((memory_id, offer) for memory_id, offer in offers.items() if self._stands(memory_id))
        return offered

    def _offered_heads(self, number: int, keys: Sequence[tuple[str, str]]) -> dict[str | int, _Offer]:
        pool = self._pool(self.target_queries[number])
        likely = self._nearness(pool)
        near = likely
        if self._mapped:
            places = [key in likely for key in pool.record_ids.tolist()]
            near = self._nearness(self._pool(self.vectors[number], pool.positions[places]))
        best = [memory_id for _, memory_id in sorted((-value, key) for key, value in likely.items())[:TARGET_LIMIT]]
        missing = [memory_id for memory_id in best if memory_id not in self._heads]
        self._heads.update(self.view.memories(missing) if missing else {})
        for memory in self.view.heads(self.scope, keys):
            if memory.id not in self._retired and self._is_read(memory):
                self._heads.setdefault(memory.id, memory)
                best.append(memory.id)
        return {memory_id: _Offer(likely.get(memory_id, 0.0), near.get(memory_id, 0.0)) for memory_id in best}

    def _pool(self, vector: Matrix, positions: Sequence[int] | NDArray[np.int64] = ()) -> Pool:
        """The heads nearest to ``vector`` and at ``positions``, retired ones among them."""
        limit = CANDIDATE_LIMIT + len(self._retired)
        query = PoolQuery(Lens(now=self.now, include_muted=True), limit, self.model, vector, positions=positions)
        return self.view.pool(self.scope, Unit.MEMORY, query)

    def _nearness(self, pool: Pool) -> dict[str, float]:
        """Similarity by id of those in ``pool`` that still stand."""
        found = zip(pool.record_ids.tolist(), pool.similarity.tolist(), strict=True)
        return {key: value for key, value in found if key not in self._retired}

    def _may_go(self, ref: str | int, target: Target) -> bool:
        if isinstance(ref, int):
            return True  # of the same message as the candidate
        return self._is_read(self._memory(ref), target)

    def _is_read(self, memory: MemoryRecord, target: Target = Target.LOCAL) -> bool:
        """Whether ``memory`` may be read at ``target``. What nobody reads must swallow nothing that is said anew."""
        return readable(memory, self.view.evidence(source.evidence_id for source in memory.sources), target)

    def _statement(self, ref: str | int) -> MemoryRecord | Candidate:
        return self._ascribed[ref] if isinstance(ref, int) else self._memory(ref)

    def _key(self, ref: str | int) -> tuple[str, str] | None:
        """Subject and attribute, if it tells one."""
        statement = self._statement(ref)
        return None if statement.attribute is None else (statement.subject, statement.attribute)

    def _head(self, ref: str | int, offer: _Offer, people: People) -> Head:
        statement = self._statement(ref)
        if isinstance(statement, Candidate):
            memory_id, said_at = None, statement.said_at
        else:
            memory_id, said_at = statement.id, self._last_said_at(statement)
        return Head(
            memory_id=memory_id,
            content=statement.content,
            kind=statement.kind,
            subject=people.canonical(statement.subject),
            attribute=statement.attribute,
            value=statement.value,
            polarity=statement.polarity,
            said_at=said_at,
            similarity=offer.similarity,
            valid_until=statement.valid_until,
            likeness=offer.likeness if self._mapped else None,
            speaker=statement.qualifiers.get(SPEAKER),
        )

    def _situation(self, candidate: Candidate, head: Head, ref: str | int) -> Situation:
        if candidate.said_at < head.said_at:
            return Situation.OLDER_SOURCE
        drafted = isinstance(ref, int) or ref not in self._heads
        return Situation.BATCH_TARGET if drafted else Situation.TARGET


def _ascribed(candidate: Candidate, people: People) -> Candidate:
    """``candidate``, told of whom its words begin with where extraction saw no one but the speaker, or just someone."""
    if candidate.subject not in (USER, SOMEONE):
        return candidate
    name = people.opening(candidate.content)
    return candidate if name is None else replace(candidate, subject=name)
