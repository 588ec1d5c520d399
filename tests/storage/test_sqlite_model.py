"""SQLite on a real file against the reference store: random plans, valid and not, then everything is compared."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memwell.domain.command import Command
from memwell.domain.evidence import Permissions, Speaker, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Kind, Links, Source, Span, State
from memwell.domain.plan import (
    AddEvidence,
    AddMemory,
    AddSources,
    Bury,
    EraseEvidence,
    EraseMemory,
    MarkFormed,
    Mute,
    Operation,
    Permit,
    Plan,
    Redact,
    Request,
    Retire,
    Unit,
    Withdraw,
)
from memwell.domain.text import query_terms
from memwell.domain.tombstone import Tombstone
from memwell.domain.validity import Validity
from memwell.engine.ports import Store
from memwell.engine.queries import PageQuery, Pool, PoolEntry, PoolQuery
from memwell.errors import MemwellError
from memwell.storage.memory import MemoryStore
from memwell.storage.sqlite import SqliteStore
from memwell.testing.doubles import ALICE, BOB, START, FakeClock, HashEmbedder, make_evidence, make_index, make_memory

MODELS = (HashEmbedder(8, model="a"), HashEmbedder(12, model="b"))
WORDS = ("tea", "teas", "running", "Lyon", "茶", "绿茶", "上海", "café", "no")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
# Of a question of more terms than count, both stores must choose the same.
MORE_WORDS = (*WORDS, *(chr(code) for code in range(ord("a"), ord("q"))))
LONG_TEXTS = st.lists(st.sampled_from(MORE_WORDS), min_size=10, max_size=24, unique=True).map(" ".join)
SCOPES = st.sampled_from((ALICE, BOB))
SPEAKERS = st.sampled_from((Speaker.USER, Speaker.USER, Speaker.OBSERVED, Speaker.ASSISTANT))
KINDS = st.sampled_from((Kind.FACT, Kind.EVENT, Kind.PREFERENCE))
PERMISSIONS = st.builds(Permissions, local=st.booleans() | st.just(True), cloud=st.booleans())
# Few moments, so that bounds are often met exactly.
HOURS = st.integers(-3, 3).map(lambda hours: START + timedelta(hours=hours))
LENSES = st.builds(
    Lens,
    now=HOURS,
    as_of=st.none() | HOURS,
    known_at=st.none() | HOURS,
    include_past=st.booleans(),
    target=st.sampled_from(Target),
    kinds=st.none() | st.sets(KINDS).map(frozenset),
)
# Those that look at the present again and again are what a store keeps the view of.
PRESENT = st.builds(Lens, now=HOURS, include_past=st.booleans(), target=st.sampled_from(Target))
PERIODS = st.lists(
    st.builds(lambda start, hours: Validity(start, start + timedelta(hours=hours)), HOURS, st.integers(1, 3)),
    max_size=2,
)
RETIRED = st.sampled_from((State.SUPERSEDED, State.ENDED, State.RETRACTED, State.ARCHIVED, State.CURRENT))
RELATIONS = st.sampled_from(("supersedes", "corrects", "conflicts_with", "derived_from", "superseded_by"))


class TwoStores(RuleBasedStateMachine):
    """Carries every plan out on both stores and expects the same answer or the same refusal.

    The file is open twice, as in two processes; plans come through one or the other, and both are asked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "memories.db"
        self.model: Store = MemoryStore(clock=self.clock)
        self.sqlite: Store = SqliteStore(self.path, clock=self.clock)
        self.other: Store = SqliteStore(self.path, clock=self.clock)
        self.plans: list[Plan] = []
        self.number = 0

    def teardown(self) -> None:
        assert self.sqlite.check() == []
        assert self.model.check() == []
        self.sqlite.close()
        self.other.close()
        self.folder.cleanup()

    def apply(self, *operations: Operation, plan: Plan | None = None, **fields: Any) -> None:
        if plan is None:
            fields.setdefault("scope", ALICE)
            plan = Plan(id=self.fresh("plan"), at=self.clock.now(), operations=operations, **fields)
        answers = []
        for store in (self.model, self.sqlite):
            try:
                answers.append(repr(store.apply(plan)))
            except MemwellError as error:
                answers.append(f"{type(error).__name__}: {error}")
        assert answers[0] == answers[1]
        self.plans.append(plan)

    def fresh(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}_{self.number:03d}"

    def pick(self, data: st.DataObject, unit: Unit) -> str:
        """Id of a stored record, or of none."""
        with self.model.view() as view:
            ids = [key for number in range(1, self.number + 1) for key in (f"{_PREFIX[unit]}_{number:03d}",)]
            stored: list[str] = [*(view.memories(ids) if unit is Unit.MEMORY else view.evidence(ids))]
        return data.draw(st.sampled_from([*stored, "missing"]))

    @initialize(texts=st.lists(TEXTS, min_size=1, max_size=3))
    def begin(self, texts: list[str]) -> None:
        for text in texts:
            self.say(text, ALICE, Speaker.USER, Permissions(), Kind.FACT, None, START, True)
        with self.model.view() as view:
            first = view.evidence(["ev_001"])["ev_001"]
        self.apply(make_index(first, MODELS[1]))

    @rule(
        text=TEXTS | LONG_TEXTS,
        scope=SCOPES,
        speaker=SPEAKERS,
        permissions=PERMISSIONS,
        kind=KINDS,
        until=st.none() | HOURS,
        recorded=HOURS,
        indexed=st.booleans(),
    )
    def say(
        self,
        text: str,
        scope: Any,
        speaker: Speaker,
        permissions: Permissions,
        kind: Kind,
        until: Any,
        recorded: Any,
        indexed: bool,
    ) -> None:
        evidence = make_evidence(
            self.fresh("ev"),
            text,
            scope=scope,
            speaker=speaker,
            permissions=permissions,
            name="Zoë",
            session_id=f"s{self.number % 3}",
            occurred_at=START - timedelta(hours=self.number % 5),
            recorded_at=recorded,
        )
        subject = "user" if self.number % 4 else "Ann"
        memory = make_memory(
            self.fresh("mem"), evidence, kind=kind, valid_until=until, subject=subject, attribute="home"
        )
        vectors = [make_index(evidence, MODELS[0]), make_index(memory, MODELS[0], (0, len(text)), (0, 1))]
        self.apply(AddEvidence(evidence), AddMemory(memory), *(vectors if indexed else []), scope=scope)

    @rule(data=st.data(), text=TEXTS, relation=RELATIONS, retire=st.none() | RETIRED, scope=SCOPES, late=st.booleans())
    def relate(
        self, data: st.DataObject, text: str, relation: str, retire: State | None, scope: Any, late: bool
    ) -> None:
        target = self.pick(data, Unit.MEMORY)
        evidence = make_evidence(self.fresh("ev"), text, scope=scope, recorded_at=self.clock.now())
        links = Links(**{relation: (target,)})
        state = State.HISTORICAL if late else State.CURRENT
        memory = make_memory(self.fresh("mem"), evidence, links=links, state=state)
        retirement = [Retire(target, self.revision(target), retire, "override", self.clock.now())] if retire else []
        self.apply(AddEvidence(evidence), *retirement, AddMemory(memory), make_index(memory, MODELS[0]), scope=scope)

    @rule(data=st.data(), state=RETIRED, scope=SCOPES, stale=st.booleans(), until=st.none() | HOURS)
    def retire(self, data: st.DataObject, state: State, scope: Any, stale: bool, until: Any) -> None:
        target = self.pick(data, Unit.MEMORY)
        self.apply(Retire(target, self.revision(target) - stale, state, "delete", until), scope=scope)

    @rule(data=st.data(), scope=SCOPES, end=st.integers(0, 12))
    def repeat(self, data: st.DataObject, scope: Any, end: int) -> None:
        target, evidence = self.pick(data, Unit.MEMORY), self.pick(data, Unit.EVIDENCE)
        self.apply(AddSources(target, self.revision(target), (Source(evidence, 0, end, START),)), scope=scope)

    @rule(data=st.data(), permissions=PERMISSIONS, scope=SCOPES, stale=st.booleans())
    def permit(self, data: st.DataObject, permissions: Permissions, scope: Any, stale: bool) -> None:
        key = self.pick(data, Unit.EVIDENCE)
        with self.model.view() as view:
            record = view.evidence([key]).get(key)
        known = record.permissions if record and not stale else Permissions()
        self.apply(Permit(key, permissions, known), scope=scope)

    @rule(data=st.data(), scope=SCOPES, muted=st.booleans())
    def mute(self, data: st.DataObject, scope: Any, muted: bool) -> None:
        target = self.pick(data, Unit.MEMORY)
        self.apply(Mute(target, self.revision(target), muted), scope=scope)

    @rule(data=st.data(), scope=SCOPES)
    def withdraw(self, data: st.DataObject, scope: Any) -> None:
        self.apply(Withdraw(self.pick(data, Unit.EVIDENCE)), scope=scope)

    @rule(data=st.data(), scope=SCOPES, whole=st.booleans(), wide=st.booleans(), end=st.integers(1, 9))
    def erase(self, data: st.DataObject, scope: Any, whole: bool, wide: bool, end: int) -> None:
        key = self.pick(data, Unit.EVIDENCE)
        with self.model.view() as view:
            citing = view.traces(scope).citing([key])
        memories = [EraseMemory(memory.id, memory.revision) for memory in citing] if wide else []
        words = EraseEvidence(key) if whole else Redact(key, (Span(0, end),), preceding=True)
        self.apply(*memories, words, scope=scope, command=Command(self.fresh("cmd"), "forget", "me", (key,), "", {}))

    @rule(data=st.data(), scope=SCOPES, unit=st.sampled_from(Unit))
    def bury(self, data: st.DataObject, scope: Any, unit: Unit) -> None:
        self.apply(Bury(Tombstone(self.fresh(_PREFIX[unit]), unit, START)), scope=scope)

    @rule(data=st.data(), text=TEXTS, same=st.booleans(), scope=SCOPES)
    def send_again(self, data: st.DataObject, text: str, same: bool, scope: Any) -> None:
        with self.model.view() as view:
            known = view.evidence([self.pick(data, Unit.EVIDENCE)])
        for record in known.values():
            again = make_evidence(
                self.fresh("ev"),
                record.content if same else text,
                scope=scope,
                origin=record.origin,
                speaker=record.speaker,
            )
            self.apply(AddEvidence(again), MarkFormed((again.id,)), scope=scope)

    @rule(data=st.data(), unit=st.sampled_from(Unit), model=st.sampled_from(MODELS), scope=SCOPES, torn=st.booleans())
    def index(self, data: st.DataObject, unit: Unit, model: HashEmbedder, scope: Any, torn: bool) -> None:
        key = self.pick(data, unit)
        with self.model.view() as view:
            record = view.memories([key]).get(key) or view.evidence([key]).get(key)
        if record is not None:
            used = HashEmbedder(9, model=model.model) if torn else model
            self.apply(make_index(record, used, (0, 1), (0, len(record.content))), scope=scope)

    @rule(
        request=st.sampled_from("rs"),
        digest=st.sampled_from("hh2"),
        done=st.booleans(),
        scope=SCOPES,
    )
    def ask(self, request: str, digest: str, done: bool, scope: Any) -> None:
        self.apply(request=Request(request, digest), outcome={"n": self.number} if done else None, scope=scope)

    @rule(epoch=st.integers(0, 9), scope=SCOPES)
    def expect(self, epoch: int, scope: Any) -> None:
        self.apply(expected_epoch=epoch, scope=scope)

    @precondition(lambda self: self.plans)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        self.apply(plan=data.draw(st.sampled_from(self.plans)))

    @rule(hours=st.sampled_from((1, 1, 2, 170)))
    def wait(self, hours: int) -> None:
        self.clock.advance(timedelta(hours=hours))

    @rule()
    def reopen(self) -> None:
        self.sqlite.close()
        self.sqlite = SqliteStore(self.path, clock=self.clock)

    @rule()
    def change_sides(self) -> None:
        self.sqlite, self.other = self.other, self.sqlite

    @rule()
    def clean(self) -> None:
        assert self.sqlite.clean()
        with self.sqlite.view() as view:
            assert view.stats()["cleanup"] == "complete"

    @rule()
    def rebuild(self) -> None:
        self.sqlite.rebuild()

    @rule(
        scope=SCOPES,
        unit=st.sampled_from(Unit),
        model=st.sampled_from(MODELS),
        text=st.none() | TEXTS,
        words=TEXTS | LONG_TEXTS | st.just(""),
        lens=LENSES | PRESENT,
        limit=st.sampled_from((1, 3, 99)),
        periods=PERIODS,
        positions=st.lists(st.integers(0, 9), max_size=2),
        shares=st.sampled_from(((0.0, 0.0), (0.5, 0.25))),
    )
    def look(
        self,
        scope: Any,
        unit: Unit,
        model: HashEmbedder,
        text: str | None,
        words: str,
        lens: Lens,
        limit: int,
        periods: list[Validity],
        positions: list[int],
        shares: tuple[float, float],
    ) -> None:
        vector = None if text is None else model.query(text)
        terms = query_terms(words)
        query = PoolQuery(lens, 99, model.model, vector, terms, periods, positions, *shares)
        ranked = replace(query, periods=(), positions=())
        with self.model.view() as view:
            expected, contenders = view.pool(scope, unit, query), view.pool(scope, unit, ranked)
            count = view.count(scope, lens)
        for store in (self.sqlite, self.other):
            with store.view() as view:
                found = view.pool(scope, unit, query)
                assert view.count(scope, lens) == count
                best = view.pool(scope, unit, replace(ranked, limit=limit))
            _same_pool(found, expected)
            for score in ("similarity", "keyword"):
                # Where scores differ in the last digit only, the stores may keep another record of equal rank.
                top = sorted((getattr(entry, score) for entry in contenders), reverse=True)[:limit]
                kept = sorted((getattr(entry, score) for entry in best), reverse=True)[:limit]
                assert [max(value, 0) for value in kept] == pytest.approx([max(value, 0) for value in top], abs=1e-5)

    @invariant()
    def the_same_is_stored(self) -> None:
        ids = [f"{prefix}_{number:03d}" for number in range(1, self.number + 1) for prefix in ("ev", "mem")]
        with self.model.view() as one, self.sqlite.view() as two:
            memories = one.memories(ids)
            assert two.memories(ids) == memories
            assert two.evidence(ids) == one.evidence(ids)
            assert two.formed(ids) == one.formed(ids)
            files = {"bytes": 0, "schema": 0, "cleanup": ""}
            assert {**two.stats(), **files} == {**one.stats(), **files}
            for scope in (ALICE, BOB):
                traces, twin = one.traces(scope), two.traces(scope)
                assert [_without_key(stone) for stone in twin.tombstones()] == [
                    _without_key(stone) for stone in traces.tombstones()
                ]
                assert [kept.receipt for kept in twin.receipts()] == [kept.receipt for kept in traces.receipts()]
                assert twin.forming(START) == traces.forming(START)
                assert twin.mentioning(["tea"]) == traces.mentioning(["tea"])
                assert twin.replies(["tea"]) == traces.replies(["tea"])
                assert twin.copies(["茶", "no lyon"]) == traces.copies(["茶", "no lyon"])
                assert two.epoch(scope) == one.epoch(scope)
                for target in (None, *Target):
                    shown = PageQuery(scope, 7, frozenset(State), target=target)
                    assert two.page(shown) == one.page(shown)
                query = PageQuery(scope, 7, frozenset(State))
                assert two.page(query) == one.page(query)
                assert two.recent(scope, "s1", before=START, limit=3) == one.recent(scope, "s1", before=START, limit=3)
                assert two.heads(scope, [("user", "home")]) == one.heads(scope, [("user", "home")])
                for request in "rs":
                    assert two.outcome(scope, request) == one.outcome(scope, request)
            for unit in Unit:
                assert two.unindexed(unit, "a", 9) == one.unindexed(unit, "a", 9)
            for key in list(memories)[-3:]:
                assert two.transitions(key) == one.transitions(key)
                assert {memory.id for memory in two.chain(key)} == {memory.id for memory in one.chain(key)}

    def revision(self, key: str) -> int:
        with self.model.view() as view:
            memory = view.memories([key]).get(key)
        return memory.revision if memory else 1


_PREFIX = {Unit.MEMORY: "mem", Unit.EVIDENCE: "ev"}


def _without_key(stone: Tombstone) -> Tombstone:
    return replace(stone, origin_hash=None, replay_hash=None, hash_key=None)


def _same_pool(found: Pool, expected: Pool) -> None:
    def alike(entries: Pool) -> list[PoolEntry]:
        return [entry._replace(similarity=0.0, keyword=0.0, episode=0) for entry in entries]

    assert alike(found) == alike(expected)
    for entry, wanted in zip(found, expected, strict=True):
        assert entry.similarity == pytest.approx(wanted.similarity, abs=1e-5)
        assert entry.keyword == pytest.approx(wanted.keyword, rel=1e-6)
    # Episodes are cut in the same places, whatever their numbers.
    both = {(entry.episode, wanted.episode) for entry, wanted in zip(found, expected, strict=True)}
    assert len(both) == len({entry.episode for entry in found}) == len({entry.episode for entry in expected})


TestTwoStores = TwoStores.TestCase
TestTwoStores.settings = settings(
    max_examples=20,
    stateful_step_count=25,
    report_multiple_bugs=False,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
