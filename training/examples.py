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
        self._others = {
            language: [
                (example["domain"], memory)
                for example in examples
                if example["lang"] == language
                for memory in example["current"]
            ]
            for language in ("en", "zh")
        }

    def make(self, example: Example, rng: random.Random, unrelated: int, *, shuffle: bool, alone: bool) -> Input:
        """One input with up to ``unrelated`` others' memories; ``alone`` leaves out the rest of the message."""
        memories = [(memory, number) for number, memory in enumerate(example["current"])]
        memories += [(memory, -1) for memory in self._near(example, rng, min(unrelated, SLOTS - len(memories)))]
        if shuffle:
            rng.shuffle(memories)
        told = date.fromisoformat(example["at"])
        places = [number for _, number in memories]
        before, after = ("", "") if alone else beside(example["sentence"], example["message"])
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

    def _near(self, example: Example, rng: random.Random, count: int) -> list[Example]:
        if not count:
            return []
        drawn = rng.sample(self._others[example["lang"]], STORE)
        store = [memory for domain, memory in drawn if domain != example["domain"]]
        said = self._vectors[example["sentence"]] @ self._related
        store.sort(key=lambda memory: -float(np.dot(self._vectors[memory["text"]], said)))
        return store[:count]


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
