"""Labelled examples and the inputs made of them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from memwell.builtin.model.decide import Known
from memwell.builtin.model.layout import (
    ATTRIBUTES,
    FREE,
    KINDS,
    RELATIONS,
    SLOTS,
    SUBJECTS,
    beside,
    gap_class,
    sequence,
)
from memwell.builtin.model.weights import EncoderWeights
from memwell.domain.segments import sentences
from memwell.engine.ports import Matrix

Example = dict[str, Any]
# A class that an example does not tell; such examples teach the other heads only.
UNTOLD = -100
# Any decision without a target.
ANY_FREE = -1
# Unrelated memories of which the nearest are put beside an example, as a store of this size would.
STORE = 60
# Attributes that things which can both hold share.
VAGUE = ("other", "none", "event", "people", "place", "possession")


def read(paths: Iterable[Path]) -> list[Example]:
    """The examples of JSON-lines files, in order."""
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line]


@dataclass(frozen=True, slots=True)
class Input:
    """One pass of the model and what it should answer."""

    ids: list[int]
    slots: list[int]
    gaps: list[int]
    decision: int
    sentence: dict[str, int]


class Inputs:
    """Makes inputs of examples; of a store of other examples' memories, the nearest are put beside, as in use.

    Args:
        vectors: embedding of every sentence that may be judged and of every memory, by text.
        related: the map with which what a sentence acts on is sought, see ``related.py``.
    """

    def __init__(
        self, weights: EncoderWeights, examples: Sequence[Example], vectors: Mapping[str, Matrix], related: Matrix
    ) -> None:
        self.pieces = lru_cache(maxsize=None)(weights.pieces)
        self._vectors, self._related = vectors, related
        self._others: dict[str, list[tuple[Example, Example]]] = {"en": [], "zh": []}
        for example in examples:
            self._others[example["lang"]] += [(example, memory) for memory in example["current"]]

    def make(self, example: Example, rng: random.Random, unrelated: int, *, alone: bool) -> Input:
        """One input with up to ``unrelated`` others' memories; ``alone`` leaves out the rest of the message."""
        memories, right = self.draw(example, rng, unrelated)
        before, after = ("", "") if alone else beside(example["sentence"], example["message"])
        ids, slots, gaps = sequence(
            self.pieces(example["sentence"]),
            self.pieces(before),
            self.pieces(after),
            [(self.pieces(known.text), gap_class(known.days)) for known in memories],
        )
        return Input(ids, slots, gaps, right, _sentence(example))

    def draw(self, example: Example, rng: random.Random, unrelated: int) -> tuple[list[Known], int]:
        """The example's memories among up to ``unrelated`` of others, in random order, and the right decision."""
        memories = [(memory, number) for number, memory in enumerate(example["current"])]
        memories += [(memory, -1) for memory in self._near(example, rng, min(unrelated, SLOTS - len(memories)))]
        rng.shuffle(memories)
        return self._known(example, memories), _decision(example, [number for _, number in memories])

    def shown(self, example: Example, rng: random.Random, others: int) -> tuple[list[Known], int | None]:
        """What the judge is shown in a store with ``others`` memories besides, and the right decision.

        The decision is ``None`` where the memory that it is about is not shown.
        """
        memories = [(memory, number) for number, memory in enumerate(example["current"])]
        memories += [(memory, -1) for memory in self.store(example, rng, others)]
        known = self._known(example, memories)
        likeliest = sorted(range(len(known)), key=lambda place: -(known[place].likeness or 0.0))[:SLOTS]
        places = [memories[place][1] for place in likeliest]
        right = None
        if example["target"] is None or example["target"] in places:
            right = _decision(example, places)
        return [known[place] for place in likeliest], right

    def _known(self, example: Example, memories: Sequence[tuple[Example, int]]) -> list[Known]:
        sought = self._sought(example)
        told = date.fromisoformat(example["at"])
        return [
            Known(
                memory["text"],
                (told - date.fromisoformat(memory["at"])).days,
                float(self._vectors[memory["text"]] @ sought),
            )
            for memory, _ in memories
        ]

    def _sought(self, example: Example) -> Matrix:
        mapped = self._vectors[example["sentence"]] @ self._related
        unit: Matrix = mapped / np.linalg.norm(mapped)
        return unit

    def store(self, example: Example, rng: random.Random, count: int) -> list[Example]:
        """Up to ``count`` memories of others: of another domain, and not of the same attribute.

        Nobody lives in two places: what may be what the sentence replaces is no unrelated memory.
        """
        attribute = example.get("attribute")

        def unrelated(other: Example) -> bool:
            alike = attribute not in (None, *VAGUE) and other.get("attribute") == attribute
            return other["domain"] != example["domain"] and not alike

        return [memory for other, memory in rng.sample(self._others[example["lang"]], count) if unrelated(other)]

    def _near(self, example: Example, rng: random.Random, count: int) -> list[Example]:
        if not count:
            return []
        sought = self._sought(example)
        store = self.store(example, rng, STORE)
        return sorted(store, key=lambda memory: -float(self._vectors[memory["text"]] @ sought))[:count]


def judged(example: Example) -> list[str]:
    """The sentence that is judged, then those of the message that it does not touch."""
    message, start = example["message"], example["message"].index(example["sentence"])
    end = start + len(example["sentence"])
    spans = [span for span in sentences(message) if span.end <= start or span.start >= end]
    return [example["sentence"], *(message[span.start : span.end] for span in spans)]


def other_sentence(example: Example, rng: random.Random) -> Example | None:
    """The same message and memories, but another sentence of it is judged, which is about none of the memories.

    That holds for nearly all of the examples, and teaches that only the sentence itself decides.
    """
    others = judged(example)[1:]
    if not others:
        return None
    kept = {name: example[name] for name in ("lang", "domain", "current", "message", "at")}
    return kept | {"sentence": rng.choice(others), "target": None, "action": None}


def _decision(example: Example, places: list[int]) -> int:
    if example["action"] is None:
        return ANY_FREE
    if example["action"] in FREE:
        return SLOTS * len(RELATIONS) + FREE.index(example["action"])
    return places.index(example["target"]) * len(RELATIONS) + RELATIONS.index(example["action"])


def _sentence(example: Example) -> dict[str, int]:
    told = {
        "kind": KINDS.index(example["kind"]) if "kind" in example else UNTOLD,
        "about": SUBJECTS.index(example["about"]) if "about" in example else UNTOLD,
        "attribute": ATTRIBUTES.index(example["attribute"]) if "attribute" in example else UNTOLD,
    }
    for flag in ("single", "hedged"):
        told[flag] = int(example[flag]) if flag in example else UNTOLD
    return told


def batches(inputs: Sequence[Input], size: int, rng: random.Random) -> Iterator[list[Input]]:
    """Batches of inputs of alike length, in random order."""
    ordered = sorted(inputs, key=lambda item: len(item.ids) // 10 + rng.random())
    groups = [ordered[start : start + size] for start in range(0, len(ordered), size)]
    rng.shuffle(groups)
    yield from groups


def stack(group: Sequence[Input]) -> tuple[Tensor, Tensor, Tensor]:
    """Padded ids, slots and gaps, each of shape ``(len(group), longest)``."""
    longest = max(len(item.ids) for item in group)
    ids = torch.ones(len(group), longest, dtype=torch.long)
    slots = torch.full((len(group), longest), -1)
    gaps = torch.zeros(len(group), longest, dtype=torch.long)
    for row, item in enumerate(group):
        length = len(item.ids)
        ids[row, :length] = torch.tensor(item.ids)
        slots[row, :length] = torch.tensor(item.slots)
        gaps[row, :length] = torch.tensor(item.gaps)
    return ids, slots, gaps
