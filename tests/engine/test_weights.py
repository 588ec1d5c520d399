from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memwell import Memory
from memwell.builtin.ranking import load_weights
from memwell.errors import ConfigurationError
from memwell.interfaces.bench.ablation import ALL_SIGNALS, variants


@pytest.mark.parametrize(
    "bad",
    [
        {"keyword": -0.1},
        {"episode": float("nan")},
        {"other": "much"},
        {"turn": True},
        {"date_days": 0},
        {"narrow_terms": 1},
    ],
)
def test_weights_that_mean_nothing_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(bad))) as caught:
        replace(load_weights(), **bad)  # type: ignore[arg-type]
    assert caught.value.remedy


def test_each_ablation_differs_from_all_signals() -> None:
    found = variants(load_weights())
    assert found[ALL_SIGNALS] == load_weights()
    assert len(set(found.values())) == len(found)


def test_a_store_is_searched_with_the_weights_given(tmp_path: Path) -> None:
    weights = replace(load_weights(), similarity=0.0, words=0.0)
    with Memory(tmp_path / "m.db", user_id="u", weights=weights) as memory:
        memory.add("I keep bees.", at="2025-01-10T09:00:00Z")
        memory.add("I collect stamps.", at="2025-01-11T09:00:00Z")
        assert [item.score for item in memory.search("honey", limit=2).memories] == [0, 0]
