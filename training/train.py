"""Train the decision model and write what the package ships: ``python training/train.py``. See README.md."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from examples import ANY_FREE, UNTOLD, Example, Input, Inputs, batches, judged, other_sentence, read, stack
from export import export, write_calibration
from measure import STORE, ask, described, fitted, found, measure
from model import DecisionModel
from related import train_related
from torch import nn

from memwell.builtin.embedder import bundled_embedder
from memwell.builtin.model.decide import DecisionModel as Exported
from memwell.builtin.model.layout import FREE, SLOTS
from memwell.builtin.model.weights import EncoderWeights
from memwell.engine.ports import Matrix

DATA = Path(__file__).parent / "data"
SHIPPED = Path(__file__).parents[1] / "src" / "memwell" / "builtin" / "model"
# Never trained on: voices and domains of its own; the second written by someone who had not seen the rest.
TEST, BLIND = "test.jsonl", "blind.jsonl"
# Layers of the base that are kept, and how many of those stay as they are.
DEPTH, FROZEN = 8, 2
EPOCHS, BATCH, RATE, SEED = 3, 16, 1e-4, 0
# The heads are new, so they learn faster than the encoder.
HEAD_RATE = 10 * RATE
# What the heads on the sentence alone weigh beside the decision.
SENTENCE_WEIGHT = 0.15
# Unrelated memories put beside an example, drawn anew in each epoch; in a store most memories are unrelated.
UNRELATED = (0, 0, 1, 2, 4)
# Shares of the draws that judge another sentence of the message, and that leave out the rest of the message.
OTHER_SENTENCE, ALONE = 0.1, 0.2
# Inputs by which the export sees how large values get.
SOME = 200


def _loss(model: DecisionModel, group: Sequence[Input]) -> torch.Tensor:
    logits, heads = model(*stack(group))
    shares = logits.log_softmax(-1)
    truth = torch.tensor([item.decision for item in group])
    exact = shares.gather(1, truth.clamp(min=0)[:, None])[:, 0]
    free = shares[:, -len(FREE) :].logsumexp(-1)
    loss = -torch.where(truth == ANY_FREE, free, exact).mean()
    for name, answers in heads.items():
        told = torch.tensor([item.sentence[name] for item in group])
        if (told != UNTOLD).any():
            loss = loss + SENTENCE_WEIGHT * nn.functional.cross_entropy(answers, told, ignore_index=UNTOLD)
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
        made = [_drawn(example, inputs, rng) for example in examples]
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


def _drawn(example: Example, inputs: Inputs, rng: random.Random) -> Input:
    other = other_sentence(example, rng) if rng.random() < OTHER_SENTENCE else None
    return inputs.make(other or example, rng, rng.choice(UNRELATED), alone=rng.random() < ALONE)


def embedded(examples: Sequence[Example]) -> dict[str, Matrix]:
    """The bundled embedder's vectors of all that may be judged and of all memories, by text."""
    texts = {text for example in examples for text in judged(example)}
    texts |= {memory["text"] for example in examples for memory in example["current"]}
    ordered = sorted(texts, key=lambda text: (len(text), text))
    return dict(zip(ordered, bundled_embedder().passages(ordered), strict=True))


def data_hash(paths: Sequence[Path]) -> str:
    """SHA-256 over names and contents, in order."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _calibrate(out: Path, inputs: Inputs) -> dict[str, object]:
    """Fit the exported model's calibration on ``TEST``, write it, and return the figures on both held-out parts."""
    model = Exported(out)
    parts = {name: read([DATA / name]) for name in (TEST, BLIND)}
    asked = {(name, others): ask(model, held, inputs, others) for name, held in parts.items() for others in (0, STORE)}
    calibration = fitted(asked[TEST, STORE])
    write_calibration(out, calibration)
    model = Exported(out)
    told = {name: described(model, held) for name, held in parts.items()}
    figures: dict[str, object] = {}
    for (name, others), answers in asked.items():
        measured = measure(answers, calibration, told[name])
        print(f"{name}, {others} other memories in the store:\n{measured.table()}", flush=True)
        figures[f"{name}+{others}"] = measured.figures()
    return figures


def _found(inputs: Mapping[str, Inputs]) -> dict[str, object]:
    """How often what a held-out sentence acts on is shown, without and with the map."""
    held = read([DATA / TEST, DATA / BLIND])
    figures = {name: found(held, each) for name, each in inputs.items()}
    print(f"shown: {figures}", flush=True)
    return dict(figures)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=SHIPPED, help="folder for the files that are shipped")
    arguments.add_argument("--epochs", type=int, default=EPOCHS)
    arguments.add_argument("--seed", type=int, default=SEED)
    arguments.add_argument("--calibrate", action="store_true", help="leave the model in --out as it is, calibrate it")
    given = arguments.parse_args()
    paths = sorted(path for path in DATA.glob("*.jsonl") if path.name not in (TEST, BLIND))
    examples = read(paths)
    print(f"{len(examples)} examples in {len(paths)} files", flush=True)
    start = time.monotonic()
    vectors = embedded([*examples, *read([DATA / TEST, DATA / BLIND])])
    related = train_related(examples, vectors, given.seed)
    weights = EncoderWeights()
    inputs = Inputs(weights, examples, vectors, related)
    unmapped = Inputs(weights, examples, vectors, np.eye(len(related), dtype=np.float32))
    card_file = given.out / "card.json"
    if given.calibrate:
        card = json.loads(card_file.read_text(encoding="utf-8"))
    else:
        torch.manual_seed(given.seed)
        model = DecisionModel(weights, DEPTH)
        train(model, examples, inputs, given.epochs, given.seed)
        rng = random.Random(given.seed)
        some = [inputs.make(example, rng, SLOTS, alone=False) for example in rng.sample(examples, SOME)]
        export(model, related, some, given.out)
        card = {
            "examples": len(examples),
            "data_sha256": data_hash(paths),
            "files": [path.name for path in paths],
            "seed": given.seed,
            "epochs": given.epochs,
            "layers": DEPTH,
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "seconds": round(time.monotonic() - start),
        }
    card["found"] = _found({"without": unmapped, "with": inputs})
    card["held_out"] = _calibrate(given.out, inputs)
    card_file.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
