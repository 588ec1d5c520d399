"""What a sentence tells in passing is told of the person it belongs to; what it only supposes is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from memwell import Memory
from memwell.domain.memory import Kind, Polarity
from tests.builtin.test_extractor import extract
from tests.builtin.told import Told, said, told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My aunt, who lives in Turku, phoned.", [("aunt", "residence", "Turku")]),
        ("I phoned my aunt, who lives in Turku.", [("aunt", "residence", "Turku")]),
        ("My mate Jon, who's allergic to wool, knits.", [("mate Jon", "allergy", "wool")]),
        ("I have a niece who works at Kone.", [("niece", "employer", "Kone")]),
        ("A friend of mine lives in Turku.", [("friend", "residence", "Turku")]),
        ("My grandad, born in Oulu, is 90 today.", [("grandad", "birthplace", "Oulu"), ("grandad", "age", "90")]),
        ("My uncle Jon, a plumber, came round.", [("uncle Jon", "job", "plumber")]),
        ("I baked for my vegan niece.", [("niece", "diet", "vegan")]),
        ("My wool-allergic nephew sneezed.", [("nephew", "allergy", "wool")]),
        ("The studio I rent in Turku is damp.", [("user", "residence", "Turku")]),
        ("The firm I work for, Kone, makes lifts.", [("user", "employer", "Kone")]),
        ("The car I drive is a Fiat Panda.", [("user", "car", "Fiat Panda")]),
        ("My aunt, who works at Kone, lives in Turku.", [("aunt", "employer", "Kone"), ("aunt", "residence", "Turku")]),
        ("I live in Turku with my wife, who works at Kone.", [
            ("user", "residence", "Turku"), ("wife", "employer", "Kone"),
        ]),
        ("我住在泰安的舅舅来电话了。", [("舅舅", "residence", "泰安")]),
        ("我给对羊毛过敏的外甥织了帽子。", [("外甥", "allergy", "羊毛")]),
        ("我有个同学在海信当会计。", [("同学", "job", "会计")]),
        ("我在泰安租的公寓很潮。", [("user", "residence", "泰安")]),
        ("我上班的厂叫海信。", [("user", "employer", "海信")]),
        ("我开的是一辆菲亚特。", [("user", "car", "菲亚特")]),
    ],
)  # fmt: skip
def test_an_aside_is_told_of_whom_it_belongs_to(text: str, expected: list[Told]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("The hotel we booked in Turku was full.", "residence"),
        ("The studio I looked at in Turku is damp.", "residence"),
        ("My aunt, who I wrote to from Turku, phoned.", "residence"),
        ("My aunt's lawyer phoned.", "job"),
        ("I no longer cook for my vegan niece.", "diet"),
        ("I never cooked for my vegan niece.", "diet"),
        ("So, who works at Kone?", "employer"),
        ("我住在泰安的舅舅家。", "residence"),
        ("我老婆的律师来电话了。", "job"),
        ("我不再给吃素的外甥做饭了。", "diet"),
    ],
)
def test_what_only_looks_like_an_aside_tells_no_attribute(text: str, attribute: str) -> None:
    assert attribute not in [item[1] for item in told(text)]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("Which visa do I need as a Dane living in Chile?", "as a Dane living in Chile", (
            "user", "residence", "Chile",
        )),
        ("As a vegan, where can I eat in Turku?", "As a vegan", ("user", "diet", "vegan")),
        ("What can my wool-allergic nephew wear?", "my wool-allergic nephew", ("nephew", "allergy", "wool")),
        ("Which toys suit my 3-year-old niece?", "my 3-year-old niece", ("niece", "age", "3")),
        ("Which scarf for my cousin, who's allergic to wool?", "my cousin, who's allergic to wool", (
            "cousin", "allergy", "wool",
        )),
        ("Which insoles help my flat feet?", "my flat feet", ("user", None, None)),
        ("How do I row with my asthma?", "my asthma", ("user", None, None)),
        ("What shift suits a night owl like me?", "a night owl like me", ("user", None, None)),
        ("Suggest a scarf since I'm allergic to wool", "since I'm allergic to wool", ("user", "allergy", "wool")),
        ("Make a plan for my deaf uncle.", "my deaf uncle", ("uncle", None, None)),
        ("我在智利读书要办什么签证？", "我在智利读书", ("user", None, None)),
        ("我有哮喘能划船吗？", "我有哮喘", ("user", None, None)),
        ("给我对羊毛过敏的外甥挑条围巾", "我对羊毛过敏的外甥", ("外甥", "allergy", "羊毛")),
        ("我三岁的侄女玩什么好？", "我三岁的侄女", ("侄女", "age", "三")),
        ("给我自闭症的侄女选什么学校好？", "我自闭症的侄女", ("侄女", None, None)),
        ("像我这种左撇子用什么剪刀？", "像我这种左撇子", ("user", None, None)),
        ("作为素食者，去泰安能吃什么？", "作为素食者", ("user", "diet", "素食者")),
    ],
)  # fmt: skip
def test_a_question_or_an_order_keeps_the_words_that_presuppose_something_lasting(
    text: str, words: str, expected: Told
) -> None:
    assert (said(text), told(text)) == ([words], [expected])


@pytest.mark.parametrize(
    "text",
    [
        "If I lived in Chile, which visa would I need?",
        "What would you knit for a vegan niece?",
        "How can I get hired as a nurse?",
        "Can I work as a nurse in Chile?",
        "As a doctor, can you explain my rash?",
        "As a nurse, what would you tell me?",
        "Where does a person like me dance?",
        "Does a cat like me better than a dog?",
        "What does a nurse earn in Turku?",
        "Why is my 5 year old laptop slow?",
        "Water my snake plant when?",
        "Who lives in Turku?",
        "Write about a nurse who lives in Turku.",
        "要是我住在智利，要办什么签证？",
        "我在智利读书的话要办什么签证？",
        "我在哪读书最好？",
        "我是不是得了哮喘？",
        "作为一个医生，你怎么看？",
        "护士在泰安挣多少？",
    ],
)
def test_what_is_only_supposed_or_asked_forms_nothing(text: str) -> None:
    assert said(text) == []


def test_an_aside_has_the_kind_and_the_polarity_of_what_it_tells() -> None:
    (proposal,) = extract("What should I never cook for my vegan niece?").proposals
    assert (proposal.kind, proposal.polarity) == (Kind.PREFERENCE, Polarity.POSITIVE)


def test_two_asides_of_one_question_are_two_statements() -> None:
    text = "What do my vegan niece and my 3-year-old nephew both eat?"
    assert told(text) == [("niece", "diet", "vegan"), ("nephew", "age", "3")]
    assert said(text) == ["my vegan niece", "my 3-year-old nephew"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Find a gift for my uncle, he loves chess.", [("uncle", "like", "chess")]),
        ("My uncle retired. Lives in Turku now.", [("uncle", None, None), ("uncle", "residence", "Turku")]),
        ("我舅舅退休了。现在住在泰安。", [("舅舅", None, None), ("舅舅", "residence", "泰安")]),
        # Not carried on.
        ("My uncle retired. I live in Turku now.", [("uncle", None, None), ("user", "residence", "Turku")]),
        ("My uncle retired.\nWork starts at nine.", [("uncle", None, None), ("user", None, None)]),
        ("我舅舅退休了。现在我住在泰安。", [("舅舅", None, None), ("user", "residence", "泰安")]),
    ],
)
def test_a_person_left_out_is_the_one_named_before(text: str, expected: list[Told]) -> None:
    assert told(text) == expected


def test_a_sentence_that_leaves_its_person_out_keeps_their_words() -> None:
    assert said("我舅舅退休了。现在住在泰安。") == ["我舅舅退休了。", "我舅舅+现在住在泰安。"]
    assert said("My uncle retired. Lives in Turku now.") == ["My uncle retired.", "My uncle+Lives in Turku now."]


@pytest.mark.parametrize(
    ("passing", "changed"),
    [
        ("Does my brother, who lives in Turku, need a visa?", "My brother moved to Tampere."),
        ("我住在成都的爸爸要打疫苗吗？", "我爸爸搬到重庆了。"),
    ],
)
def test_what_was_told_in_passing_is_replaced_like_a_statement(tmp_path: Path, passing: str, changed: str) -> None:
    with Memory(tmp_path / "m.db", user_id="u") as memory:
        memory.add(passing)
        assert len(memory.list()) == 1
        memory.add(changed)
        assert [each.content for each in memory.list()] == [changed]
