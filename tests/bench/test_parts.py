from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memwell.engine.ports import Matrix
from memwell.engine.vectors import checked
from memwell.interfaces.bench.parts import CachedEmbedder, HashEmbedder, KeepAll, WholeTurns
from memwell.interfaces.bench.statements import statements
from memwell.interfaces.python.memory import Memory


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__(8)
        self.asked: list[str] = []

    def passages(self, texts: Sequence[str]) -> Matrix:
        self.asked += texts
        return super().passages(texts)

    def query(self, text: str) -> Matrix:
        self.asked.append(text)
        return -super().query(text)


def test_cached_vectors_are_computed_once_and_survive_a_reopening(tmp_path: Path) -> None:
    inner = Counting()
    cache = CachedEmbedder(inner, tmp_path / "cache")
    first = cache.passages(["a", "b", "a"])
    question = cache.query("a")
    assert np.array_equal(cache.query("a"), question)
    cache.close()
    cache = CachedEmbedder(inner, tmp_path / "cache")
    again = cache.passages(["b", "a", "c"])
    assert np.array_equal(cache.query("a"), question)
    cache.close()
    # A question is embedded once in each run, a passage once.
    assert inner.asked == ["a", "b", "a", "c", "a"]
    assert np.array_equal(first, HashEmbedder(8).passages(["a", "b", "a"]))
    assert np.array_equal(again[:2], first[1::-1])
    assert not np.array_equal(question, first[0])


def test_hash_vectors_are_valid_repeatable_and_spread() -> None:
    texts = [f"text {number}" for number in range(50)]
    matrix = checked(HashEmbedder(64).passages(texts), 64, 50)
    assert np.array_equal(matrix, HashEmbedder(64).passages(texts))
    cosines = (matrix @ matrix.T)[~np.eye(50, dtype=bool)]
    assert abs(float(cosines.mean())) < 0.05
    checked(HashEmbedder(64).passages([]), 64, 0)


def test_simple_parts_keep_every_turn_whole(tmp_path: Path) -> None:
    with Memory(
        tmp_path / "s.db", user_id="u", embedder=HashEmbedder(8), extractor=WholeTurns(), judge=KeepAll()
    ) as memory:
        memory.add("I live in Leeds. I like tea.")
        memory.add("I moved to York.")
        memory.add("...")
        assert {record.content for record in memory.list().memories} == {
            "I live in Leeds. I like tea.",
            "I moved to York.",
        }


def test_statements_are_distinct_and_repeatable() -> None:
    first = [text for text, _ in zip(statements(), range(2000), strict=False)]
    assert len(set(first)) == 2000
    assert first == [text for text, _ in zip(statements(), range(2000), strict=False)]
