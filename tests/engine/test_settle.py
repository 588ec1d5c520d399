from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.domain.decision import ALLOWED, Action, Candidate, Situation
from memwell.domain.memory import Kind, Polarity, Source
from memwell.engine.ports import Comparison, Head, Verdict
from memwell.engine.settle import REVIEW_CONFIDENCE, settle
from memwell.errors import DecisionContextError, DecisionContractError

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def comparison(*situations: Situation) -> Comparison:
    candidate = Candidate((Source("ev_1", 0, 5, NOON),), "I row.", Kind.FACT, NOON)
    heads = tuple(
        Head(f"mem_{i}", f"head {i}", Kind.FACT, "user", None, None, Polarity.POSITIVE, NOON, 0.5)
        for i in range(len(situations))
    )
    return Comparison(candidate, "I row.", heads, situations)


def test_the_most_confident_of_rivals_keeps_the_head() -> None:
    rivals = [comparison(Situation.TARGET), comparison(Situation.TARGET), comparison(Situation.TARGET)]
    verdicts = [
        Verdict(Action.OVERRIDE, (0,), 0.7, "a"),
        Verdict(Action.CORRECT, (0,), 0.9, "b"),
        Verdict(Action.NEGATE, (0,), 0.9, "c"),
    ]
    assert [choice.action for choice in settle(rivals, verdicts)] == [
        Action.SUPPLEMENT,
        Action.CORRECT,
        Action.SUPPLEMENT,
    ]


def test_an_unsure_relation_is_kept_beside() -> None:
    (choice,) = settle([comparison(Situation.TARGET)], [Verdict(Action.OVERRIDE, (0,), 0.49, "weak")])
    assert (choice.action, choice.targets) == (Action.SUPPLEMENT, ())


def test_only_a_correction_may_name_several_targets() -> None:
    both = comparison(Situation.TARGET, Situation.TARGET)
    (skip,) = settle([both], [Verdict(Action.SKIP, (0, 1), 0.9, "")])
    (correct,) = settle([both], [Verdict(Action.CORRECT, (0, 1), 0.9, "")])
    assert (skip.action, skip.targets) == (Action.SUPPLEMENT, ())
    assert (correct.action, correct.targets) == (Action.CORRECT, (0, 1))


@pytest.mark.parametrize("verdicts", [[], [Verdict(Action.SKIP, (1,), 0.9, "")], [Verdict(Action.SKIP, (0,), 1.5, "")]])
def test_an_answer_that_was_not_asked_breaks_the_contract(verdicts: list[Verdict]) -> None:
    with pytest.raises(DecisionContractError):
        settle([comparison(Situation.TARGET)], verdicts)


@given(st.sampled_from(Action), st.sampled_from(Situation), st.floats(0, 1))
def test_exactly_the_allowed_actions_pass(action: Action, situation: Situation, confidence: float) -> None:
    targeted = situation is not Situation.NO_TARGET
    posed = comparison(*([situation] if targeted else []))
    verdict = Verdict(action, (0,) if targeted else (), confidence, "")
    if action not in ALLOWED[situation]:
        with pytest.raises(DecisionContextError):
            settle([posed], [verdict])
        return
    (choice,) = settle([posed], [verdict])
    if confidence < REVIEW_CONFIDENCE and targeted:
        assert not choice.action.retires
    assert not choice.action.retires or choice.targets


def test_a_batch_candidate_is_never_deleted_and_an_older_source_never_replaces() -> None:
    assert Action.DELETE not in ALLOWED[Situation.BATCH_TARGET]
    assert not any(action.retires for action in ALLOWED[Situation.OLDER_SOURCE])
