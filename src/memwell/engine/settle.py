"""Make a judge's verdicts executable: check them against the allowed actions, fall back to the safe choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memwell.domain.decision import ALLOWED, Action, Situation
from memwell.engine.ports import Comparison, Verdict
from memwell.errors import DecisionContextError, DecisionContractError

# Below this confidence a relation is not acted on: a wrong retirement costs more than a duplicate.
REVIEW_CONFIDENCE = 0.5


@dataclass(frozen=True, slots=True)
class Settled:
    """An executable verdict; ``targets`` are indexes into the comparison's heads."""

    action: Action
    targets: tuple[int, ...]
    confidence: float
    reason: str


def settle(comparisons: Sequence[Comparison], verdicts: Sequence[Verdict]) -> list[Settled]:
    """Check ``verdicts`` and resolve rivalry inside the group.

    Where several candidates would replace one head, the most confident keeps the relation (the first of equals) and
    the rest become independent.

    Raises:
        DecisionContractError: not one verdict for each comparison, or a target that was not offered.
        DecisionContextError: an action that does not fit its target.
    """
    if len(verdicts) != len(comparisons):
        raise DecisionContractError(
            f"the judge gave {len(verdicts)} verdicts for {len(comparisons)} candidates",
            remedy="the evidence is kept; repeat the write with the same request_id",
        )
    settled = [_settle_one(comparison, verdict) for comparison, verdict in zip(comparisons, verdicts, strict=True)]
    keeper: dict[object, int] = {}
    for i, (comparison, choice) in enumerate(zip(comparisons, settled, strict=True)):
        if choice.action.retires:
            for key in _keys(comparison, choice):
                best = keeper.get(key)
                if best is None or choice.confidence > settled[best].confidence:
                    keeper[key] = i
    return [
        replace(choice, action=Action.SUPPLEMENT, targets=(), reason="another statement of the same write replaces it")
        if choice.action.retires and any(keeper[key] != i for key in _keys(comparison, choice))
        else choice
        for i, (comparison, choice) in enumerate(zip(comparisons, settled, strict=True))
    ]


def _keys(comparison: Comparison, choice: Settled) -> list[object]:
    heads = [comparison.heads[i] for i in choice.targets]
    return [head.memory_id or head for head in heads]


def _settle_one(comparison: Comparison, verdict: Verdict) -> Settled:
    if any(not 0 <= i < len(comparison.heads) for i in verdict.targets) or not 0.0 <= verdict.confidence <= 1.0:
        raise DecisionContractError(
            f"the judge chose targets {verdict.targets} of {len(comparison.heads)} "
            f"with confidence {verdict.confidence}",
            remedy="the evidence is kept; repeat the write with the same request_id",
        )
    situations = {comparison.situations[i] for i in verdict.targets} or {Situation.NO_TARGET}
    if any(verdict.action not in ALLOWED[situation] for situation in situations):
        raise DecisionContextError(
            f"{verdict.action} does not fit {', '.join(sorted(situations))}",
            remedy="the evidence is kept; repeat the write with the same request_id",
        )
    if verdict.action in (Action.RAW_ONLY, Action.INVALID):
        return Settled(verdict.action, (), verdict.confidence, verdict.reason)
    if verdict.action is Action.NEED_CONTEXT:
        return Settled(Action.SUPPLEMENT, (), verdict.confidence, f"needs context: {verdict.reason}")
    if verdict.targets and verdict.confidence < REVIEW_CONFIDENCE:
        return Settled(Action.SUPPLEMENT, (), verdict.confidence, f"unsure, kept beside: {verdict.reason}")
    if len(verdict.targets) > 1 and verdict.action is not Action.CORRECT:
        return Settled(Action.SUPPLEMENT, (), verdict.confidence, f"several targets only together: {verdict.reason}")
    if verdict.action is Action.SUPPLEMENT:
        return Settled(Action.SUPPLEMENT, (), verdict.confidence, verdict.reason)
    return Settled(verdict.action, verdict.targets, verdict.confidence, verdict.reason)
