"""Write the maps of questions: ``python training/asked.py``; takes some ten minutes.

A question is nearer to its like than to its answer: "What does she do for a living?" to talk of earning money, not to
"another twelve hours on the ward". Two linear maps, of a question's vector and of its telling words, bring it nearer to
turns that answered such questions, with all other turns of a batch as negatives (van den Oord et al., "Representation
Learning with Contrastive Predictive Coding", 2018). Vectors and words of what is stored stay as they are.

Three quarters of the way that training goes are shipped: that keeps what it brings among questions like those of
training and loses less among others (Wortsman et al., "Robust Fine-Tuning of Zero-Shot Models", 2022).
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from memwell.builtin.embedder import BundledEmbedder
from memwell.engine.ports import Matrix

DATA = Path(__file__).parent / "asked"
SHIPPED = Path(__file__).parents[1] / "src/memwell/builtin/model"
EPOCHS, BATCH, SEED = 3, 12, 0
VECTOR_RATE, WORDS_RATE, SCALE_RATE = 1e-3, 3e-3, 1e-3
# What cosines and word matches are multiplied by at first; both are learned.
SCALES = (12.0, 9.0)
# Share of the way from no map to the trained one.
SHARE = 0.75
# One scene of so many is kept apart for the figures.
APART = 5
BEST = 10
# Compared at a time when measuring.
QUESTIONS_AT_A_TIME, TURNS_AT_A_TIME = 64, 256

Scene = dict[str, Any]


@dataclass(frozen=True)
class Texts:
    """Vector and words of each turn and each question, by text; words of turns as the signs that are stored."""

    turns: dict[str, tuple[Matrix, Matrix]]
    questions: dict[str, tuple[Matrix, Matrix]]

    @classmethod
    def of(cls, scenes: Sequence[Scene], embedder: BundledEmbedder) -> Texts:
        """What ``embedder`` makes of all that was said and asked."""
        turns = [said(turn) for scene in scenes for turn in scene["turns"]]
        questions = [question["question"] for scene in scenes for question in scene["asked"]]
        rows, codes = embedder.passages_with_words(turns)
        signs = [_signs(code, embedder.word_bits) for code in codes]
        return cls(
            dict(zip(turns, zip(rows, signs, strict=True), strict=True)),
            {question: embedder.plain_query(question) for question in questions},
        )


def said(turn: dict[str, str]) -> str:
    """A turn as it is embedded."""
    return f"{turn['who']}: {turn['text']}"


def _signs(code: bytes, bits: int) -> Matrix:
    """Rows of length 1."""
    ones = np.unpackbits(np.frombuffer(code, np.uint8).reshape(-1, bits // 8), axis=1)
    return (2 * ones.astype(np.float32) - 1) / np.float32(bits**0.5)


@dataclass(frozen=True)
class Pack:
    """Scenes as tensors.

    Attributes:
        turns: vectors, shape ``(turns, 384)``; ``signs``: of their words, ``(turns, most words, 128)``, ``held`` where
            there is a word; ``scene_of``: the scene of each, ``(turns,)``.
        questions: vectors, shape ``(questions, 384)``; ``words``: ``(questions, most words, 128)``, zeros where there
            is none; ``counts``: words of each; ``answers``: turns that answer each; ``asked_in``: its scene.
    """

    turns: Tensor
    signs: Tensor
    held: Tensor
    scene_of: Tensor
    questions: Tensor
    words: Tensor
    counts: Tensor
    answers: Sequence[Sequence[int]]
    asked_in: Sequence[int]
    languages: Sequence[str]

    @classmethod
    def of(cls, scenes: Sequence[Scene], texts: Texts) -> Pack:
        """``scenes`` with their answered questions."""
        turns = [texts.turns[said(turn)] for scene in scenes for turn in scene["turns"]]
        signs, held = _padded([words for _, words in turns])
        first, asked = 0, []
        for number, scene in enumerate(scenes):
            asked += [
                (texts.questions[question["question"]], [first + place for place in question["answers"]], number)
                for question in scene["asked"]
                if question["answers"]
            ]
            first += len(scene["turns"])
        words, told = _padded([words for (_, words), _, _ in asked])
        return cls(
            torch.tensor(np.stack([row for row, _ in turns])),
            signs,
            held,
            torch.tensor([number for number, scene in enumerate(scenes) for _ in scene["turns"]]),
            torch.tensor(np.stack([row for (row, _), _, _ in asked])),
            words,
            told.sum(1),
            [answers for _, answers, _ in asked],
            [number for _, _, number in asked],
            [scenes[number]["lang"][:2] for _, _, number in asked],
        )


def _padded(rows: Sequence[Matrix]) -> tuple[Tensor, Tensor]:
    """Rows of different lengths in one tensor, and where there is one."""
    padded = torch.zeros(len(rows), max(map(len, rows)), rows[0].shape[1])
    held = torch.zeros(padded.shape[:2], dtype=torch.bool)
    for place, each in enumerate(rows):
        padded[place, : len(each)] = torch.tensor(each)
        held[place, : len(each)] = True
    return padded, held


class Maps(nn.Module):
    """What is added to a question's vector and to each of its words, as matrices; nothing at first."""

    def __init__(self, width: int, bits: int) -> None:
        super().__init__()
        self.vector = nn.Parameter(torch.zeros(width, width))
        self.words = nn.Parameter(torch.zeros(bits, bits))
        self.scales = nn.Parameter(torch.tensor(SCALES))

    def forward(self, pack: Pack, asked: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
        """How near each question is to each turn, by vector and by words, shape ``(questions, turns)`` each."""
        questions = pack.questions[asked]
        by_vector = normalize(questions + questions @ self.vector, dim=-1) @ pack.turns[turns].T
        words = pack.words[asked, : int(pack.counts[asked].max())]
        sought = normalize(words + words @ self.words, dim=-1)
        held = pack.held[turns]
        held = held[:, : int(held.sum(1).max())]
        products = torch.einsum("qid,tjd->qtij", sought, pack.signs[turns, : held.shape[1]])
        nearest = products.masked_fill(~held[None, :, None], -1).amax(-1).clamp(min=0)
        by_words = nearest.sum(-1) / pack.counts[asked, None].clamp(min=1)
        return by_vector * self.scales[0], by_words * self.scales[1]

    def shared(self, share: float) -> tuple[Matrix, Matrix]:
        """The maps, for ``vector @ map``, that go ``share`` of the way."""
        vector, words = (share * change.detach().numpy() for change in (self.vector, self.words))
        return np.eye(len(vector), dtype=np.float32) + vector, np.eye(len(words), dtype=np.float32) + words


def fit(pack: Pack) -> Maps:
    """Train on ``pack``; the same for the same data."""
    maps = Maps(pack.questions.shape[1], pack.words.shape[2])
    optimiser = torch.optim.AdamW(
        [
            {"params": [maps.vector], "lr": VECTOR_RATE},
            {"params": [maps.words], "lr": WORDS_RATE},
            {"params": [maps.scales], "lr": SCALE_RATE},
        ],
        weight_decay=0.01,
    )
    rng = random.Random(SEED)
    scenes = sorted(set(pack.asked_in))
    for _ in range(EPOCHS):
        rng.shuffle(scenes)
        for start in range(0, len(scenes), BATCH):
            group = scenes[start : start + BATCH]
            turns = torch.isin(pack.scene_of, torch.tensor(group)).nonzero()[:, 0]
            asked = torch.tensor([place for place, scene in enumerate(pack.asked_in) if scene in group])
            right = torch.stack([torch.isin(turns, torch.tensor(pack.answers[place])) for place in asked])
            vector, words = maps(pack, asked, turns)
            loss = sum(_loss(logits, right) for logits in (vector, words, vector + words))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return maps


def _loss(logits: Tensor, right: Tensor) -> Tensor:
    """Each answer against all turns that do not answer."""
    others = logits.masked_fill(right, -torch.inf).logsumexp(1, keepdim=True)
    losses = torch.logaddexp(logits, others) - logits
    return ((losses * right).sum(1) / right.sum(1)).mean()


@torch.no_grad()
def measure(pack: Pack, maps: Maps, share: float) -> dict[str, dict[str, float]]:
    """Share of the answers among the best of all turns of ``pack``, in percent, by signal and sort of question."""
    moved = Maps(pack.questions.shape[1], pack.words.shape[2])
    moved.vector.copy_(share * maps.vector)
    moved.words.copy_(share * maps.words)
    found: dict[str, dict[str, list[float]]] = {"vectors": {}, "words": {}, "both": {}}
    turns = torch.arange(len(pack.turns)).split(TURNS_AT_A_TIME)
    for asked in torch.arange(len(pack.answers)).split(QUESTIONS_AT_A_TIME):
        vector, words = (torch.cat(part, 1) for part in zip(*(moved(pack, asked, some) for some in turns), strict=True))
        for signal, scores in (("vectors", vector), ("words", words), ("both", vector + words)):
            for place, best in zip(asked.tolist(), scores.topk(BEST).indices.tolist(), strict=True):
                answers = pack.answers[place]
                for sort in ("all", pack.languages[place], "one answer" if len(answers) == 1 else "several"):
                    found[signal].setdefault(sort, []).append(100 * len(set(best) & set(answers)) / len(answers))
    return {
        signal: {sort: round(float(np.mean(shares)), 1) for sort, shares in sorted(sorts.items())}
        for signal, sorts in found.items()
    }


def _apart(scene: Scene) -> bool:
    digest = hashlib.sha256(scene["turns"][0]["text"].encode()).digest()
    return digest[0] % APART == 0


def main() -> None:
    scenes = [
        json.loads(line) for path in sorted(DATA.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]
    texts = Texts.of(scenes, BundledEmbedder())
    kept, rest = (Pack.of([scene for scene in scenes if _apart(scene) is apart], texts) for apart in (True, False))
    maps = fit(rest)
    for share in (0.0, SHARE, 1.0):
        print(f"{share} of the way, scenes kept apart: {measure(kept, maps, share)}", flush=True)
    vector, words = fit(Pack.of(scenes, texts)).shared(SHARE)
    np.save(SHIPPED / "asked.npy", vector.astype(np.float16))
    np.save(SHIPPED / "asked-words.npy", words.astype(np.float16))


if __name__ == "__main__":
    main()
