"""Cases about governing: permissions, muting, erasing, tombstones, receipts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memwell.domain.command import Command, Outcome
from memwell.domain.evidence import EvidenceStatus, Permissions, Speaker, Target
from memwell.domain.lens import Lens
from memwell.domain.memory import Links, Source, Span, State
from memwell.domain.plan import (
    AddEvidence,
    AddMemory,
    AddSources,
    Bury,
    EraseEvidence,
    EraseMemory,
    MarkFormed,
    Mute,
    Permit,
    Redact,
    Request,
    Retire,
    Unit,
    Unsupport,
    Withdraw,
)
from memwell.domain.tombstone import Tombstone
from memwell.engine.ports import Store
from memwell.errors import CommandConflictError, ErasedSourceError, PlanRejectedError, PreconditionError
from memwell.testing.conformance.cases import EMBEDDER, StoreCases, found, memory, say
from memwell.testing.doubles import ALICE, BOB, START, make_evidence, make_index, make_memory, make_plan, statement

LATER = START + timedelta(hours=1)
CLOUD = Lens(now=START, target=Target.CLOUD)
OPEN = Permissions()
LOCAL_ONLY = Permissions(cloud=False)


def _command(key: str, asked: str = "{}") -> Command:
    return Command(key, "retract", "tester", ("mem_1",), asked, {"count": 1})


class GoverningCases(StoreCases):
    def test_permissions_decide_at_once_what_is_read(self, store: Store) -> None:
        say(store, "I live in Lyon")
        assert found(store, "lyon", lens=CLOUD) == ["mem_1"]
        store.apply(make_plan("q1", Permit("ev_1", LOCAL_ONLY, OPEN), at=LATER))
        assert found(store, "lyon", lens=CLOUD) == found(store, "lyon", lens=CLOUD, unit=Unit.EVIDENCE) == []
        assert found(store, "lyon") == ["mem_1"]
        with store.view() as view:
            assert view.evidence(["ev_1"])["ev_1"].permissions == LOCAL_ONLY
        store.apply(make_plan("q2", Permit("ev_1", OPEN, LOCAL_ONLY), at=LATER + timedelta(seconds=1)))
        assert found(store, "lyon", lens=CLOUD) == ["mem_1"]

    def test_of_two_permissions_at_one_moment_the_tighter_holds(self, store: Store) -> None:
        say(store, "I live in Lyon")
        store.apply(make_plan("q1", Permit("ev_1", LOCAL_ONLY, OPEN), at=LATER))
        store.apply(make_plan("q2", Permit("ev_1", OPEN, LOCAL_ONLY), at=LATER))
        store.apply(make_plan("q3", Permit("ev_1", OPEN, LOCAL_ONLY), at=START))
        with store.view() as view:
            assert view.evidence(["ev_1"])["ev_1"].permissions == LOCAL_ONLY

    def test_permissions_that_changed_meanwhile_refuse_a_change(self, store: Store) -> None:
        say(store, "I live in Lyon")
        store.apply(make_plan("q1", Permit("ev_1", LOCAL_ONLY, OPEN), at=LATER))
        with pytest.raises(PreconditionError, match="ev_1"):
            store.apply(make_plan("q2", Permit("ev_1", LOCAL_ONLY, OPEN), at=LATER))

    def test_a_source_sent_again_keeps_the_tighter_permissions(self, store: Store) -> None:
        evidence = make_evidence("ev_1", permissions=LOCAL_ONLY)
        store.apply(make_plan("p1", AddEvidence(evidence)))
        store.apply(make_plan("p2", AddEvidence(replace(evidence, id="ev_2", permissions=Permissions(infer=False)))))
        with store.view() as view:
            assert view.evidence(["ev_1"])["ev_1"].permissions == Permissions(cloud=False, infer=False)

    def test_withdrawn_evidence_supports_nothing(self, store: Store) -> None:
        say(store, "I live in Lyon", "I work in Rome")
        store.apply(make_plan("q1", Withdraw("ev_1")))
        assert found(store, "lyon") == found(store, "lyon", unit=Unit.EVIDENCE) == []
        assert found(store, "rome") == ["mem_2"]
        with pytest.raises(PlanRejectedError):
            store.apply(make_plan("q2", AddSources("mem_2", 1, (Source("ev_1", 0, 3, START),))))

    def test_a_muted_memory_is_current_and_not_found(self, store: Store) -> None:
        say(store, "I live in Lyon")
        store.apply(make_plan("q1", Mute("mem_1", 1, True), at=LATER))
        assert found(store, "lyon") == []
        assert (memory(store, "mem_1").state, memory(store, "mem_1").muted_at) == (State.CURRENT, LATER)
        assert found(store, "lyon", lens=Lens(START, known_at=START)) == ["mem_1"]
        store.apply(make_plan("q2", Mute("mem_1", 2, True)))
        assert memory(store, "mem_1").revision == 2
        store.apply(make_plan("q3", Mute("mem_1", 2, False)))
        assert found(store, "lyon") == ["mem_1"]

    def test_erased_records_have_no_words_and_are_found_by_nothing(self, store: Store) -> None:
        say(store, "I live in Lyon", "I live in Rome")
        kept = memory(store, "mem_2")
        store.apply(make_plan("q1", EraseMemory("mem_1", 1), EraseEvidence("ev_1"), at=LATER))
        gone = memory(store, "mem_1")
        assert (gone.state, gone.content, gone.sources, gone.revision) == (State.ERASED, "", (), 2)
        for unit in Unit:
            assert found(store, "live", like="I live in Lyon", unit=unit) == [
                kept.id if unit is Unit.MEMORY else "ev_2"
            ]
        for lens in (Lens(START, known_at=START), Lens(START, as_of=START), Lens(START, include_past=True)):
            assert "mem_1" not in found(store, "lyon", lens=lens)
        with store.view() as view:
            record = view.evidence(["ev_1"])["ev_1"]
            assert (record.status, record.content, record.session_id) == (EvidenceStatus.ERASED, "", "erased")
            assert view.recent(ALICE, "default", before=LATER, limit=9) == [view.evidence(["ev_2"])["ev_2"]]
            assert {step.state for step in view.transitions("mem_1")} == {State.ERASED}
            assert view.unindexed(Unit.MEMORY, EMBEDDER.model, 9) == view.unindexed(Unit.EVIDENCE, "hash-1", 9) == []
            assert {stone.record_id for stone in view.traces(ALICE).tombstones()} == {"mem_1", "ev_1"}
        assert memory(store, "mem_2") == kept
        store.rebuild()
        assert store.clean()

    def test_an_erased_source_never_comes_back(self, store: Store) -> None:
        evidence = make_evidence("ev_1", origin="message:s:1")
        store.apply(make_plan("p1", AddEvidence(evidence)))
        store.apply(make_plan("p2", EraseEvidence("ev_1")))
        for again in (
            replace(evidence, id="ev_2", content="other words"),
            replace(evidence, id="ev_3", origin="another"),
            replace(evidence, origin="third", content="third", occurred_at=LATER),
        ):
            with pytest.raises(ErasedSourceError):
                store.apply(make_plan("p3", AddEvidence(again)))
        for operation in (MarkFormed(("ev_1",)), EraseEvidence("ev_1"), Withdraw("ev_1")):
            with pytest.raises(ErasedSourceError):
                store.apply(make_plan("p4", operation))
        store.apply(make_plan("p5", AddEvidence(replace(evidence, id="ev_4", origin="new", occurred_at=LATER))))
        bobs = replace(evidence, id="ev_5", scope=BOB)
        store.apply(make_plan("p6", AddEvidence(bobs), scope=BOB))

    def test_a_late_writer_cannot_cite_what_was_erased(self, store: Store) -> None:
        say(store, "I live in Lyon")
        evidence = make_evidence("ev_1", "I live in Lyon")
        store.apply(make_plan("q1", EraseMemory("mem_1", 1), EraseEvidence("ev_1")))
        for operation in (AddMemory(make_memory("mem_9", evidence)), make_index(evidence, EMBEDDER)):
            with pytest.raises(ErasedSourceError):
                store.apply(make_plan("q2", operation))
        with pytest.raises(ErasedSourceError):
            store.apply(make_plan("q3", AddEvidence(make_evidence("ev_2", "So: Lyon."), ("mem_1",))))
        with pytest.raises(PlanRejectedError):
            store.apply(make_plan("q4", Retire("mem_1", 2, State.CURRENT, "restore")))

    def test_a_part_is_blacked_out_and_the_rest_stays(self, store: Store) -> None:
        text = "Ann likes tea. Bob likes rum. Hm, so."
        evidence = make_evidence("ev_1", text, preceding="Rum?")
        ann = make_memory("mem_1", evidence, content="Ann likes tea.", sources=(Source("ev_1", 0, 14, START),))
        store.apply(make_plan("p1", AddEvidence(evidence), AddMemory(ann), make_index(evidence, EMBEDDER)))
        store.apply(make_plan("p2", Redact("ev_1", (Span(15, 29),), preceding=True), at=LATER))
        with store.view() as view:
            record = view.evidence(["ev_1"])["ev_1"]
            assert (record.content, record.preceding) == ("Ann likes tea. " + "█" * 14 + " Hm, so.", None)
            (stone,) = view.traces(ALICE).tombstones()
            assert stone.spans == (Span(15, 29),)
            assert view.unindexed(Unit.EVIDENCE, EMBEDDER.model, 9) == ["ev_1"]
        assert found(store, "rum", unit=Unit.EVIDENCE) == []
        assert found(store, "tea", unit=Unit.EVIDENCE) == ["ev_1"]
        with pytest.raises(ErasedSourceError):
            store.apply(make_plan("p3", AddEvidence(replace(evidence, id="ev_2"))))
        store.apply(make_plan("p4", Redact("ev_1", (Span(30, 37),))))
        with store.view() as view:
            assert view.traces(ALICE).tombstones()[0].spans == (Span(15, 29), Span(30, 37))
        with pytest.raises(PlanRejectedError):
            store.apply(make_plan("p5", Redact("ev_1", (Span(20, 99),))))
        store.rebuild()
        assert found(store, "rum", unit=Unit.EVIDENCE) == []

    def test_no_memory_is_left_without_the_words_it_rests_on(self, store: Store) -> None:
        say(store, "I live in Lyon")
        for operation in (EraseEvidence("ev_1"), Redact("ev_1", (Span(2, 6),))):
            with pytest.raises(PreconditionError, match="mem_1"):
                store.apply(make_plan("q1", operation))
        store.apply(make_plan("q2", Retire("mem_1", 1, State.RETRACTED, "retract")))
        with pytest.raises(PreconditionError, match="mem_1"):
            store.apply(make_plan("q3", EraseEvidence("ev_1")))
        store.apply(make_plan("q4", EraseEvidence("ev_1"), EraseMemory("mem_1", 2)))

    def test_answers_of_requests_about_erased_records_are_forgotten(self, store: Store) -> None:
        for key in ("1", "2"):
            plan = make_plan(f"p{key}", *statement(key, f"I know {key}", EMBEDDER))
            store.apply(replace(plan, request=Request(f"r{key}", "hash"), outcome={"evidence_ids": [f"ev_{key}"]}))
        store.apply(make_plan("q", EraseMemory("mem_1", 1), EraseEvidence("ev_1")))
        with store.view() as view:
            assert view.outcome(ALICE, "r1") is None
            assert view.outcome(ALICE, "r2") is not None

    def test_a_foreign_tombstone_keeps_a_record_out(self, store: Store) -> None:
        for key, unit in (("ev_1", Unit.EVIDENCE), ("mem_2", Unit.MEMORY)):
            store.apply(make_plan(f"p_{key}", Bury(Tombstone(key, unit, START))))
        with pytest.raises(ErasedSourceError):
            store.apply(make_plan("p3", AddEvidence(make_evidence("ev_1"))))
        evidence = make_evidence("ev_2")
        with pytest.raises(PlanRejectedError):
            store.apply(make_plan("p4", AddEvidence(evidence), AddMemory(make_memory("mem_2", evidence))))

    def test_traces_lead_to_what_rests_on_a_record(self, store: Store) -> None:
        say(store, "I live in Lyon", "I work in Rome")
        lyon = make_evidence("ev_1", "I live in Lyon")
        schema = make_memory("mem_9", lyon, links=Links(derived_from=("mem_2",)))
        reply = make_evidence("ev_8", "You live in Lyon, right?", speaker=Speaker.ASSISTANT)
        yes = make_evidence("ev_9", "yes", preceding="You live in Lyon, right?", session_id="s")
        store.apply(make_plan("q1", AddMemory(schema), AddEvidence(reply, ("mem_1", "ev_1")), AddEvidence(yes)))
        with store.view() as view:
            traces = view.traces(ALICE)
            assert [record.id for record in traces.citing(["ev_1"])] == ["mem_1", "mem_9"]
            assert [record.id for record in traces.derived(["mem_2", "mem_1"])] == ["mem_9"]
            assert [record.id for record in traces.dependents(["mem_1"])] == ["ev_8"]
            assert traces.dependencies() == {"ev_8": ("mem_1", "ev_1")}
            assert [record.id for record in traces.copies(["live in lyon"])] == ["ev_8", "ev_9"]
            assert traces.copies(["live in ly"]) == []
            assert [record.id for record in traces.replies(["lyon", "live"])] == ["ev_8"]
            assert (traces.replies(["rome"]), traces.replies([])) == ([], [])
            assert [record.id for record in traces.evidence("s")] == ["ev_9"]
            assert [record.id for record in traces.mentioning(["lyon", "live"])[0]] == ["mem_1", "mem_9"]
            assert [record.id for record in traces.mentioning(["lyon"])[1]] == ["ev_1"]
            assert traces.mentioning([]) == ([], [])
            assert traces.forming(START) == ["ev_1", "ev_2", "ev_9"]
            assert traces.forming(LATER) == []
            assert traces.formed() == frozenset()
            other = view.traces(BOB)
            assert (other.evidence(), other.memories(), other.citing(["ev_1"]), other.copies(["lyon"])) == (
                [],
                [],
                [],
                [],
            )

    def test_a_memory_goes_on_in_the_words_of_what_is_left(self, store: Store) -> None:
        said = [make_evidence(f"ev_{n}", text) for n, text in enumerate(("I live in Lyon.", "i live in lyon"))]
        spans = [Source(record.id, 0, len(record.content), START) for record in said]
        made = make_memory("mem_1", said[0], content="I live in Lyon.", sources=(spans[0],))
        store.apply(make_plan("p1", *map(AddEvidence, said), AddMemory(made), make_index(made, EMBEDDER)))
        store.apply(make_plan("p2", AddSources("mem_1", 1, (spans[1],))))
        for revision, lost, problem in ((2, ("ev_0", "ev_1"), "nothing that is left"), (1, ("ev_0",), "revision")):
            with pytest.raises(PreconditionError, match=problem):
                store.apply(make_plan("p3", Unsupport("mem_1", revision, lost, ("ev_1",))))
        store.apply(make_plan("p4", Unsupport("mem_1", 2, ("ev_0", "ev_9"), ("ev_1",))))
        left = memory(store, "mem_1")
        assert (left.content, left.revision, left.sources) == ("i live in lyon", 3, (spans[1],))
        assert found(store, "lyon") == ["mem_1"]
        with store.view() as view:
            assert view.traces(ALICE).dependencies() == {"ev_0": ("mem_1",)}
            assert "mem_1" in view.unindexed(Unit.MEMORY, EMBEDDER.model, 9)
            assert [step.cause for step in view.transitions("mem_1")] == ["add", "repeat", "unsupport"]

    def test_a_command_is_carried_out_once_and_leaves_a_receipt(self, store: Store) -> None:
        say(store, "I live in Lyon")
        plan = make_plan("q1", Retire("mem_1", 1, State.RETRACTED, "retract"), command=_command("c1"), at=LATER)
        receipt = store.apply(plan).receipt
        assert receipt is not None
        assert (receipt.outcome, receipt.changed) == (Outcome.APPLIED, {"retract": ("mem_1",)})
        again = store.apply(make_plan("q2", Retire("mem_1", 1, State.RETRACTED, "retract"), command=_command("c1")))
        assert (again.replayed, again.receipt) == (True, receipt)
        with pytest.raises(CommandConflictError, match="c1"):
            store.apply(make_plan("q3", command=_command("c1", "other")))
        nothing = store.apply(make_plan("q4", Mute("mem_1", 2, False), command=_command("c2")))
        assert nothing.receipt is not None
        assert nothing.receipt.outcome is Outcome.NO_CHANGE
        with store.view() as view:
            traces = view.traces(ALICE)
            assert traces.receipt("c1") == receipt == traces.answered(_command("c1"))
            assert [kept.receipt.command_id for kept in traces.receipts()] == ["c1", "c2"]
            assert traces.receipt("c3") is traces.answered(_command("c3")) is view.traces(BOB).receipt("c1") is None
            with pytest.raises(CommandConflictError):
                traces.answered(_command("c1", "other"))

    def test_evidence_is_found_by_what_its_origin_begins_with(self, store: Store) -> None:
        mine = [AddEvidence(make_evidence(f"ev_{n}", origin=origin)) for n, origin in enumerate(("a:1", "a:2", "ab:1"))]
        other = AddEvidence(make_evidence("ev_9", origin="a:1", scope=BOB))
        store.apply(make_plan("p1", *mine, Withdraw("ev_0")))
        store.apply(make_plan("p2", other, scope=BOB))
        with store.view() as view:
            assert [record.id for record in view.traces(ALICE).originating("a:")] == ["ev_0", "ev_1"]

    def test_scopes_are_those_of_which_anything_is_kept(self, store: Store) -> None:
        assert store.scopes() == []
        say(store, "I live in Lyon")
        store.apply(make_plan("p2", Bury(Tombstone("ev_9", Unit.EVIDENCE, START)), scope=BOB))
        store.apply(make_plan("p3", EraseMemory("mem_1", 1), EraseEvidence("ev_1")))
        assert store.scopes() == [ALICE, BOB]

    def test_what_is_muted_is_seen_by_whoever_decides_what_supersedes_it(self, store: Store) -> None:
        say(store, "I live in Lyon")
        store.apply(make_plan("m", Mute("mem_1", 1, True), at=LATER))
        wide = Lens(LATER, include_muted=True)
        for _ in range(2):  # the second time from what the store keeps in memory
            assert found(store, "lyon", lens=Lens(LATER)) == []
            assert found(store, "lyon", lens=wide) == ["mem_1"]
