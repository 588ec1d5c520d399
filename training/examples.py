"""Labelled examples and the inputs made of them."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

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

Example = dict[str, Any]
# A class that an example does not tell; such examples teach the other heads only.
UNTOLD = -100


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
    """Makes inputs of examples; unrelated memories of other examples are put beside, as in a store."""

    def __init__(self, weights: EncoderWeights, examples: Sequence[Example]) -> None:
        self.pieces = lru_cache(maxsize=None)(weights.pieces)
        self._others = {
            language: [
                (example["domain"], memory)
                for example in examples
                if example["lang"] == language
                for memory in example["current"]
            ]
            for language in ("en", "zh")
        }

    def make(self, example: Example, rng: random.Random, unrelated: int, shuffle: bool) -> Input:
        """One input with up to ``unrelated`` others' memories."""
        memories = [(memory, number) for number, memory in enumerate(example["current"])]
        others = self._others[example["lang"]]
        for _ in range(min(unrelated, SLOTS - len(memories))):
            domain, memory = rng.choice(others)
            if domain != example["domain"]:
                memories.append((memory, -1))
        if shuffle:
            rng.shuffle(memories)
        told = date.fromisoformat(example["at"])
        places = [number for _, number in memories]
        before, after = beside(example["sentence"], example["message"])
        ids, slots, gaps = sequence(
            self.pieces(example["sentence"]),
            self.pieces(before),
            self.pieces(after),
            [
                (self.pieces(memory["text"]), gap_class((told - date.fromisoformat(memory["at"])).days))
                for memory, _ in memories
            ],
        )
        return Input(ids, slots, gaps, _decision(example, places), _sentence(example))


def _decision(example: Example, places: list[int]) -> int:
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
