"""Late interaction: words of a question against words of each contender, one by one, by meaning.

Each word of the question takes the word of the text that is nearest to it (MaxSim: Khattab and Zaharia, "ColBERT",
2020). Words of texts are kept as the signs of a rotated projection (Gong and Lazebnik, "Iterative Quantization", 2011).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memwell.engine.ports import Matrix
from memwell.engine.ranking import Scores

# A word of the question that hardly any contender comes near counts at most as one that one of a hundred has.
_RAREST = 0.01
# Words multiplied at a time: OpenBLAS shares larger products among threads, which costs more than it brings.
_ROWS = 256


def word_matches(question: Matrix, codes: Sequence[bytes | None]) -> Scores | None:
    """How well the words of each text match those of the question, above the worst: 0 for it, more for others.

    Words that many of the texts match, as names of those who talk, count less than words that few do.

    Args:
        question: telling words of the question, shape ``(words, bits)``, normalised.
        codes: signs of the telling words of each text, end to end; ``None`` where they are not known.

    Returns:
        Shape ``(len(codes),)``; a text of which nothing is known counts as the mean of the others. ``None`` where
        nothing is known of any text.
    """
    known = [place for place, code in enumerate(codes) if code is not None]
    if not known or not len(question):
        return None
    best = _nearest(question, [codes[place] or b"" for place in known])
    nearness = np.maximum(best, 0) / np.maximum(best.max(axis=0), np.float32(1e-6))
    rarity = np.log1p(1 / np.maximum((nearness**2).mean(axis=0), _RAREST))
    values = (best @ (rarity / rarity.sum())).astype(np.float64)
    matches = np.full(len(codes), values.mean())
    matches[known] = values
    above: Scores = matches - matches.min()
    return above


def _nearest(question: Matrix, codes: Sequence[bytes]) -> Matrix:
    """Cosine of each text's nearest word to each word of the question, shape ``(texts, words)``; 0 without words."""
    bits = question.shape[1]
    best = np.zeros((len(codes), len(question)), np.float32)
    counts = np.array([len(code) // (bits // 8) for code in codes])
    signs = np.unpackbits(np.frombuffer(b"".join(codes), np.uint8).reshape(-1, bits // 8), axis=1)
    held = [signs[first : first + _ROWS].astype(np.float32) @ question.T for first in range(0, len(signs), _ROWS)]
    # The product with signs of 1 and -1, from bits of 1 and 0.
    products = (2 * np.concatenate(held or [best[:0]]) - question.sum(axis=1)) / np.float32(bits**0.5)
    filled = np.flatnonzero(counts)
    if len(filled):
        starts = np.cumsum(counts)[filled] - counts[filled]
        best[filled] = np.maximum.reduceat(products, starts, axis=0)
    return best
