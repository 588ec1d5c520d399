from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.memory import Span
from memwell.domain.scope import Scope
from memwell.domain.segments import clauses, sentences
from memwell.domain.support import quoted
from memwell.engine.compile import candidates
from memwell.engine.ports import Proposal, Turn
from memwell.errors import ExtractionError

NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)


def turn(text: str) -> Turn:
    evidence = Evidence("ev_1", Scope("alice"), "o", Speaker.USER, text, NOON, NOON)
    spans = sentences(text)
    return Turn(evidence, spans, tuple(clause for span in spans for clause in clauses(text, span)))


def test_content_is_derived_from_the_chosen_span() -> None:
    text = "Hi! I owe Zoë $1,875 since 3 May. Bye."
    (made,) = candidates([turn(text)], [Proposal("ev_1", "sentence", (1,))])
    assert made.content == "I owe Zoë $1,875 since 3 May."
    assert made.said_at == NOON
    assert quoted({"ev_1": text}, made.sources) == made.content


def test_an_elided_subject_is_quoted_too() -> None:
    text = "I live in Shanghai, hate coriander."
    lead = Span(0, 1)
    first, second = candidates(
        [turn(text)], [Proposal("ev_1", "segment", (0,)), Proposal("ev_1", "segment", (1,), lead=lead)]
    )
    assert (first.content, second.content) == ("I live in Shanghai", "I hate coriander.")


def test_chinese_parts_join_without_a_space() -> None:
    text = "我住在上海，喜欢喝绿茶"
    (made,) = candidates([turn(text)], [Proposal("ev_1", "segment", (1,), lead=Span(0, 1))])
    assert made.content == "我喜欢喝绿茶"


def test_a_part_of_a_clause_is_quoted_alone_and_two_of_one_clause_do_not_overlap() -> None:
    text = "What do my vegan niece and my deaf uncle eat?"
    parts = [Span(text.index(words), text.index(words) + len(words)) for words in ("my vegan niece", "my deaf uncle")]
    made = candidates([turn(text)], [Proposal("ev_1", "segment", (0,), part=part) for part in parts])
    assert [each.content for each in made] == ["my vegan niece", "my deaf uncle"]
    assert [quoted({"ev_1": text}, each.sources) for each in made] == ["my vegan niece", "my deaf uncle"]


@pytest.mark.parametrize(
    "proposals",
    [
        [Proposal("ev_9", "sentence", (0,))],
        [Proposal("ev_1", "sentence", (5,))],
        [Proposal("ev_1", "sentence", ())],
        [Proposal("ev_1", "sentence", (0, 2))],
        [Proposal("ev_1", "sentence", (1,), part=Span(0, 5))],
        [Proposal("ev_1", "sentence", (0,)), Proposal("ev_1", "segment", (0,))],
    ],
)
def test_selections_that_do_not_fit_are_refused(proposals: list[Proposal]) -> None:
    with pytest.raises(ExtractionError):
        candidates([turn("I row, daily. I swim. I run.")], proposals)


def test_a_malformed_bound_is_dropped_and_the_statement_kept() -> None:
    (made,) = candidates(
        [turn("I am in Rome.")],
        [Proposal("ev_1", "sentence", (0,), valid_from=NOON, valid_until=NOON - timedelta(days=1))],
    )
    assert made.content == "I am in Rome."
    assert (made.valid_from, made.valid_until) == (None, None)
