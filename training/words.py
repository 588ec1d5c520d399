"""Write the projection of telling words: ``python training/words.py``; takes a minute.

It is fitted on the neutral sentences that come with the package, so it knows no benchmark: the mean of their telling
words, the directions in which these differ most, and the rotation of them after which the signs lose least (Gong and
Lazebnik, "Iterative Quantization", 2011).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memwell.builtin.embedder import BundledEmbedder, neutral_sentences, unit
from memwell.engine.ports import Matrix

PATH = Path(__file__).parents[1] / "src/memwell/builtin/model/words.npz"
ROUNDS = 50
SEED = 7


def projection(words: Matrix, bits: int) -> tuple[Matrix, Matrix]:
    """Mean, shape ``(dimensions,)``, and projection, shape ``(dimensions, bits)``, for ``words``, one a row."""
    mean = words.mean(axis=0)
    _, _, directions = np.linalg.svd(words - mean, full_matrices=False)
    principal = directions[:bits].T
    rows = unit(words - mean) @ principal
    rotation = np.linalg.qr(np.random.default_rng(SEED).standard_normal((bits, bits)))[0]
    for _ in range(ROUNDS):
        left, _, right = np.linalg.svd(np.sign(rows @ rotation).T @ rows)
        rotation = (left @ right).T
    return mean, principal @ rotation


if __name__ == "__main__":
    embedder = BundledEmbedder()
    mean, turned = projection(embedder.word_means(neutral_sentences()), embedder.word_bits)
    np.savez_compressed(PATH, mean=mean.astype(np.float16), projection=turned.astype(np.float16))
