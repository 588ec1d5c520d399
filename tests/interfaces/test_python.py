"""Small things of the Python interface that people stumble over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memwell import Memory
from memwell.errors import InputError


def test_pages_are_gone_through_like_lists(memory: Memory) -> None:
    memory.add("I live in Lyon. I like tea.")
    page = memory.list()
    assert len(page) == 2
    assert [record.content for record in page] == [record.content for record in page.memories]
    assert [source.content for source in memory.evidence()] == ["I live in Lyon. I like tea."]
    assert not memory.list(user_id="nobody")


@pytest.mark.parametrize("limit", ["5", True, 1.5, None, -1])
def test_a_limit_that_is_no_number_is_named_with_what_would_do(memory: Memory, limit: Any) -> None:
    for call in (
        lambda: memory.list(limit=limit),
        lambda: memory.evidence(limit=limit),
        lambda: memory.jobs.list(limit=limit),
        lambda: memory.search("x", limit=limit),
    ):
        with pytest.raises(InputError, match="limit") as caught:
            call()
        assert repr(limit) in caught.value.message
        assert "whole number" in caught.value.remedy


def test_times_may_be_dates_and_local_times_as_on_the_command_line(memory: Memory) -> None:
    memory.add("I live in Lyon.", at="2025-03-01T12:00:00+00:00")
    for text, moment in (
        ("2025-03-03", datetime.fromisoformat("2025-03-03").astimezone()),
        ("2025-03-03T09:30", datetime.fromisoformat("2025-03-03T09:30").astimezone()),
        ("2025-03-03T09:30:00+01:00", datetime(2025, 3, 3, 8, 30, tzinfo=UTC)),
    ):
        found = memory.search("Where do I live?", as_of=text)
        assert found.to_dict() == memory.search("Where do I live?", as_of=moment).to_dict()
        assert len(found.memories) == 1
        assert len(memory.list(said_from=text)) == 0
        assert len(memory.list(said_until=moment + timedelta(days=1))) == 1
    assert memory.search("Where do I live?", as_of="2025-01-01").memories == ()
    unusable: tuple[Any, ...] = ("soon", "", "2025-13-01", 5)
    for value in unusable:
        with pytest.raises(InputError, match="as_of"):
            memory.search("x", as_of=value)
    with pytest.raises(InputError, match="time zone"):
        memory.search("x", as_of=datetime.fromisoformat("2025-03-03"))


def test_what_is_observed_can_be_read_back_by_its_key(memory: Memory) -> None:
    for key, words in (("editor:theme", "dark"), ("editor:font", "mono"), ("calendar:1", "dentist")):
        assert memory.observe(key, words, version=1).memory_id
    memory.observe("editor:theme", "light", version=2)
    assert {source.content for source in memory.evidence(source_prefix="editor:")} == {"light", "mono"}
    assert memory.evidence(source_prefix="editor:", target="cloud").evidence == ()
    first = memory.evidence(limit=2)
    rest = memory.evidence(limit=2, cursor=first.cursor)
    assert len({source.id for source in (*first, *rest)}) == 3
    assert rest.cursor is None
