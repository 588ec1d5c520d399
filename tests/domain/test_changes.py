"""What a plan means, as a pure function."""

from __future__ import annotations

import math
from array import array
from dataclasses import replace
from datetime import timedelta

import pytest

from memwell.domain.changes import Changes
from memwell.domain.evidence import EvidenceStatus, Speaker
from memwell.domain.memory import Kind, Links, MemoryRecord, Source, State
from memwell.domain.named import Named, named_ids
from memwell.domain.plan import (
    AddEvidence,
    AddMemory,
    AddSources,
    IndexRecord,
    MarkFormed,
    Operation,
    Retire,
    Shorten,
    Unit,
    Vector,
)
from memwell.domain.resolve import resolve
from memwell.errors import EvidenceConflictError, PlanRejectedError, PreconditionError
from memwell.testing.doubles import BOB, START, make_evidence, make_memory, make_plan

DAY = timedelta(days=1)
EVIDENCE = make_evidence("ev_1", "I live in Lyon")
OLD = make_memory("mem_1", EVIDENCE)
NEW = make_memory("mem_2", EVIDENCE, links=Links(supersedes=("mem_1",)))
STORED = Named(memories={"mem_1": OLD}, evidence={"ev_1": EVIDENCE}, origins={EVIDENCE.origin: EVIDENCE})


def _resolve(*operations: Operation, named: Named = STORED) -> Changes:
    return resolve(make_plan("p1", *operations, at=START + DAY), named)


def test_a_plan_names_all_it_needs() -> None:
    plan = make_plan(
        "p1",
        AddEvidence(make_evidence("ev_2")),
        AddMemory(NEW),
        Retire("mem_3", 1, State.ENDED, "negate"),
        Shorten("mem_9", 1, START),
        AddSources("mem_4", 1, (Source("ev_5", 0, 1, START),)),
        IndexRecord(Unit.MEMORY, "mem_6", "m", ()),
        IndexRecord(Unit.EVIDENCE, "ev_7", "m", ()),
        MarkFormed(("ev_8",)),
    )
    memories, evidence, origins = named_ids(plan)
    assert memories == {"mem_1", "mem_2", "mem_3", "mem_4", "mem_6", "mem_9"}
    assert evidence == {"ev_1", "ev_2", "ev_5", "ev_7", "ev_8"}
    assert origins == {"origin-ev_2"}


def test_superseding_links_both_ends_and_logs_both() -> None:
    changes = _resolve(AddMemory(NEW), Retire("mem_1", 1, State.SUPERSEDED, "override", START + DAY))
    assert changes.created == {"mem_2"}
    assert changes.memories["mem_1"].links.superseded_by == ("mem_2",)
    assert changes.memories["mem_1"].retired_at == START + DAY
    assert [(step.memory_id, step.revision, step.state) for step in changes.transitions] == [
        ("mem_2", 1, State.CURRENT),
        ("mem_1", 2, State.SUPERSEDED),
    ]
    assert [entry.operation for entry in changes.entries] == ["add_memory", "override"]
    assert changes.moves_epoch


def test_an_empty_plan_moves_nothing() -> None:
    changes = _resolve()
    assert not changes.moves_epoch
    assert changes.entries == ()


@pytest.mark.parametrize(
    ("what", "operations"),
    [
        ("replaces mem_1, which stays current", [AddMemory(NEW)]),
        ("is taken", [AddMemory(replace(OLD))]),
        ("cites no evidence", [AddMemory(replace(OLD, id="m", sources=()))]),
        ("is not in this scope", [AddMemory(replace(OLD, id="m", sources=(Source("ev_9", 0, 1, START),)))]),
        ("cites characters 0..99", [AddMemory(replace(OLD, id="m", sources=(Source("ev_1", 0, 99, START),)))]),
        ("cites characters 3..3", [AddMemory(replace(OLD, id="m", sources=(Source("ev_1", 3, 3, START),)))]),
        ("is empty", [AddMemory(replace(OLD, id="m", content=" "))]),
        ("is empty or not at the start of its life", [AddMemory(replace(OLD, id="m", revision=2))]),
        ("is empty or not at the start of its life", [AddMemory(replace(OLD, id="m", state=State.ENDED))]),
        ("ends before it begins", [AddMemory(replace(OLD, id="m", valid_until=START - DAY))]),
        ("outside 0..1", [AddMemory(replace(OLD, id="m", formation=replace(OLD.formation, confidence=1.5)))]),
        ("is current but superseded", [AddMemory(replace(OLD, id="m", links=Links(superseded_by=("mem_1",))))]),
        (
            "both supersedes and is superseded",
            [
                AddMemory(
                    replace(
                        OLD,
                        id="m",
                        state=State.HISTORICAL,
                        links=Links(supersedes=("mem_1",), superseded_by=("mem_1",)),
                    )
                )
            ],
        ),
        ("is not in this scope", [AddMemory(replace(OLD, id="m", links=Links(derived_from=("mem_9",))))]),
        ("belongs to another scope", [AddMemory(replace(OLD, id="m", scope=BOB))]),
        ("belongs to another scope", [AddEvidence(make_evidence("ev_2", scope=BOB))]),
        ("is empty", [AddEvidence(make_evidence("ev_2", ""))]),
        ("is taken", [AddEvidence(make_evidence("ev_1", origin="other"))]),
        (
            "ended and cannot become current",
            [Retire("mem_1", 1, State.ENDED, "x"), Retire("mem_1", 2, State.CURRENT, "x")],
        ),
        ("would end before it begins", [Retire("mem_1", 1, State.ENDED, "x", START - DAY)]),
        ("is not in this scope", [MarkFormed(("ev_9",))]),
        ("covers characters", [IndexRecord(Unit.MEMORY, "mem_1", "m", (Vector(0, 99, b"\0" * 8),))]),
        ("torn or not finite", [IndexRecord(Unit.MEMORY, "mem_1", "m", (Vector(0, 1, b"\0" * 7),))]),
        ("torn or not finite", [IndexRecord(Unit.MEMORY, "mem_1", "m", (Vector(0, 1, b""),))]),
        (
            "torn or not finite",
            [IndexRecord(Unit.MEMORY, "mem_1", "m", (Vector(0, 1, array("f", [math.nan]).tobytes()),))],
        ),
        (
            "differs in length",
            [IndexRecord(Unit.MEMORY, "mem_1", "m", (Vector(0, 1, b"\0" * 8), Vector(0, 1, b"\0" * 4)))],
        ),
    ],
)
def test_what_breaks_a_rule_is_refused(what: str, operations: list[Operation]) -> None:
    with pytest.raises(PlanRejectedError, match=what):
        _resolve(*operations)


def test_sources_that_may_not_support_a_memory() -> None:
    for changed in (
        replace(EVIDENCE, speaker=Speaker.ASSISTANT),
        replace(EVIDENCE, speaker=Speaker.TOOL),
        replace(EVIDENCE, status=EvidenceStatus.WITHDRAWN),
    ):
        with pytest.raises(PlanRejectedError, match="cites ev_1"):
            _resolve(AddMemory(replace(OLD, id="m")), named=Named(evidence={"ev_1": changed}))


def test_only_entities_need_no_source() -> None:
    entity = replace(OLD, id="m", kind=Kind.ENTITY, sources=())
    assert _resolve(AddMemory(entity)).memories == {"m": entity}


def test_revisions_are_checked_step_by_step() -> None:
    archive, back = Retire("mem_1", 1, State.ARCHIVED, "delete"), Retire("mem_1", 2, State.CURRENT, "restore")
    changes = _resolve(archive, back)
    assert changes.memories["mem_1"] == replace(OLD, revision=3)
    with pytest.raises(PreconditionError):
        _resolve(archive, archive)


def test_only_a_current_memory_gains_sources() -> None:
    more = AddSources("mem_1", 1, (Source("ev_1", 2, 6, START), Source("ev_1", 2, 6, START)))
    assert _resolve(more).memories["mem_1"].sources == (*OLD.sources, Source("ev_1", 2, 6, START))
    with pytest.raises(PlanRejectedError, match="only a current one"):
        _resolve(Retire("mem_1", 1, State.ARCHIVED, "delete"), replace(more, expected_revision=2))
    assert not _resolve(replace(more, sources=OLD.sources)).moves_epoch


def test_a_known_source_stands_in_for_its_repeat() -> None:
    again = make_evidence("ev_2", EVIDENCE.content, origin=EVIDENCE.origin)
    memory = make_memory("mem_2", again)
    changes = _resolve(AddEvidence(again), AddMemory(memory), MarkFormed(("ev_2",)))
    assert changes.evidence == ()
    assert changes.aliases == {"ev_2": "ev_1"}
    assert changes.memories["mem_2"].sources[0].evidence_id == "ev_1"
    assert changes.formed == ("ev_1",)
    with pytest.raises(EvidenceConflictError):
        _resolve(AddEvidence(replace(again, content="I live in Rome")))
    with pytest.raises(EvidenceConflictError):
        _resolve(AddEvidence(replace(again, speaker=Speaker.TOOL)))


def test_two_repeats_within_one_plan_are_one_source() -> None:
    one, two = make_evidence("ev_2", "hi", origin="o"), make_evidence("ev_3", "hi", origin="o")
    changes = _resolve(AddEvidence(one), AddEvidence(two))
    assert changes.evidence == (one,)
    assert changes.aliases == {"ev_2": "ev_2", "ev_3": "ev_2"}


def test_a_late_report_goes_behind_the_head() -> None:
    late = make_memory("mem_0", EVIDENCE, state=State.HISTORICAL, links=Links(superseded_by=("mem_1",)))
    changes = _resolve(AddMemory(late))
    assert changes.memories["mem_1"].links.supersedes == ("mem_0",)
    assert changes.memories["mem_1"].state is State.CURRENT
    assert changes.memories["mem_1"].revision == OLD.revision


def test_only_a_past_version_is_shortened_and_only_to_an_earlier_end() -> None:
    past = replace(OLD, state=State.SUPERSEDED, valid_until=START + 9 * DAY)
    named = replace(STORED, memories={"mem_1": past})
    changes = _resolve(Shorten("mem_1", 1, START + DAY), named=named)
    assert changes.memories["mem_1"].valid_until == START + DAY
    assert [(step.revision, step.cause) for step in changes.transitions] == [(2, "shorten")]
    for until in (START - DAY, START + 9 * DAY, START + 20 * DAY):
        with pytest.raises(PlanRejectedError):
            _resolve(Shorten("mem_1", 1, until), named=named)
    with pytest.raises(PlanRejectedError, match="current"):
        _resolve(Shorten("mem_1", 1, START + DAY))
    with pytest.raises(PreconditionError):
        _resolve(Shorten("mem_1", 5, START + DAY), named=named)


def test_conflicts_are_mutual() -> None:
    other = make_memory("mem_2", EVIDENCE, links=Links(conflicts_with=("mem_1",)))
    changes = _resolve(AddMemory(other))
    assert changes.memories["mem_1"].links.conflicts_with == ("mem_2",)


def test_a_memory_is_not_linked_to_itself() -> None:
    itself: MemoryRecord = make_memory("m", EVIDENCE, links=Links(conflicts_with=("m",)))
    with pytest.raises(PlanRejectedError, match="linked to itself"):
        _resolve(AddMemory(itself))
