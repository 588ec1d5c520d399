"""The map that finds what a sentence bears on: from its vector to near those of the memories that it acts on.

What lies nearest to a sentence is often not what it replaces: "Moved in with Tom" is nearer to other news of Tom than
to "Lives alone". A linear map of the sentence's vector, trained with the other memories of a batch and random ones as
negatives (van den Oord et al., "Representation Learning with Contrastive Predictive Coding", 2018), brings the right
one among the few that the decision model weighs. The memories' own vectors stay as they are.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from examples import Example
from torch import nn

from memwell.engine.ports import Matrix

EPOCHS, BATCH, NEGATIVES, RATE = 10, 128, 512, 1e-3
# Cosines are divided by this at first; it is learned.
TEMPERATURE = 0.08


def train_related(examples: Sequence[Example], vectors: Mapping[str, Matrix], seed: int) -> Matrix:
    """The map, shape ``(width, width)``, for ``vectors @ map``."""
    rng = random.Random(seed)
    pairs = [
        (vectors[example["sentence"]], vectors[example["current"][example["target"]]["text"]], example["lang"])
        for example in examples
        if example["target"] is not None
    ]
    others: dict[str, list[Matrix]] = {"en": [], "zh": []}
    for example in examples:
        others[example["lang"]] += [vectors[memory["text"]] for memory in example["current"]]
    width = len(pairs[0][0])
    change = nn.Parameter(torch.zeros(width, width))
    scale = nn.Parameter(torch.tensor(-np.log(TEMPERATURE), dtype=torch.float32))
    optimiser = torch.optim.AdamW([change, scale], lr=RATE)
    for _ in range(EPOCHS):
        rng.shuffle(pairs)
        for start in range(0, len(pairs), BATCH):
            group = pairs[start : start + BATCH]
            said = torch.tensor(np.stack([said for said, _, _ in group]))
            known = [memory for _, memory, _ in group]
            known += [rng.choice(others[group[number % len(group)][2]]) for number in range(NEGATIVES)]
            sought = nn.functional.normalize(said + said @ change, dim=-1)
            logits = sought @ torch.tensor(np.stack(known)).T * scale.exp()
            loss = nn.functional.cross_entropy(logits, torch.arange(len(group)))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    made: Matrix = np.eye(width, dtype=np.float32) + change.detach().numpy()
    return made
