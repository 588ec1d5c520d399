"""What the builtin extractor proposes and what it passes over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memwell.builtin.extractor import BuiltinExtractor
from memwell.builtin.language import abbreviations, joints
from memwell.domain.evidence import Evidence, Speaker
from memwell.domain.memory import FormedBy, Kind, Polarity, Span
from memwell.domain.scope import Scope
from memwell.domain.segments import clauses, sentences
from memwell.engine.ports import Extraction, Proposal, Turn

SAID_AT = datetime(2025, 6, 11, 10, 0, tzinfo=UTC)
EXTRACTOR = BuiltinExtractor()


def make_turn(
    text: str,
    *,
    at: datetime = SAID_AT,
    speaker: Speaker = Speaker.USER,
    name: str | None = None,
    offset: int = 0,
    number: int = 0,
) -> Turn:
    evidence = Evidence(
        id=f"ev_{number}",
        scope=Scope("alice"),
        origin=f"message:{number}",
        speaker=speaker,
        content=text,
        occurred_at=at,
        recorded_at=at,
        name=name,
        metadata={"utc_offset_minutes": offset},
    )
    found = sentences(text, abbreviations())
    return Turn(evidence, found, tuple(part for span in found for part in clauses(text, span, joints())))


def extract(text: str, *, name: str | None = None, at: datetime = SAID_AT, offset: int = 0) -> Extraction:
    return EXTRACTOR.extract([make_turn(text, name=name, at=at, offset=offset)], [])


def words(turn: Turn, proposal: Proposal) -> str:
    spans = turn.sentences if proposal.unit == "sentence" else turn.segments
    chosen = turn.text(Span(spans[proposal.chosen[0]].start, spans[proposal.chosen[-1]].end))
    return f"{turn.text(proposal.lead)}+{chosen}" if proposal.lead else chosen


def proposed(text: str) -> list[str]:
    turn = make_turn(text)
    return [words(turn, proposal) for proposal in EXTRACTOR.extract([turn], []).proposals]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Where can I buy fresh basil?", "question"),
        ("how do you pronounce gnocchi", "question"),
        ("阳台上能种番茄吗？", "question"),
        ("这种布料怎么洗", "question"),
        ("If I won the raffle, I'd move to Iceland.", "hypothetical"),
        ("Imagine I lived on a boat.", "hypothetical"),
        ("要是我有一艘船，我就住海上。", "hypothetical"),
        ("Translate into Polish: I am a retired miner.", "quotation"),
        ("把“我是一名水手”翻译成英文。", "order"),
        ("Write me a limerick about turnips.", "order"),
        ("帮我列一个采购清单。", "order"),
        ("Thanks a lot!", "greeting"),
        ("你好呀！", "greeting"),
        ("Please forget what I told you about my uncle.", "request to forget"),
        ("我之前讲的那些病史，你忘了吧。", "request to forget"),
        ("I'm a dragon in my past life, just kidding.", "joke"),
        ("我上辈子肯定是只企鹅。", "joke"),
        ("I'm so tired right now.", "mood"),
        ("今天累死我了！", "mood"),
    ],
)
def test_passes_over_what_states_nothing(text: str, reason: str) -> None:
    found = extract(text)
    assert found.proposals == ()
    assert [passed.reason for passed in found.passed] == [reason]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Quiet harbour, three boats, one gull.", ["Quiet harbour, three boats, one gull."]),
        ("码头上三条船，一只海鸥。", ["码头上三条船，一只海鸥。"]),
        ("My coworker Ravi is vegan. Where can we get lunch?", ["My coworker Ravi is vegan."]),
        ("Since I'm allergic to wool, what scarf should I buy?", ["Since I'm allergic to wool,"]),
        ("我对花生过敏，晚饭做什么好？", ["我对花生过敏，"]),
        ("I live in Oslo and hate olives.", ["I live in Oslo", "I+hate olives."]),
        ("我住在青岛，喜欢喝乌龙茶。", ["我住在青岛，", "我+喜欢喝乌龙茶。"]),
        ("From now on, answer in French.", ["From now on, answer in French."]),
        ("以后回答请用法语。", ["以后回答请用法语。"]),
    ],
)
def test_keeps_statements_in_the_users_words(text: str, expected: list[str]) -> None:
    assert proposed(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "subject", "attribute", "value"),
    [
        ("I moved to Bergen last spring.", Kind.STATE, "user", "residence", "Bergen"),
        ("我现在住在青岛。", Kind.STATE, "user", "residence", "青岛"),
        ("My sister Aoife lives in Cork.", Kind.STATE, "sister Aoife", "residence", "Cork"),
        ("我妈妈住在洛阳。", Kind.STATE, "妈妈", "residence", "洛阳"),
        ("My browser is Falkon.", Kind.PREFERENCE, "user", "browser", "Falkon"),
        ("I'm planning to learn the oboe.", Kind.INTENTION, "user", None, None),
        ("我打算学双簧管。", Kind.INTENTION, "user", None, None),
        ("I adore thunderstorms.", Kind.PREFERENCE, "user", "like", "thunderstorms"),
    ],
)
def test_tells_kind_subject_and_attribute(
    text: str, kind: Kind, subject: str, attribute: str | None, value: str | None
) -> None:
    proposal = extract(text).proposals[0]
    assert (proposal.kind, proposal.subject) == (kind, subject)
    assert (proposal.attribute, proposal.value) == (attribute, value)


def test_a_pronoun_keeps_the_person_of_the_sentence_before() -> None:
    found = extract("My brother Tomas moved to Lyon. He bakes bread.")
    assert [proposal.subject for proposal in found.proposals] == ["brother Tomas", "brother Tomas"]


def test_a_named_speaker_is_the_subject_of_first_person_statements() -> None:
    assert extract("I play the harp.", name="Ines").proposals[0].subject == "Ines"


@pytest.mark.parametrize("text", ["Maybe I'll paint the shed green.", "我可能会把棚子刷成绿色。"])
def test_hedged_words_keep_low_confidence(text: str) -> None:
    proposal = extract(text).proposals[0]
    assert proposal.hedged
    assert proposal.confidence <= 0.5


@pytest.mark.parametrize("text", ["I no longer eat cheese.", "我不再吃奶酪了。"])
def test_denials_are_negative(text: str) -> None:
    assert extract(text).proposals[0].polarity is Polarity.NEGATIVE


def test_a_role_play_lasts_until_it_is_ended() -> None:
    lines = [
        "Let's roleplay: you're the innkeeper and I'm a knight.",
        "I have slain four dragons and own a castle.",
        "Ok, stop the roleplay. My cat is called Pixel.",
    ]
    turns = [make_turn(text, number=i, at=SAID_AT + timedelta(minutes=i)) for i, text in enumerate(lines)]
    found = EXTRACTOR.extract(turns[1:], [turns[0].evidence])
    assert {proposal.evidence_id for proposal in found.proposals} == {"ev_2"}
    assert "role-play" in {passed.reason for passed in found.passed}


@pytest.mark.parametrize(
    ("speaker", "formed_by"), [(Speaker.OBSERVED, FormedBy.OBSERVED), (Speaker.IMPORT, FormedBy.IMPORTED)]
)
def test_observed_and_imported_material_is_one_statement(speaker: Speaker, formed_by: FormedBy) -> None:
    turn = make_turn("Order 77 shipped. Is it late? Yes.", speaker=speaker)
    (proposal,) = EXTRACTOR.extract([turn], []).proposals
    assert (proposal.chosen, proposal.kind, proposal.formed_by) == ((0, 1, 2), Kind.STATE, formed_by)


def test_assistant_turns_form_nothing() -> None:
    turn = make_turn("You live in Oslo.", speaker=Speaker.ASSISTANT)
    assert EXTRACTOR.extract([turn], []) == Extraction(())


_ALPHABET = st.one_of(
    st.characters(codec="utf-8", exclude_categories=["Cs"]),
    st.sampled_from("I my you 我住在上海，。？！“” \" ' until Friday 6月9日 2025-06-01 now 换了 no \n"),
)


@settings(max_examples=150, deadline=None)
@given(st.text(_ALPHABET, min_size=1, max_size=200))
def test_any_text_gives_spans_within_it_that_do_not_overlap(text: str) -> None:
    turn = make_turn(text)
    found = EXTRACTOR.extract([turn], [])
    spans = [item.span for item in found.passed]
    for proposal in found.proposals:
        parts = turn.sentences if proposal.unit == "sentence" else turn.segments
        assert list(proposal.chosen) == list(range(proposal.chosen[0], proposal.chosen[-1] + 1))
        spans.append(Span(parts[proposal.chosen[0]].start, parts[proposal.chosen[-1]].end))
    assert all(span.end <= len(text) for span in spans)
    ordered = sorted(spans)
    assert not any(one.overlaps(other) for one, other in pairwise(ordered))
