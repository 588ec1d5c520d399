"""What the builtin extractor proposes and what it passes over."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memwell.builtin.extractor import BuiltinExtractor
from memwell.builtin.packs import abbreviations, joints
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
    chosen = turn.text(proposal.part or Span(spans[proposal.chosen[0]].start, spans[proposal.chosen[-1]].end))
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
        ("I dreamed I lived under the sea.", "dream"),
        ("Last night I had a dream that we kept camels.", "dream"),
        ("昨晚梦见自己开火车。", "dream"),
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
        # Words that look like a reason to pass but are none.
        ("I always forget my umbrella.", ["I always forget my umbrella."]),
        ("You are the best and I'm a beekeeper.", ["You are the best and I'm a beekeeper."]),
        ("I love role-play games.", ["I love role-play games."]),
        ("No kidding, I got married.", ["No kidding, I got married."]),
        ("I dream of sailing to Iceland.", ["I dream of sailing to Iceland."]),
        ("我做梦都想去冰岛。", ["我做梦都想去冰岛。"]),
        ("Read three novels last month.", ["Read three novels last month."]),
        ("What I drink is barley tea.", ["What I drink is barley tea."]),
        ("If it rains, my knee hurts.", ["If it rains, my knee hurts."]),
        ("找工作找了三个月。", ["找工作找了三个月。"]),
        ("我演过话剧。", ["我演过话剧。"]),
        ("我把烟戒了。", ["我把烟戒了。"]),
        ("我知道怎么修自行车。", ["我知道怎么修自行车。"]),
    ],
)
def test_keeps_statements_in_the_users_words(text: str, expected: list[str]) -> None:
    assert proposed(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "subject", "attribute", "value"),
    [
        ("I moved to Bergen last spring.", Kind.STATE, "user", "residence", "Bergen"),
        ("我搬家到无锡了。", Kind.STATE, "user", "residence", "无锡"),
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


@pytest.mark.parametrize(
    ("before", "text", "subject"),
    [
        (["My brother Tomas moved to Lyon.", "I like it there."], "He bakes bread.", "brother Tomas"),
        (["My sister is a nurse.", "My sister Lena works nights."], "She has quit.", "sister Lena"),
        (["我姐姐在医院上班。", "今天真冷。"], "她辞职了。", "姐姐"),
        # Two could be meant: nobody is guessed.
        (["My brother Tomas moved to Lyon.", "My sister Lena works nights."], "They said she has quit.", "someone"),
        # Six turns ago is too long ago.
        (["My brother Tomas moved to Lyon.", *["I like tea."] * 5], "He bakes bread.", "someone"),
        ([], "He bakes bread.", "someone"),
    ],
)
def test_a_pronoun_means_the_only_person_of_the_last_five_turns(before: list[str], text: str, subject: str) -> None:
    turns = [make_turn(each, number=number) for number, each in enumerate([*before, text])]
    context = [turn.evidence for turn in turns[:-1]]
    (proposal,) = EXTRACTOR.extract(turns[-1:], context).proposals
    assert proposal.subject == subject
    # The same where they all come in one call.
    assert EXTRACTOR.extract(turns, []).proposals[-1].subject == subject


def test_a_pronoun_skips_a_sentence_about_the_user() -> None:
    found = extract("My brother Tomas moved to Lyon. I miss him. He bakes bread.")
    assert [proposal.subject for proposal in found.proposals] == ["brother Tomas", "user", "brother Tomas"]


def test_a_named_speaker_is_the_subject_of_first_person_statements() -> None:
    assert extract("I play the harp.", name="Ines").proposals[0].subject == "Ines"


@pytest.mark.parametrize("text", ["Maybe I'll paint the shed green.", "我可能会把棚子刷成绿色。"])
def test_hedged_words_keep_low_confidence(text: str) -> None:
    proposal = extract(text).proposals[0]
    assert proposal.hedged
    assert proposal.confidence <= 0.5


@pytest.mark.parametrize(
    "text",
    [
        "I no longer eat cheese.",
        "No sugar in my tea.",
        "I own no car.",
        "I live without a car.",
        "I'm not a plumber.",
        "我不再吃奶酪了。",
        "我不是水管工。",
        "我没养过鸟。",
        "我从不熬夜。",
        "我吃得不多。",
        "今后别给我发邮件。",
        "这种茶我别喝太多。",
    ],
)
def test_denials_are_negative(text: str) -> None:
    assert extract(text).proposals[0].polarity is Polarity.NEGATIVE


@pytest.mark.parametrize(
    "text",
    [
        "No, I live in Riga.",
        "My aunt, no doubt, lives in Cork.",
        "I not only sing, I paint.",
        "I can't live without coffee.",
        "I can't help collecting stamps.",
        "I can't stand mushrooms.",
        "I live at No. 5 Elm Road.",
        "我特别喜欢芹菜。",
        "我特别讨厌芹菜。",
        "我受不了香菜。",
        "我住在别墅里。",
        "我住在无锡。",
        "我喝无糖可乐。",
        "我养了罗非鱼。",
        "我每天不得不早起。",
        "我早上不能不喝咖啡。",
        "我离不开咖啡。",
        "我在巷口开店不到三年。",
        "不，我住在长春。",
        "没有，我住在长春。",
        "我表弟未婚。",
    ],
)
def test_words_that_only_hold_a_denying_one_are_positive(text: str) -> None:
    assert extract(text).proposals[0].polarity is Polarity.POSITIVE


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("下雨的话，我一般坐公交。", True),
        ("如果下雨，我通常坐公交。", True),
        ("夜班的话，我都骑电动车。", True),
        ("有钱的话，我都给你。", False),
        ("如果下雨，我就打伞去。", False),
    ],
)
def test_what_one_usually_does_in_a_case_is_kept(text: str, kept: bool) -> None:
    assert bool(extract(text).proposals) is kept


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Let's roleplay: you're the innkeeper and I'm a knight. I own a castle. Ok, stop the roleplay. I bake.",
            ["I bake."],
        ),
        ("You are now my chess teacher. I live in Bergen.", ["I live in Bergen."]),
        ("我们来角色扮演，你演店小二，我演大侠。我有一座城堡。不玩了。我养蜜蜂。", ["我养蜜蜂。"]),
        ("你现在是我的象棋老师。我住在青岛。", ["我住在青岛。"]),
    ],
)
def test_a_part_that_is_played_forms_nothing(text: str, expected: list[str]) -> None:
    assert proposed(text) == expected


@pytest.mark.parametrize(
    ("opening", "later"),
    [
        ("Let's roleplay: you're the innkeeper and I'm a knight.", "I live in Bergen."),
        ("我们来角色扮演，你演店小二，我演大侠。", "我住在青岛。"),
    ],
)
def test_a_role_play_silences_no_later_message(opening: str, later: str) -> None:
    turns = [make_turn(text, number=i, at=SAID_AT + timedelta(minutes=i)) for i, text in enumerate([opening, later])]
    for new, context in ((turns, []), (turns[1:], [turns[0].evidence])):
        assert [item.evidence_id for item in EXTRACTOR.extract(new, context).proposals] == ["ev_1"]


@pytest.mark.parametrize(
    "text",
    [
        "Answer in one word.",
        "Answer in French.",
        "用一个词回答。",
        "Yes, do that.",
        "ok, use the second one please",
        "好，就这么办吧。",
        "Act as a tour guide.",
        "You are now my Polish teacher.",
        "你现在是我的钢琴老师。",
        "Here's my essay: I was born in Peru and I love tapirs. Please proofread it.",
        "这是我的作文：我出生在秘鲁，我喜欢貘。请帮我修改。",
        "\u200b",
        "\u200b \u200d!",
        "……",
        "🎈",
    ],
)
def test_what_is_only_for_now_forms_nothing(text: str) -> None:
    assert proposed(text) == []


@pytest.mark.parametrize(
    "text",
    ["Always answer in French.", "From now on, answer in one word.", "以后都用法语回答。", "以后请用一个词回答。"],
)
def test_an_order_for_all_time_is_a_preference(text: str) -> None:
    assert [proposal.kind for proposal in extract(text).proposals] == [Kind.PREFERENCE]


@pytest.mark.parametrize(
    "text",
    [
        "Can you remember that my locker code is 7731?",
        "Could you please note that I'm left-handed?",
        "Remember that my aunt is deaf in one ear.",
        "Did you know I have two stepbrothers?",
        "Did you know that my brother is a beekeeper?",
        "你能记住我的柜子号是7731吗？",
        "请记住我对芒果过敏。",
        "你知道吗，我有两个表弟？",
    ],
)
def test_a_statement_dressed_as_a_question_forms(text: str) -> None:
    assert proposed(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Can you remember my locker code?",
        "Do you remember where I live?",
        "Did you know where I live?",
        "Can you remember that song I told you about?",
        "Did I tell you what my brother is called?",
        "你还记得我的柜子号吗？",
        "你知道我住在哪里吗？",
        "你能记住我喜欢什么吗？",
    ],
)
def test_a_question_about_memory_stays_a_question(text: str) -> None:
    assert proposed(text) == []


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Oops, I misspoke: my nephew is 9 years old.", "nephew"),
        ("I just heard that my sister Agnes moved to Ghent.", "sister Agnes"),
        ("I told my sister that I moved.", "user"),
        ("Tomas thinks I live in Ghent.", "Tomas"),
        ("Tomas and I live in Ghent.", "user"),
        ("我说错了，我侄子9岁。", "侄子"),
        ("我妹妹的女儿住在福州。", "妹妹的女儿"),
        ("My sister's son lives in Ghent.", "sister’s son"),
    ],
)
def test_the_subject_is_the_person_of_the_statement(text: str, subject: str) -> None:
    assert extract(text).proposals[-1].subject == subject


def test_a_clause_after_and_keeps_its_own_subject() -> None:
    assert proposed("I live in Ghent, and I love rain.") == ["I live in Ghent,", "and I love rain."]
    # What tells nothing without the clause before it stays with it.
    assert proposed("I live in Ghent, and I love it.") == ["I live in Ghent, and I love it."]


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("My nan says I live in Ghent.", "nan", None),
        ("He heard I moved to Ghent.", "someone", None),
        ("有人说我住在福州。", "user", None),
        ("我舅舅说我住在福州。", "舅舅", None),
        ("My nan says she lives in Ghent.", "nan", "Ghent"),
        ("I heard Tomas lives in Ghent.", "Tomas", "Ghent"),
        ("I told my nan that I live in Ghent.", "user", None),
        ("听人说过吗？我住在福州。", "user", "福州"),
    ],
)
def test_what_others_claim_of_the_user_is_an_attribute_of_neither(text: str, subject: str, value: str | None) -> None:
    proposal = extract(text).proposals[-1]
    assert (proposal.subject, proposal.value) == (subject, value)


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
