"""Dot products of a scope's vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.storage.sqlite import windows
from memwell.storage.sqlite.grown import BLOCK


@given(blocks=st.integers(0, 9), width=st.sampled_from([3, 64, 384]), shares=st.integers(1, 4), seed=st.integers(0, 99))
def test_a_product_is_the_same_however_many_cores_share_the_rows(
    blocks: int, width: int, shares: int, seed: int
) -> None:
    made = np.random.default_rng(seed)
    rows = made.standard_normal((blocks * BLOCK, width)).astype(np.float32)
    vector = made.standard_normal(width).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "_SHARE_VALUES", 1)
        patch.setattr(windows, "cores", lambda: 1)
        alone = windows._products(rows, vector)
        patch.setattr(windows, "cores", lambda: shares)
        shared = windows._products(rows, vector)
    assert np.array_equal(alone, shared)
    assert shared == pytest.approx(rows @ vector, abs=1e-3)
