"""Train the decision model and write what the package ships: ``python training/train.py``. See README.md."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from examples import UNTOLD, Example, Input, Inputs, batches, read, stack
from export import export
from measure import Measured, fitted_temperature, measure
from model import DecisionModel
from torch import nn

from memwell.builtin.model.weights import EncoderWeights

DATA = Path(__file__).parent / "data"
SHIPPED = Path(__file__).parents[1] / "src" / "memwell" / "builtin" / "model"
# Never trained on: voices and domains of its own; the second written by someone who had not seen the rest.
TEST, BLIND = "test.jsonl", "blind.jsonl"
# Layers of the base that are kept, and how many of those stay as they are.
DEPTH, FROZEN = 8, 2
EPOCHS, BATCH, RATE, SEED = 4, 16, 1e-4, 0
# The heads are new, so they learn faster than the encoder.
HEAD_RATE = 10 * RATE
# What the heads on the sentence alone weigh beside the decision.
SENTENCE_WEIGHT = 0.15
# Unrelated memories put beside an example, drawn anew in each epoch; in a store most memories are unrelated.
UNRELATED = (0, 0, 1, 2, 4)


def _loss(model: DecisionModel, group: Sequence[Input]) -> torch.Tensor:
    logits, heads = model(*stack(group))
    loss = nn.functional.cross_entropy(logits, torch.tensor([item.decision for item in group]))
    for name, answers in heads.items():
        truth = torch.tensor([item.sentence[name] for item in group])
        if (truth != UNTOLD).any():
            loss = loss + SENTENCE_WEIGHT * nn.functional.cross_entropy(answers, truth, ignore_index=UNTOLD)
    return loss


def _optimiser(model: DecisionModel) -> torch.optim.Optimizer:
    for part in (model.words, model.norm, *model.layers[:FROZEN]):
        part.requires_grad_(False)
    encoder = [parameter for layer in model.layers[FROZEN:] for parameter in layer.parameters()]
    parts = (model.slots, model.gaps, model.pair, model.alone, model.sentence)
    fresh = [parameter for part in parts for parameter in part.parameters()]
    return torch.optim.AdamW([{"params": encoder, "lr": RATE}, {"params": fresh, "lr": HEAD_RATE}], weight_decay=0.01)


def train(model: DecisionModel, examples: Sequence[Example], inputs: Inputs, epochs: int, seed: int) -> None:
    """Fine-tune ``model`` in place with one learning-rate cycle (Smith and Topin, "Super-Convergence", 2019)."""
    rng = random.Random(seed)
    optimiser = _optimiser(model)
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser,
        [group["lr"] for group in optimiser.param_groups],
        total_steps=epochs * -(-len(examples) // BATCH) + 1,
        pct_start=0.1,
    )
    start = time.monotonic()
    for epoch in range(epochs):
        model.train()
        made = [inputs.make(example, rng, rng.choice(UNRELATED), shuffle=True) for example in examples]
        total = 0.0
        for group in batches(made, BATCH, rng):
            loss = _loss(model, group)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimiser.step()
            schedule.step()
            total += float(loss.detach()) * len(group)
        print(f"epoch {epoch + 1}: loss {total / len(made):.3f}, {time.monotonic() - start:.0f} s", flush=True)


def data_hash(paths: Sequence[Path]) -> str:
    """SHA-256 over names and contents, in order."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _report(model: DecisionModel, inputs: Inputs, temperature: float) -> dict[str, object]:
    """Figures on the parts that were not trained on, alone and among unrelated memories; also printed."""
    figures: dict[str, object] = {}
    for name in (TEST, BLIND):
        if not (DATA / name).exists():
            continue
        held = read([DATA / name])
        for unrelated in (0, 4):
            measured: Measured = measure(model, held, inputs, unrelated, temperature)
            print(f"{name}, {unrelated} unrelated memories beside:\n{measured.table()}", flush=True)
            figures[f"{name}+{unrelated}"] = measured.figures()
    return figures


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=SHIPPED, help="folder for the files that are shipped")
    arguments.add_argument("--epochs", type=int, default=EPOCHS)
    arguments.add_argument("--seed", type=int, default=SEED)
    given = arguments.parse_args()
    torch.manual_seed(given.seed)
    paths = sorted(path for path in DATA.glob("*.jsonl") if path.name not in (TEST, BLIND))
    examples = read(paths)
    print(f"{len(examples)} examples in {len(paths)} files", flush=True)
    weights = EncoderWeights()
    model = DecisionModel(weights, DEPTH)
    inputs = Inputs(weights, examples)
    start = time.monotonic()
    train(model, examples, inputs, given.epochs, given.seed)
    seconds = time.monotonic() - start
    temperature = fitted_temperature(model, read([DATA / TEST]), inputs)
    export(model, temperature, given.out)
    card = {
        "examples": len(examples),
        "data_sha256": data_hash(paths),
        "files": [path.name for path in paths],
        "seed": given.seed,
        "epochs": given.epochs,
        "layers": DEPTH,
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "seconds": round(seconds),
        "temperature": round(temperature, 3),
        "held_out": _report(model, inputs, temperature),
    }
    (given.out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
