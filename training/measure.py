"""How well the exported model decides: accuracy by language and action, wrong retirements, calibration."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
from examples import Example, Inputs

from memwell.builtin.model.decide import Calibration, DecisionModel, Known
from memwell.builtin.model.layout import FREE, RELATIONS, SLOTS
from memwell.engine.ports import Matrix

RETIRING = ("OVERRIDE", "CORRECT", "NEGATE")
BINS = 10
# Memories of others in the store of the figures "in a store".
STORE = 100


@dataclass(frozen=True, slots=True)
class Measured:
    """Probabilities of all decisions, shape ``(examples, decisions)``, and the right ones."""

    examples: list[Example]
    probabilities: np.ndarray
    truth: np.ndarray
    described: dict[str, float]

    def table(self) -> str:
        chosen = self.probabilities.argmax(1)
        confidence = self.probabilities.max(1)
        right = chosen == self.truth
        lines = []
        for language in ("en", "zh"):
            here = np.array([example["lang"] == language for example in self.examples])
            if not here.any():
                continue
            retired = np.array([_retires(c) for c in chosen])
            wrong = np.array([_retires(c) and not _same_retired(c, t) for c, t in zip(chosen, self.truth, strict=True)])
            by_action = {
                action: f"{right[mask].mean():.0%} of {mask.sum()}"
                for action in (*RELATIONS, *FREE)
                if (mask := here & np.array([example["action"] == action for example in self.examples])).any()
            }
            lines.append(
                f"{language}: {right[here].mean():.1%} of {here.sum()}; retired {retired[here].sum()}, "
                f"wrongly {wrong[here].sum()} ({wrong[here].mean():.1%}); {by_action}"
            )
        names = Counter(f"{_name(t)}->{_name(c)}" for c, t in zip(chosen, self.truth, strict=True) if c != t)
        lines.append(f"confused: {names.most_common(12)}")
        lines.append(f"calibration error {calibration_error(confidence, right):.3f}; described {self.described}")
        return "\n".join(lines)

    def figures(self) -> dict[str, object]:
        """Accuracy and wrong retirements in each language, calibration error, accuracy of the descriptions."""
        chosen = self.probabilities.argmax(1)
        right = chosen == self.truth
        found: dict[str, object] = {"described": self.described}
        for language in ("en", "zh"):
            here = np.array([example["lang"] == language for example in self.examples])
            wrong = [
                _retires(c) and not _same_retired(c, t) for c, t in zip(chosen[here], self.truth[here], strict=True)
            ]
            found[language] = {
                "examples": int(here.sum()),
                "right": round(float(right[here].mean()), 4),
                "wrong_retirements": round(float(np.mean(wrong)), 4),
            }
        found["calibration_error"] = round(calibration_error(self.probabilities.max(1), right), 4)
        return found


def _retires(decision: int) -> bool:
    return _name(decision) in RETIRING


def _same_retired(decision: int, truth: int) -> bool:
    return _retires(truth) and decision // len(RELATIONS) == truth // len(RELATIONS)


def _name(decision: int) -> str:
    first_free = SLOTS * len(RELATIONS)
    return FREE[decision - first_free] if decision >= first_free else RELATIONS[decision % len(RELATIONS)]


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Expected calibration error over equal-width bins (Guo et al., "On Calibration", 2017)."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = [
        abs(confidence[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins.tolist())
    ]
    return float(sum(gaps))


@dataclass(frozen=True, slots=True)
class Asked:
    """What the model was asked about an example, what it answered, and the right decision."""

    example: Example
    memories: list[Known]
    logits: Matrix
    right: int


def ask(model: DecisionModel, examples: list[Example], inputs: Inputs, others: int, seed: int = 1) -> list[Asked]:
    """The logits of the exported ``model``.

    Args:
        others: memories of others in the store, of which the likeliest are shown with the example's own; 0 shows those
            alone. Examples whose target is not shown are left out.
    """
    rng, asked = random.Random(seed), []
    for example in examples:
        memories, right = inputs.shown(example, rng, others) if others else inputs.draw(example, rng, 0)
        if right is not None:
            logits = model.logits(example["sentence"], example["message"], memories)
            asked.append(Asked(example, memories, logits, right))
    return asked


def measure(asked: list[Asked], calibration: Calibration, described: dict[str, float]) -> Measured:
    """Figures on what was asked.

    Args:
        described: see ``described``.
    """
    probabilities = np.zeros((len(asked), SLOTS * len(RELATIONS) + len(FREE)))
    for row, each in zip(probabilities, asked, strict=True):
        answer = calibration.answer(each.logits, each.memories)
        shares = [share for relations in answer.relations for share in relations.values()]
        row[: len(shares)] = shares
        row[-len(FREE) :] = list(answer.free.values())
    return Measured(
        [each.example for each in asked], probabilities, np.array([each.right for each in asked]), described
    )


def described(model: DecisionModel, examples: list[Example]) -> dict[str, float]:
    """Share of the examples whose kind, and whom they are about, the model tells rightly."""
    hits: dict[str, list[bool]] = {"kind": [], "about": []}
    for example in examples:
        told = model.describe(example["sentence"], example["message"])
        if example["kind"] in told.kind:
            hits["kind"].append(max(told.kind, key=lambda name: told.kind[name]) == example["kind"])
        if example["about"] != "none":
            hits["about"].append((told.other > 0.5) == (example["about"] == "other"))
    return {name: round(float(np.mean(right)), 3) for name, right in hits.items()}


def fitted(asked: list[Asked]) -> Calibration:
    """The calibration under which the right decisions are likeliest, of a grid."""

    def surprise(calibration: Calibration) -> float:
        likely = measure(asked, calibration, {})
        return float(-np.log(likely.probabilities[np.arange(len(asked)), likely.truth] + 1e-12).mean())

    grid = [
        Calibration(temperature, weight, origin)
        for temperature in (1.2, 1.4, 1.6, 1.8, 2.0)
        for weight in (0.0, 3.0, 6.0, 9.0, 12.0)
        for origin in (0.2, 0.3, 0.4, 0.5)
    ]
    return min(grid, key=surprise)


def found(examples: list[Example], inputs: Inputs) -> dict[str, float]:
    """Share of the targets that are shown in a store of ``STORE`` others, by language."""
    rng = random.Random(0)
    shown: dict[str, list[bool]] = {"en": [], "zh": []}
    for example in examples:
        if example["target"] is not None:
            shown[example["lang"]].append(inputs.shown(example, rng, STORE)[1] is not None)
    return {language: round(float(np.mean(hits)), 4) for language, hits in shown.items()}
