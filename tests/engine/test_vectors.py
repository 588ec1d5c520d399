from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.engine.ports import Matrix
from memwell.engine.vectors import WINDOW_COST, checked, pack, unpack, windows
from memwell.errors import EmbeddingError

TEXTS = st.text(alphabet=st.sampled_from("ab .,!?\n我住在上海，。🙂é\u0301"), max_size=5000)


def rows(count: int, dimensions: int) -> Matrix:
    made = np.random.default_rng(1).normal(size=(count, dimensions))
    scaled: Matrix = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return scaled


@pytest.mark.parametrize("count", [0, 1, 5])
def test_good_vectors_pass_unchanged(count: int) -> None:
    good = rows(count, 8)
    assert np.array_equal(checked(good, 8, count), good)
    assert checked(np.asfortranarray(good.astype(np.float64)), 8, count).flags.c_contiguous


@pytest.mark.parametrize(("dimensions", "count"), [(7, 3), (8, 2), (8, 4)])
def test_wrong_shapes_are_refused(dimensions: int, count: int) -> None:
    with pytest.raises(EmbeddingError) as caught:
        checked(rows(3, 8), dimensions, count)
    assert caught.value.code == "wrong_shape"


@pytest.mark.parametrize(("value", "code"), [(np.nan, "not_finite"), (np.inf, "not_finite"), (2.0, "not_normalised")])
def test_the_bad_row_is_named(value: float, code: str) -> None:
    bad = rows(3, 8)
    bad[1, 4] = value
    with pytest.raises(EmbeddingError, match="vector 1 of 3") as caught:
        checked(bad, 8, 3)
    assert caught.value.code == code


def test_a_zero_vector_is_refused() -> None:
    with pytest.raises(EmbeddingError):
        checked(np.zeros((1, 8), dtype=np.float32), 8, 1)


def test_packing_is_little_endian_float32_and_reversible() -> None:
    row = rows(1, 8)[0]
    assert len(pack(row)) == 32
    assert pack(np.asarray([1.0], dtype=np.float32)) == b"\x00\x00\x80\x3f"
    assert np.array_equal(unpack(pack(row)), row)


@pytest.mark.parametrize("text", ["", " \n "])
def test_blank_text_has_no_window(text: str) -> None:
    assert windows(text) == ()


@pytest.mark.parametrize("text", ["x", "a" * 1500, "我" * 500])
def test_short_text_is_one_window(text: str) -> None:
    assert [(span.start, span.end) for span in windows(text)] == [(0, len(text))]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Ann went home. " * 200, "home."),
        ("我住在上海。" * 200, "上海。"),
        ("word " * 600, "word"),
    ],
)
def test_cuts_fall_after_sentences_or_at_spaces(text: str, first: str) -> None:
    spans = windows(text)
    assert len(spans) > 1
    assert all(text[span.start : span.end].endswith(first) for span in spans)


def test_an_unbroken_megabyte_is_cut() -> None:
    spans = windows("x" * 1_000_000)
    assert len(spans) == -(-1_000_000 // WINDOW_COST)


@given(TEXTS)
def test_windows_cover_all_but_space_and_fit_the_budget(text: str) -> None:
    spans = windows(text)
    covered = "".join(text[span.start : span.end] for span in spans)
    assert "".join(covered.split()) == "".join(text.split())
    for earlier, later in pairwise(spans):
        assert earlier.end <= later.start
    wide = [sum(char in "我住在上海，。🙂" for char in text[span.start : span.end]) for span in spans]
    assert all(span.end - span.start + 2 * extra <= WINDOW_COST for span, extra in zip(spans, wide, strict=True))
