"""Observations: the newest version holds, and nothing of older ones is left."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memwell import Memory, MemwellError
from memwell.domain.memory import FormedBy, Kind
from memwell.testing.doubles import FakeClock
from tests.govern.conftest import Scan
from tests.govern.test_commands import code_of
from tests.govern.test_forget import forgotten


def test_a_newer_version_leaves_nothing_of_the_older(mem: Memory, clock: FakeClock, holds: Scan) -> None:
    mem.observe("desk:lamp", "The lamp is magenta.", version=1)
    (state,) = mem.list().memories
    assert (state.kind, state.formed_by, state.content) == (Kind.STATE, FormedBy.OBSERVED, "The lamp is magenta.")
    assert mem.list(target="cloud").memories == ()
    clock.advance(timedelta(hours=1))
    done = mem.observe("desk:lamp", "The lamp is teal.", version=5, permissions={"cloud": True}, command_id="c1")
    assert done.receipt == mem.receipt("c1")
    assert [memory.content for memory in mem.list(include_history=True, target="cloud").memories] == [
        "The lamp is teal."
    ]
    assert not holds(b"magenta")
    assert mem.check() == []


def test_versions_only_grow(mem: Memory, clock: FakeClock) -> None:
    first = mem.observe("lamp", "The lamp is teal.", version=5)
    assert mem.observe("lamp", "The lamp is teal.", version=5).evidence_id == first.evidence_id
    assert code_of(lambda: mem.observe("lamp", "The lamp is red.", version=5)) == "evidence_conflict"
    assert code_of(lambda: mem.observe("lamp", "The lamp is red.", version=4)) == "stale_observed_version"
    mem.withdraw(first.evidence_id)
    assert mem.list().memories == ()
    assert code_of(lambda: mem.observe("lamp", "The lamp is red.", version=4)) == "stale_observed_version"
    clock.advance(timedelta(hours=1))
    mem.observe("lamp", "The lamp is red.", version=6)
    mem.observe("lamp:shade", "The shade is white.", version=1)
    assert {memory.content for memory in mem.list().memories} == {"The lamp is red.", "The shade is white."}
    forgotten(mem, query="red")
    assert code_of(lambda: mem.observe("lamp", "The lamp is red.", version=6)) == "erased_source"


def test_an_observation_holds_for_its_period(mem: Memory, clock: FakeClock) -> None:
    until = clock.now() + timedelta(days=1)
    mem.observe("trip", "In Oslo.", version=0, valid_until=until)
    assert mem.list().memories
    clock.advance(timedelta(days=2))
    assert mem.list().memories == ()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"version": -1}, "invalid_input"),
        ({"version": True}, "invalid_input"),
        ({"content": "x" * 65_537}, "text_too_long"),
        ({"source_key": ""}, "no_source_key"),
        ({"valid_until": "2020-01-01T00:00:00+00:00"}, "invalid_input"),
        ({"permissions": {"fly": True}}, "invalid_input"),
    ],
)
def test_what_is_no_observation(mem: Memory, fields: dict[str, object], code: str) -> None:
    given = {"source_key": "lamp", "content": "on", "version": 1, **fields}
    key, content = str(given.pop("source_key")), str(given.pop("content"))
    with pytest.raises(MemwellError) as caught:
        mem.observe(key, content, **given)  # type: ignore[arg-type]
    assert caught.value.code == code
    assert mem.list().memories == ()


def test_what_is_over_is_listed_only_where_that_is_asked_for(mem: Memory, clock: FakeClock) -> None:
    mem.observe("trip", "In Oslo.", version=0, valid_until=clock.now() + timedelta(days=1))
    mem.observe("home", "In Lyon.", version=0)
    assert {record.content for record in mem.evidence()} == {"In Oslo.", "In Lyon."}
    clock.advance(timedelta(days=1))
    assert [record.content for record in mem.evidence()] == ["In Lyon."]
    assert [record.content for record in mem.evidence(source_prefix="trip")] == []
    assert len(mem.evidence(include_expired=True)) == 2
