"""How the assistant is to answer lasts; a single order, a question or a joke does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memwell import Memory
from memwell.domain.memory import Kind
from tests.builtin.test_extractor import extract, proposed


@pytest.mark.parametrize(
    "text",
    [
        "Please keep answers brief.",
        "Keep your explanations simple, please.",
        "Give me shorter replies.",
        "Skip the disclaimers.",
        "No emojis, please.",
        "Use metric units.",
        "Could you show prices in euros?",
        "Be frank with me.",
        "Talk to me like a colleague.",
        "Stop apologising.",
        "Could you stop using bullet points?",
        "Don't call me sir.",
        "I'd rather you used plain words.",
        "I want you to be strict with me.",
        "I'd prefer it if you didn't use slang.",
        "You don't need to explain acronyms.",
        "Can you always answer in Dutch?",
        "回答简短点。",
        "以后回答简洁一点。",
        "别叫我老刘。",
        "请用公制。",
        "价格都按人民币显示。",
        "跟我说话直接点。",
        "不用跟我客气。",
        "你能不能别再用列表了？",
        "我希望你说得详细些。",
        "叫我阿青就行。",
    ],
)
def test_a_wish_for_all_answers_is_a_preference(text: str) -> None:
    assert proposed(text) == [text]
    assert [proposal.kind for proposal in extract(text).proposals] == [Kind.PREFERENCE]


@pytest.mark.parametrize(
    "text",
    [
        "Translate this.",
        "Write a poem.",
        "Keep it brief.",
        "Be more specific.",
        "Make the paragraph shorter.",
        "Give me a short answer.",
        "Give me detailed answers to these riddles.",
        "Skip the introduction in this essay.",
        "Use the second draft.",
        "I need you to check this letter.",
        "Can you always trust a compass?",
        "Convert 5 miles to kilometres.",
        "帮我写首诗。",
        "再短一点。",
        "给我个简短的总结。",
        "请详细回答以下问题。",
        "帮我把这段话改正式点。",
        "把这封信翻译一下。",
    ],
)
def test_an_order_for_once_forms_nothing(text: str) -> None:
    assert proposed(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I use metric tools.", Kind.PREFERENCE),
        ("I want you to know that my aunt is a nurse.", Kind.PREFERENCE),
        ("我叫他老刘。", Kind.PREFERENCE),
    ],
)
def test_what_is_no_wish_has_the_kind_of_what_it_tells(text: str, kind: Kind) -> None:
    assert [proposal.kind for proposal in extract(text).proposals] != [kind]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I could eat a whole cow.", "hypothetical"),
        ("I own a yacht, lol jk.", "joke"),
        ("My landlord is literally a demon.", "joke"),
        ("This tool will be the death of me.", "mood"),
        ("我有三座城堡，骗你们的。", "joke"),
        ("我都快渴死了。", "joke"),
        ("笑死我了哈哈哈。", "joke"),
        ("我困得能睡三天。", "joke"),
        ("我房东简直是个魔鬼。", "joke"),
        ("谁还用那种东西啊。", "question"),
        ("你猜我在哪呢。", "question"),
        ("你说奇怪不奇怪呢", "question"),
    ],
)
def test_exaggerations_and_questions_without_a_mark_form_nothing(text: str, reason: str) -> None:
    found = extract(text)
    assert (found.proposals, [passed.reason for passed in found.passed]) == ((), [reason])


@pytest.mark.parametrize(
    "text",
    [
        "I joke a lot at work.",
        "I have a pet dragon lizard.",
        "我升职了哈哈哈。",
        "我今天跑了十公里，快累死了。",
        "我时不时去游泳。",
        "我什么都吃呀。",
        "我有几个表弟呢。",
        "我不会做饭呢。",
        "我知道怎么修表呀。",
    ],
)
def test_what_is_meant_still_forms(text: str) -> None:
    assert proposed(text) == [text]


@pytest.mark.parametrize(
    ("wish", "changed"),
    [
        ("Please keep your answers short.", "Please keep your answers detailed."),
        ("以后回答简短点。", "以后回答详细一点。"),
    ],
)
def test_a_wish_becomes_a_memory_through_the_whole_engine(tmp_path: Path, wish: str, changed: str) -> None:
    with Memory(tmp_path / "m.db", user_id="u") as memory:
        memory.add(wish)
        assert [each.content for each in memory.list()] == [wish]
        memory.add(changed)
        assert changed in [each.content for each in memory.list()]
