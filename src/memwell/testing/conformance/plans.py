"""Cases about the plan door: whole or not at all, once, and only what the rules allow."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from memwell.domain.evidence import EvidenceStatus, Permissions, Speaker
from memwell.domain.memory import Formation, FormedBy, Kind, Links, Polarity, Source, State
from memwell.domain.plan import AddEvidence, AddMemory, AddSources, MarkFormed, Request, Retire
from memwell.domain.scope import Boundary
from memwell.engine.ports import Store
from memwell.errors import (
    EvidenceConflictError,
    IdempotencyConflictError,
    PlanRejectedError,
    PreconditionError,
)
from memwell.testing.conformance.cases import EMBEDDER, StoreCases, memory
from memwell.testing.doubles import (
    ALICE,
    BOB,
    START,
    FakeClock,
    HashEmbedder,
    make_evidence,
    make_index,
    make_memory,
    make_plan,
    statement,
)

LATER = START + timedelta(hours=1)


def _figures(store: Store) -> dict[str, Any]:
    with store.view() as view:
        return {name: value for name, value in view.stats().items() if name != "bytes"}


class PlanCases(StoreCases):
    def test_every_field_comes_back_as_it_was(self, store: Store) -> None:
        evidence = make_evidence(
            "ev_1",
            "Ich wohne in Zürich 🏔.\r\n  两行",
            speaker=Speaker.IMPORT,
            occurred_at=START - timedelta(days=9, microseconds=1),
            session_id="s 1",
            message_id="m'1",
            name="Zoë",
            content_type="text/markdown",
            preceding="Where do you live?",
            permissions=Permissions(local=True, cloud=False, infer=False),
            valid_from=START,
            valid_until=LATER,
            metadata={"list": [1, 2.5, None, True], "text": "é\ud83d", "deep": {"a": {}}},
        )
        record = make_memory(
            "mem_1",
            evidence,
            kind=Kind.PREFERENCE,
            subject="Zoë",
            attribute="home",
            value="Zürich",
            polarity=Polarity.NEGATIVE,
            qualifiers={"when": "夏天"},
            occurred_at=START - timedelta(days=400),
            time_expression="last year",
            valid_from=START - timedelta(days=2),
            valid_until=LATER,
            formed_by=FormedBy.IMPORTED,
            boundary=Boundary("w", "main", "repo"),
            sources=(Source("ev_1", 4, 9, START), Source("ev_1", 0, 3, LATER)),
            formation=Formation("TEMPORAL", "it says so", 0.25, "x-1", "y-2", ("mem_0",)),
            extra={"steps": ["a", {"b": 0.1}]},
        )
        store.apply(make_plan("p1", AddEvidence(evidence), AddMemory(record)))
        with store.view() as view:
            assert view.evidence(["ev_1", "ev_2"]) == {"ev_1": evidence}
            assert view.memories(["mem_1", "mem_2"]) == {"mem_1": record}

    def test_a_plan_counts_once(self, store: Store) -> None:
        plan = make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER))
        first = store.apply(plan)
        before = _figures(store)
        again = store.apply(plan)
        assert again == replace(first, replayed=True)
        assert _figures(store) == before

    def test_a_refused_plan_changes_nothing(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER)))
        before = _figures(store)
        bad = make_memory("mem_3", make_evidence("ev_missing"))
        with pytest.raises(PlanRejectedError):
            store.apply(make_plan("p2", *statement("2", "I live in Rome", EMBEDDER), AddMemory(bad)))
        assert _figures(store) == before
        store.apply(make_plan("p2", *statement("2", "I live in Rome", EMBEDDER)))

    def test_a_finished_request_is_answered_from_the_journal(self, store: Store) -> None:
        request = Request("r1", "hash-1")
        evidence = make_evidence("ev_1")
        store.apply(make_plan("p1", AddEvidence(evidence), request=request))
        with store.view() as view:
            assert view.outcome(ALICE, "r1") == ("hash-1", None)
            assert view.outcome(BOB, "r1") is None
        done = make_plan("p2", AddMemory(make_memory("mem_1", evidence)), request=request, outcome={"n": ["mem_1"]})
        first = store.apply(done)
        assert not first.replayed
        again = store.apply(make_plan("p3", *statement("3", "else", EMBEDDER), request=request, outcome={}))
        assert (again.replayed, again.seq) == (True, first.seq)
        with store.view() as view:
            assert view.outcome(ALICE, "r1") == ("hash-1", {"n": ["mem_1"]})
            assert view.stats()["memories"] == 1

    def test_a_request_id_with_other_input_is_refused(self, store: Store) -> None:
        store.apply(make_plan("p1", request=Request("r1", "hash-1"), outcome={"nothing": True}))
        with pytest.raises(IdempotencyConflictError, match="r1"):
            store.apply(make_plan("p2", request=Request("r1", "hash-2"), outcome={}))
        store.apply(make_plan("p3", scope=BOB, request=Request("r1", "hash-2"), outcome={}))

    def test_an_empty_outcome_is_an_outcome(self, store: Store) -> None:
        store.apply(make_plan("p1", request=Request("r1", "h"), outcome={}))
        with store.view() as view:
            assert view.outcome(ALICE, "r1") == ("h", {})
        assert store.apply(make_plan("p2", request=Request("r1", "h"), outcome={})).replayed

    def test_requests_are_forgotten_after_a_week(self, store: Store, clock: FakeClock) -> None:
        store.apply(make_plan("p1", request=Request("r1", "hash-1"), outcome={"a": 1}))
        clock.advance(timedelta(days=6, hours=23))
        assert store.apply(make_plan("p2", request=Request("r1", "hash-1"), outcome={"a": 1})).replayed
        clock.advance(timedelta(hours=1))
        with store.view() as view:
            assert view.outcome(ALICE, "r1") is None
        assert not store.apply(make_plan("p3", request=Request("r1", "hash-2"), outcome={"a": 2})).replayed

    def test_each_plan_leaves_a_line_in_the_ledger(self, store: Store) -> None:
        assert store.apply(make_plan("p1")).seq == 1
        applied = store.apply(make_plan("p2", *statement("1", "I live in Lyon", EMBEDDER)))
        assert applied.seq == _figures(store)["ledger"] == 3
        assert store.apply(make_plan("p3", MarkFormed(("ev_1",)))).seq == 4

    def test_the_epoch_moves_with_memories_only(self, store: Store) -> None:
        evidence = make_evidence("ev_1")
        assert store.apply(make_plan("p1", AddEvidence(evidence))).epoch == 0
        assert store.apply(make_plan("p2", AddMemory(make_memory("mem_1", evidence)), expected_epoch=0)).epoch == 1
        assert store.apply(make_plan("p3", make_index(evidence, EMBEDDER))).epoch == 1
        with store.view() as view:
            assert (view.epoch(ALICE), view.epoch(BOB)) == (1, 0)

    def test_a_plan_made_against_an_older_epoch_is_refused(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER), expected_epoch=0))
        with pytest.raises(PreconditionError, match="epoch 1, not 0"):
            store.apply(make_plan("p2", *statement("2", "I live in Rome", EMBEDDER), expected_epoch=0))
        store.apply(
            make_plan("p3", *statement("3", "I live in Rome", EMBEDDER, scope=BOB), scope=BOB, expected_epoch=0)
        )

    def test_a_plan_made_against_an_older_revision_is_refused(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER)))
        store.apply(make_plan("p2", Retire("mem_1", 1, State.ARCHIVED, "delete")))
        with pytest.raises(PreconditionError, match="revision 2, not 1"):
            store.apply(make_plan("p3", Retire("mem_1", 1, State.RETRACTED, "retract")))

    def test_the_same_source_is_kept_once(self, store: Store) -> None:
        store.apply(make_plan("p1", AddEvidence(make_evidence("ev_1", "hello", origin="o"))))
        again = make_evidence("ev_2", "hello", origin="o")
        cites = make_memory("mem_1", again)
        plan = make_plan("p2", AddEvidence(again), AddMemory(cites), MarkFormed(("ev_2",)))
        applied = store.apply(plan)
        assert applied.evidence == {"ev_2": "ev_1"}
        assert store.apply(plan).evidence == {"ev_2": "ev_1"}
        assert memory(store, "mem_1").sources[0].evidence_id == "ev_1"
        with store.view() as view:
            assert view.evidence(["ev_2"]) == {}
            assert view.formed(["ev_1", "ev_2"]) == {"ev_1"}
            assert set(view.evidence_by_origin(ALICE, ["o", "?"])) == {"o"}
            assert view.evidence_by_origin(BOB, ["o"]) == {}

    def test_one_source_with_two_contents_is_refused(self, store: Store) -> None:
        store.apply(make_plan("p1", AddEvidence(make_evidence("ev_1", "hello", origin="o"))))
        with pytest.raises(EvidenceConflictError, match="ev_1"):
            store.apply(make_plan("p2", AddEvidence(make_evidence("ev_2", "other", origin="o"))))
        bobs = make_evidence("ev_3", "other", origin="o", scope=BOB)
        assert store.apply(make_plan("p3", AddEvidence(bobs), scope=BOB)).evidence == {"ev_3": "ev_3"}

    def test_there_and_back_makes_three_versions(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Beijing", EMBEDDER)))
        for number, city in ((2, "Shanghai"), (3, "Beijing")):
            new = statement(str(number), f"I live in {city}", EMBEDDER, links=Links(supersedes=(f"mem_{number - 1}",)))
            at = START + timedelta(days=number)
            retire = Retire(f"mem_{number - 1}", 1, State.SUPERSEDED, "override", at)
            store.apply(make_plan(f"p{number}", *new, retire, at=at))
        first, second, third = (memory(store, f"mem_{number}") for number in (1, 2, 3))
        assert [record.state for record in (first, second, third)] == [
            State.SUPERSEDED,
            State.SUPERSEDED,
            State.CURRENT,
        ]
        assert (first.links.superseded_by, second.links.superseded_by) == (("mem_2",), ("mem_3",))
        assert (second.links.supersedes, third.links.supersedes) == (("mem_1",), ("mem_2",))
        assert first.valid_until == first.retired_at == START + timedelta(days=2)
        with store.view() as view:
            assert {record.id for record in view.chain("mem_2")} == {"mem_1", "mem_2", "mem_3"}
            assert view.chain("mem_9") == []

    def test_every_revision_leaves_a_transition(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER)))
        store.apply(make_plan("p2", Retire("mem_1", 1, State.ARCHIVED, "delete"), at=LATER))
        store.apply(make_plan("p3", Retire("mem_1", 2, State.CURRENT, "restore"), at=LATER))
        with store.view() as view:
            steps = view.transitions("mem_1")
            assert view.transitions("mem_9") == ()
        assert [(step.revision, step.state, step.cause, step.at, step.plan_id) for step in steps] == [
            (1, State.CURRENT, "add", START, "p1"),
            (2, State.ARCHIVED, "delete", LATER, "p2"),
            (3, State.CURRENT, "restore", LATER, "p3"),
        ]
        assert memory(store, "mem_1").retired_at is None

    def test_a_repeat_grows_the_sources(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER)))
        for number in range(2, 6):
            again = make_evidence(f"ev_{number}", "I live in Lyon!")
            grow = AddSources("mem_1", number - 1, (Source(again.id, 0, 14, START),))
            store.apply(make_plan(f"p{number}", AddEvidence(again), grow))
        cited = [source.evidence_id for source in memory(store, "mem_1").sources]
        assert cited == ["ev_1", "ev_2", "ev_3", "ev_4", "ev_5"]
        known = memory(store, "mem_1")
        store.apply(make_plan("p9", AddSources("mem_1", 5, (Source("ev_5", 0, 14, START),))))
        assert memory(store, "mem_1") == known

    def test_conflicting_memories_name_each_other(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I was born in May", EMBEDDER)))
        other = statement("2", "I was born in June", EMBEDDER, links=Links(conflicts_with=("mem_1",)))
        store.apply(make_plan("p2", *other))
        assert memory(store, "mem_1").links.conflicts_with == ("mem_2",)
        assert memory(store, "mem_2").links.conflicts_with == ("mem_1",)

    def test_nothing_crosses_a_scope(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER)))
        bobs = make_evidence("ev_2", "I live in Rome", scope=BOB)
        foreign_link = make_memory("mem_2", bobs, links=Links(conflicts_with=("mem_1",)))
        foreign_source = make_memory("mem_2", bobs, sources=(Source("ev_1", 0, 3, START),))
        for operation in (
            AddMemory(foreign_link),
            AddMemory(foreign_source),
            Retire("mem_1", 1, State.ARCHIVED, "delete"),
            MarkFormed(("ev_1",)),
            make_index(memory(store, "mem_1"), EMBEDDER),
            AddEvidence(make_evidence("ev_3")),
        ):
            with pytest.raises(PlanRejectedError):
                store.apply(make_plan("p2", AddEvidence(bobs), operation, scope=BOB))

    def test_a_model_keeps_its_dimensions(self, store: Store) -> None:
        store.apply(make_plan("p1", *statement("1", "I live in Lyon", EMBEDDER)))
        other = HashEmbedder(EMBEDDER.dimensions + 1, model=EMBEDDER.model)
        with pytest.raises(PlanRejectedError, match="33 dimensions"):
            store.apply(make_plan("p2", make_index(memory(store, "mem_1"), other)))

    def test_evidence_starts_active(self, store: Store) -> None:
        store.apply(make_plan("p1", AddEvidence(make_evidence("ev_1"))))
        with store.view() as view:
            assert view.evidence(["ev_1"])["ev_1"].status is EvidenceStatus.ACTIVE
