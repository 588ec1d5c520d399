from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memwell import Memory
from memwell.builtin.extractor import BuiltinExtractor
from memwell.builtin.rules import RuleJudge
from memwell.domain.decision import Action
from memwell.domain.evidence import Evidence
from memwell.domain.memory import Polarity, State
from memwell.engine.ports import Comparison, Embedder, Extraction, Matrix, Turn, Verdict
from memwell.errors import (
    EmbeddingError,
    EvidenceConflictError,
    ExtractionError,
    IdempotencyConflictError,
    StaleDecisionError,
)
from memwell.testing.doubles import FakeClock, HashEmbedder

DAY = timedelta(days=1)
START = datetime(2024, 1, 1, 12, tzinfo=UTC)


def contents(memory: Memory, *, history: bool = False) -> list[str]:
    return sorted(record.content for record in memory.list(include_history=history, limit=500).memories)


def test_a_write_says_what_it_did(memory: Memory) -> None:
    written = memory.add("I live in Oslo. What time is it?", at=START)
    assert written.status == "committed"
    (decision,) = written.decisions
    assert (decision.action, decision.content) == (Action.SUPPLEMENT, "I live in Oslo.")
    assert decision.memory_id == written.memory_ids[0]
    assert [passage.text for passage in written.passed] == ["What time is it?"]
    assert set(written.timings) == {"evidence", "extract", "embed", "decide"}
    explained = memory.explain(written.memory_ids[0])
    assert [quote.text for quote in explained.quotes] == ["I live in Oslo."]
    assert explained.quotes[0].evidence_id == written.evidence_ids[0]


def test_nothing_durable_keeps_the_evidence(memory: Memory) -> None:
    written = memory.add("What is the capital of Peru?", at=START)
    assert (written.status, written.memory_ids) == ("raw_only", ())
    assert memory.search("Peru", raw_limit=3).raw[0].content == "What is the capital of Peru?"


def test_back_and_forth_makes_three_versions(memory: Memory) -> None:
    for i, city in enumerate(("Beijing", "Shanghai", "Beijing")):
        memory.add(f"I live in {city}.", at=START + i * DAY)
    (head,) = memory.list().memories
    chain = memory.history(head.id)
    assert [record.content for record in chain] == [f"I live in {c}." for c in ("Beijing", "Shanghai", "Beijing")]
    assert head.links.supersedes == (chain[1].id,)
    assert [record.state for record in chain] == [State.SUPERSEDED, State.SUPERSEDED, State.CURRENT]


def test_a_whole_story_in_one_call_ends_like_one_told_in_parts(memory: Memory) -> None:
    memory.add(
        [
            {"role": "user", "content": "I live in Beijing.", "at": START},
            {"role": "assistant", "content": "Nice."},
            {"role": "user", "content": "I live in Shanghai now.", "at": START + DAY},
            {"role": "user", "content": "I live in Beijing.", "at": START + 2 * DAY},
        ]
    )
    assert contents(memory) == ["I live in Beijing."]
    assert len(contents(memory, history=True)) == 3
    assert memory.check() == []


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_order_of_arrival_ends_in_the_same_current_view(
    tmp_path: Path, embedder: Embedder, order: tuple[int, ...]
) -> None:
    said = [("I live in Porto.", START), ("I live in Ghent.", START + 300 * DAY), ("我养了一只猫", START + 9 * DAY)]
    with Memory(tmp_path / "m.db", user_id="alice", embedder=embedder) as memory:
        for i in order:
            memory.add(said[i][0], at=said[i][1])
        assert contents(memory) == ["I live in Ghent.", "我养了一只猫"]
        assert len(contents(memory, history=True)) == 3
        then = memory.search("Where do I live?", as_of=START + DAY).memories
        assert then[0].content == "I live in Porto."


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_any_order_of_arrival_tells_the_same_past(tmp_path: Path, embedder: Embedder, order: tuple[int, ...]) -> None:
    said = [(city, START + months * 30 * DAY) for city, months in (("Leuven", 0), ("Ghent", 5), ("Namur", 11))]
    with Memory(tmp_path / "m.db", user_id="alice", embedder=embedder) as memory:
        for i in order:
            memory.add(f"I live in {said[i][0]}.", at=said[i][1])
        for city, begins in said:
            then = memory.search("Where do I live?", as_of=begins + DAY).memories
            assert [item.content for item in then] == [f"I live in {city}."]
        assert memory.check() == []


def test_a_request_id_makes_a_write_happen_once(memory: Memory) -> None:
    first = memory.add("I live in Oslo. Hello!", at=START, request_id="r1")
    again = memory.add("I live in Oslo. Hello!", at=START, request_id="r1")
    assert again.replayed
    assert (again.evidence_ids, again.memory_ids) == (first.evidence_ids, first.memory_ids)
    assert again.decisions == first.decisions
    assert again.passed == first.passed
    nothing = memory.add("Hello!", request_id="r2")
    assert memory.add("Hello!", request_id="r2").evidence_ids == nothing.evidence_ids
    with pytest.raises(IdempotencyConflictError):
        memory.add("I live in Rome.", at=START, request_id="r1")
    assert memory.status().figures["evidence"] == 2


def test_without_a_request_id_equal_text_is_two_events(memory: Memory) -> None:
    memory.add("I ran a marathon.", at=START)
    memory.add("I ran a marathon.", at=START + DAY)
    assert memory.status().figures["evidence"] == 2


def test_a_resent_message_forms_nothing_twice_and_a_changed_one_is_refused(memory: Memory) -> None:
    message = {"role": "user", "content": "I live in Oslo.", "id": "m1"}
    memory.add([message], at=START)
    again = memory.add([message, {"role": "user", "content": "I keep bees.", "id": "m2"}], at=START)
    assert again.status == "committed"
    assert memory.add([message]).status == "known"
    with pytest.raises(EvidenceConflictError, match="m1"):
        memory.add([{**message, "content": "I live in Rome."}])
    assert contents(memory) == ["I keep bees.", "I live in Oslo."]


class _BrokenExtractor:
    name = "broken/1"

    def __init__(self) -> None:
        self.broken = True

    def extract(self, turns: Sequence[Turn], context: Sequence[Evidence]) -> Extraction:
        if self.broken:
            raise ExtractionError("the answer was cut", remedy="repeat", code="JSON_PARSE_FAILED")
        return BuiltinExtractor().extract(turns, context)


class _NanEmbedder(HashEmbedder):
    broken = True

    def passages(self, texts: Sequence[str]) -> Matrix:
        matrix = super().passages(texts)
        return np.full_like(matrix, np.nan) if self.broken else matrix


def test_a_failed_extraction_keeps_the_evidence_and_a_repeat_succeeds(tmp_path: Path, embedder: Embedder) -> None:
    extractor = _BrokenExtractor()
    with Memory(tmp_path / "m.db", user_id="a", embedder=embedder, extractor=extractor) as memory:
        with pytest.raises(ExtractionError):
            memory.add("I live in Oslo.", request_id="r1")
        assert contents(memory) == []
        assert memory.status().figures["unformed"] == 1
        extractor.broken = False
        written = memory.add("I live in Oslo.", request_id="r1")
        assert (written.status, written.replayed) == ("committed", False)
        assert memory.status().figures["evidence"] == 1
        assert memory.status().figures["unformed"] == 0


def test_what_a_failed_write_left_can_be_formed_later(tmp_path: Path, embedder: Embedder) -> None:
    extractor = _BrokenExtractor()
    with Memory(tmp_path / "m.db", user_id="a", embedder=embedder, extractor=extractor) as memory:
        for user, words in (("a", "I live in Oslo."), ("b", "我养了一只猫")):
            with pytest.raises(ExtractionError):
                memory.add(
                    [{"role": "user", "content": words}, {"role": "assistant", "content": "Nice."}], user_id=user
                )
        extractor.broken = False
        assert memory.resume() == 2
        assert memory.resume() == 0
        assert contents(memory) == ["I live in Oslo."]
        assert memory.status().figures["unformed"] == 0


def test_a_bad_vector_is_refused_before_anything_is_formed(tmp_path: Path) -> None:
    embedder = _NanEmbedder()
    with Memory(tmp_path / "m.db", user_id="a", embedder=embedder) as memory:
        with pytest.raises(EmbeddingError):
            memory.add("I live in Oslo.", request_id="r1")
        assert contents(memory) == []
        embedder.broken = False
        assert memory.add("I live in Oslo.", request_id="r1").status == "committed"


class _Meddler:
    """A judge during whose thinking another writer changes the scope, ``times`` times."""

    name = "meddler/1"
    local = True

    def __init__(self, times: int) -> None:
        self.left = times
        self.other: Memory | None = None

    def judge(self, comparisons: Sequence[Comparison]) -> list[Verdict]:
        if self.left and self.other is not None:
            self.left -= 1
            self.other.add(f"I live in Oslo. My locker is number {self.left}.", at=START)
        return RuleJudge().judge(comparisons)


@pytest.fixture
def contested(tmp_path: Path, clock: FakeClock) -> Iterator[tuple[Memory, _Meddler]]:
    meddler = _Meddler(0)
    embedder = HashEmbedder()
    with (
        Memory(tmp_path / "m.db", user_id="a", embedder=embedder, judge=meddler, clock=clock) as memory,
        Memory(tmp_path / "m.db", user_id="a", embedder=embedder, clock=clock) as other,
    ):
        meddler.other = other
        yield memory, meddler


def test_a_lost_race_is_decided_again(contested: tuple[Memory, _Meddler]) -> None:
    memory, meddler = contested
    meddler.left = 1
    written = memory.add("I live in Oslo.", at=START)
    assert written.status == "known"
    assert contents(memory).count("I live in Oslo.") == 1


def test_races_without_end_are_reported_and_lose_nothing(contested: tuple[Memory, _Meddler]) -> None:
    memory, meddler = contested
    meddler.left = 2
    assert memory.add("I keep bees.", at=START, request_id="r1").status == "committed"
    assert "I keep bees." in contents(memory)
    assert memory.check() == []
    assert StaleDecisionError("x", remedy="y").code == "stale_decision"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["I live in Oslo.", "I live in Rome.", "I moved to Bonn.", "我住在上海", "I no longer live in Rome."]
            ),
            st.integers(0, 40),
        ),
        max_size=8,
    )
)
@example([("I live in Oslo.", 0), ("I no longer live in Rome.", 0), ("I live in Oslo.", 1), ("I moved to Bonn.", 0)])
@example([("I moved to Bonn.", 0), ("I no longer live in Rome.", 8), ("I live in Rome.", 9)])
def test_random_histories_keep_the_invariants(
    tmp_path_factory: pytest.TempPathFactory, embedder: Embedder, said: list[tuple[str, int]]
) -> None:
    path = tmp_path_factory.mktemp("random") / "m.db"
    with Memory(path, user_id="a", embedder=embedder) as memory:
        for text, day in said:
            memory.add(text, at=START + day * DAY)
        assert memory.check() == []
        records = memory.list(include_history=True, limit=500).memories
        homes = [record for record in records if record.attribute == "residence" and record.state is State.CURRENT]
        assert sum(record.polarity is Polarity.POSITIVE for record in homes) <= 1
        for record in records:
            quotes = memory.explain(record.id).quotes
            assert quotes
            assert all(any(quote.text in text for text, _ in said) for quote in quotes)
