from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memwell.domain.decision import Action, Candidate
from memwell.domain.memory import Kind, MemoryRecord, Polarity, Source, State
from memwell.domain.scope import Scope
from memwell.engine.versions import new_version

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAY = datetime(2025, 5, 1, tzinfo=UTC)
JUNE = datetime(2025, 6, 1, tzinfo=UTC)


def candidate(said_at: datetime, **more: object) -> Candidate:
    made = Candidate((Source("ev_1", 0, 4, said_at),), "text", Kind.STATE, said_at)
    return replace(made, **more)  # type: ignore[arg-type]


def version(action: Action, made: Candidate, *targets: MemoryRecord) -> MemoryRecord:
    return new_version(
        memory_id=f"mem_{action}",
        scope=Scope("alice"),
        candidate=made,
        action=action,
        targets=targets,
        confidence=0.9,
        reason="r",
        makers=("x/1", "j/1"),
        now=NOW,
    )


HEAD = version(Action.SUPPLEMENT, candidate(MAY))


def test_an_override_supersedes_from_when_it_was_said() -> None:
    made = version(Action.OVERRIDE, candidate(JUNE), HEAD)
    assert (made.links.supersedes, made.state, made.valid_from) == ((HEAD.id,), State.CURRENT, JUNE)


def test_a_past_event_date_begins_validity_and_a_future_one_does_not() -> None:
    april = MAY - timedelta(days=30)
    assert version(Action.SUPPLEMENT, candidate(MAY, occurred_at=april)).valid_from == april
    assert version(Action.SUPPLEMENT, candidate(MAY, occurred_at=JUNE)).valid_from == MAY


def test_a_correction_holds_from_when_the_mistake_was_thought_to_hold() -> None:
    made = version(Action.CORRECT, candidate(JUNE), HEAD)
    assert (made.valid_from, made.links.corrects) == (MAY, (HEAD.id,))


def test_an_older_report_stands_behind_the_head() -> None:
    made = version(Action.HISTORICAL, candidate(MAY - timedelta(days=9)), HEAD)
    assert (made.state, made.links.superseded_by) == (State.HISTORICAL, (HEAD.id,))
    assert (made.valid_until, made.retired_at) == (MAY, NOW)


def test_an_older_report_ends_where_the_next_version_of_the_chain_begins() -> None:
    late = candidate(MAY - timedelta(days=9))
    second = replace(HEAD, id="mem_2", valid_from=JUNE, sources=())
    retracted = replace(HEAD, id="mem_3", state=State.RETRACTED, valid_from=MAY - timedelta(days=5), sources=())
    made = new_version(
        memory_id="mem_9",
        scope=Scope("alice"),
        candidate=late,
        action=Action.HISTORICAL,
        targets=[second],
        confidence=1.0,
        reason="r",
        makers=("x/1", "j/1"),
        now=NOW,
        chain=[replace(HEAD, state=State.SUPERSEDED), second, retracted],
    )
    assert made.valid_until == MAY


def test_an_end_is_negative_and_an_exception_keeps_its_period() -> None:
    assert version(Action.NEGATE, candidate(JUNE), HEAD).polarity is Polarity.NEGATIVE
    made = version(Action.TEMPORAL, candidate(MAY, valid_from=MAY, valid_until=JUNE))
    assert (made.valid_from, made.valid_until, made.links.supersedes) == (MAY, JUNE, ())


def test_a_hedge_lowers_confidence_and_is_noted() -> None:
    made = version(Action.SUPPLEMENT, candidate(MAY, hedged=True, confidence=0.4))
    assert (made.confidence, made.qualifiers) == (0.4, {"hedged": "true"})
