"""How well a model decides: accuracy by language and action, wrong retirements, calibration."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from examples import Example, Inputs, stack
from model import DecisionModel

from memwell.builtin.model.layout import FREE, RELATIONS, SLOTS
from memwell.engine.ports import Matrix

RETIRING = ("OVERRIDE", "CORRECT", "NEGATE")
BINS = 10
# Memories of other examples among which a target is sought.
STORE = 100


@dataclass(frozen=True, slots=True)
class Measured:
    """Probabilities of all decisions, shape ``(examples, decisions)``, and the right ones."""

    examples: list[Example]
    probabilities: np.ndarray
    truth: np.ndarray
    sentence: dict[str, float]

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
        lines.append(f"calibration error {calibration_error(confidence, right):.3f}; sentence {self.sentence}")
        return "\n".join(lines)

    def figures(self) -> dict[str, object]:
        """Accuracy and wrong retirements in each language, calibration error, accuracy of the sentence heads."""
        chosen = self.probabilities.argmax(1)
        right = chosen == self.truth
        found: dict[str, object] = {"sentence": self.sentence}
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


@torch.no_grad()
def measure(
    model: DecisionModel, examples: list[Example], inputs: Inputs, unrelated: int, temperature: float, seed: int = 1
) -> Measured:
    """Answers of ``model`` with ``unrelated`` memories of others put to each example."""
    model.eval()
    rng = random.Random(seed)
    made = [inputs.make(example, rng, unrelated, shuffle=unrelated > 0, alone=False) for example in examples]
    probabilities, hits, told = [], Counter[str](), Counter[str]()
    for start in range(0, len(made), 32):
        group = made[start : start + 32]
        logits, heads = model(*stack(group))
        probabilities.append((logits / temperature).softmax(-1).numpy())
        for name, answers in heads.items():
            for item, answer in zip(group, answers.argmax(-1).tolist(), strict=True):
                if item.sentence[name] >= 0:
                    told[name] += 1
                    hits[name] += answer == item.sentence[name]
    sentence = {name: round(hits[name] / told[name], 3) for name in told}
    return Measured(examples, np.concatenate(probabilities), np.array([item.decision for item in made]), sentence)


def fitted_temperature(model: DecisionModel, examples: list[Example], inputs: Inputs) -> float:
    """The temperature under which the right decisions of ``examples`` are likeliest (Guo et al., 2017)."""
    grid = [0.8 + 0.05 * step for step in range(45)]
    parts = [measure(model, examples, inputs, unrelated, 1.0) for unrelated in (0, 4)]
    logs = np.log(np.concatenate([part.probabilities for part in parts]) + 1e-12)
    truth = np.concatenate([part.truth for part in parts])

    def surprise(temperature: float) -> float:
        scaled = logs / temperature
        total = np.log(np.exp(scaled - scaled.max(1, keepdims=True)).sum(1)) + scaled.max(1)
        return float((total - scaled[np.arange(len(truth)), truth]).mean())

    return min(grid, key=surprise)


def found(examples: list[Example], vectors: Mapping[str, Matrix], related: Matrix) -> dict[str, float]:
    """Share of the targets that are among the ``SLOTS`` nearest in a store, by language.

    Args:
        related: map of the sentence's vector, shape ``(width, width)``.
    """
    rng, shares = random.Random(0), {}
    for language in ("en", "zh"):
        here = [example for example in examples if example["lang"] == language]
        others = [memory["text"] for example in here for memory in example["current"]]
        hits = []
        for example in here:
            if example["target"] is None:
                continue
            own = [memory["text"] for memory in example["current"]]
            store = np.stack([vectors[text] for text in (*own, *rng.sample(others, STORE))])
            near = store @ (vectors[example["sentence"]] @ related)
            hits.append(int((near > near[example["target"]]).sum()) < SLOTS)
        shares[language] = round(float(np.mean(hits)), 4)
    return shares
