from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.storage.signals import episodes, keyword_share, with_context

LENGTHS = np.array([4, 4, 4, 4])


def at(*places: int) -> np.ndarray:
    return np.array(places, np.intp)


def test_a_word_that_nobody_said_takes_from_those_that_were() -> None:
    whole = keyword_share([at(1)], LENGTHS, 0.25)
    part = keyword_share([at(1), at(), at()], LENGTHS, 0.25)
    assert part[1] == pytest.approx(whole[1] / 1.5)
    assert keyword_share([at(1), at(), at()], LENGTHS)[1] == whole[1]
    assert keyword_share([at(), at()], LENGTHS, 0.25).tolist() == [0, 0, 0, 0]


@given(
    st.lists(st.lists(st.integers(0, 3), unique=True), max_size=5),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_a_share_is_one_and_falls_with_what_is_absent(matches: list[list[int]], less: float, more: float) -> None:
    less, more = sorted((less, more))
    places = [np.array(sorted(each), np.intp) for each in matches]
    high, low = keyword_share(places, LENGTHS, less), keyword_share(places, LENGTHS, more)
    assert ((high >= 0) & (high <= 1)).all()
    assert (low <= high + 1e-12).all()


def test_what_was_said_before_counts_within_an_episode() -> None:
    minute = 60_000_000
    sessions, said_at = np.array([0, 0, 1, 0, 0]), np.array([0, minute, 2 * minute, 3 * minute, 99 * minute])
    _, follower = episodes(sessions, said_at)
    share = np.array([1.0, 0, 0, 0, 0])
    assert with_context(share, follower, 0.5).tolist() == [1, 0.5, 0, 0.5, 0]
    assert with_context(share, follower, 0.0).tolist() == share.tolist()
