"""Pure rules of erasing: whole clauses, blacked out spans, tombstones that only grow, permissions by time."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.domain.clauses import core, places, plain
from memwell.domain.erasing import blacked_out, erased_evidence, erased_memory, permitted
from memwell.domain.evidence import Permissions, Target
from memwell.domain.memory import Span
from memwell.domain.plan import Unit
from memwell.domain.rights import interpretable, readable, sendable
from memwell.domain.tombstone import Tombstone, united
from memwell.testing.doubles import START, make_evidence, make_memory

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)).map(lambda s: Span(s[0], s[0] + s[1])), max_size=6)


@pytest.mark.parametrize(
    ("text", "clause", "found"),
    [
        ("I live in York.", "I live in York", True),
        ("I live in Yorkshire.", "I live in York", False),
        ("New York", "York", True),
        ("it is 1.5 m", "5 m", False),
        ("it is 15 m", "5 m", False),
        ("room 5, floor 2", "room 5", True),
        ("room 5.2", "room 5", False),
        ("他说我住在上海市", "我住在上海", True),
        ("", "York", False),
        ("York", "", False),
    ],
)
def test_a_clause_is_found_as_whole_words_and_numbers(text: str, clause: str, found: bool) -> None:
    assert bool(places(text, clause)) is found


@pytest.mark.parametrize(
    ("clause", "left"),
    [("“I live here.”", "i live here"), ("yes!", ""), ("住上海。", "住上海"), ("好", ""), ("🎉🎉🎉🎉",) * 2],
)
def test_what_is_too_short_is_not_looked_for(clause: str, left: str) -> None:
    assert core(clause) == left


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in York", "i LIVE in  york!"),
        ("I don’t like my boss’s “plan”", "I don't like my boss's \"plan\""),
        ("I live in York", "I **live** in\n> _York_"),
        ("Café, 12 €", "ＣＡＦＥ (12 €)"),
        ("我用 Python，住在上海。", "我用Python,住在 上海"),
        ("住在“上海”", "住在「上海」"),
        ("well-known", "well known"),
        ("\u200bYork\u00ad", "York"),
    ],
)
def test_typesetting_makes_no_other_words(one: str, other: str) -> None:
    assert plain(one) == plain(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C"),
        ("1.5 m", "15 m"),
        ("-5", "5"),
        ("1,875", "1875"),
        ("50%", "50"),
        ("resume", "re sume"),
        ("York", ""),
    ],
)
def test_signs_that_mean_something_stay(one: str, other: str) -> None:
    assert plain(one) != plain(other)


@given(spans=SPANS)
def test_united_spans_cover_the_same_characters_once(spans: list[Span]) -> None:
    joined = united(spans)
    assert {i for s in joined for i in range(s.start, s.end)} == {i for s in spans for i in range(s.start, s.end)}
    assert all(one.end < two.start for one, two in pairwise(joined))


@given(text=st.text(min_size=40, max_size=60), spans=SPANS)
def test_blacking_out_keeps_every_other_character_in_its_place(text: str, spans: list[Span]) -> None:
    result = blacked_out(text, spans)
    gone = {i for span in spans for i in range(span.start, span.end)}
    assert len(result) == len(text)
    assert all(result[i] == ("█" if i in gone else text[i]) for i in range(len(text)))


def test_tombstones_only_grow() -> None:
    part = Tombstone("ev", Unit.EVIDENCE, START, (Span(0, 3),), b"o", b"r", b"k")
    other = Tombstone("ev", Unit.EVIDENCE, START + timedelta(days=1), (Span(2, 5),), b"x", b"y", b"z")
    whole = Tombstone("ev", Unit.EVIDENCE, START)
    assert part.merged(other) == Tombstone("ev", Unit.EVIDENCE, START, (Span(0, 5),), b"o", b"r", b"k")
    assert part.merged(whole).spans is whole.merged(part).spans is None
    assert whole.merged(part).origin_hash == b"o"
    assert part.merged(part) == part


def test_the_latest_permission_holds_and_the_tighter_of_two_at_once() -> None:
    record = make_evidence("ev")
    tight = permitted(record, Permissions(cloud=False), START)
    assert permitted(tight, Permissions(), START).permissions == Permissions(cloud=False)
    assert permitted(tight, Permissions(), START - timedelta(1)) == tight
    assert permitted(tight, Permissions(), START + timedelta(1)).permissions == Permissions()


def test_rights_of_evidence_and_of_what_rests_on_it() -> None:
    open_one, shut = make_evidence("ev_1"), make_evidence("ev_2", permissions=Permissions(cloud=False, infer=False))
    memory = make_memory("mem_1", open_one)
    both = {"ev_1": open_one, "ev_2": shut}
    assert interpretable(open_one, Target.CLOUD)
    assert not interpretable(shut, Target.LOCAL)
    assert sendable(shut, Target.LOCAL)
    assert readable(memory, both, Target.CLOUD)
    assert not readable(make_memory("mem_2", shut), both, Target.CLOUD)
    assert not readable(memory, {}, Target.LOCAL)
    assert not sendable(erased_evidence(open_one), Target.LOCAL)


def test_a_tombstone_row_says_nothing() -> None:
    evidence = make_evidence("ev_1", "Secret words", name="Ann", preceding="Secret?", metadata={"secret": 1})
    memory = make_memory("mem_1", evidence, subject="Secret", attribute="secret", value="secret", qualifiers={"s": "s"})
    for row in (erased_evidence(evidence), erased_memory(memory, START)):
        assert "ecret" not in repr(row)
        assert "Ann" not in repr(row)
