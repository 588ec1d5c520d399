"""Several statements of one message are several memories, each about the person it is about."""

from __future__ import annotations

import pytest

from tests.builtin.told import Told, said, told


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I live in Turku, work at Kone and drive a Fiat Panda.", [
            ("user", "residence", "Turku"), ("user", "employer", "Kone"), ("user", "car", "Fiat Panda"),
        ]),
        ("My name's Ruth and I'm from Malta.", [("user", "name", "Ruth"), ("user", "birthplace", "Malta")]),
        ("I work at Kone but my wife works at Nokia.", [("user", "employer", "Kone"), ("wife", "employer", "Nokia")]),
        ("My sister Kate lives in Turku and works as a nurse.", [
            ("sister Kate", "residence", "Turku"), ("sister Kate", "job", "nurse"),
        ]),
        ("My sister's husband Tom works at Kone.", [("sister’s husband Tom", "employer", "Kone")]),
        ("My son Max is 7, he's allergic to eggs.", [("son Max", "age", "7"), ("son Max", "allergy", "eggs")]),
        ("I'm Ruth, 34, from Malta.", [
            ("user", None, None), ("user", "age", "34"), ("user", "birthplace", "Malta"),
        ]),
        ("I don't live in Rome anymore, I live in Turku.", [("user", None, None), ("user", "residence", "Turku")]),
        ("You said I live in Rome, but I live in Turku.", [("user", None, None), ("user", "residence", "Turku")]),
        ("Jan's wife works at Kone.", [("Jan’s wife", "employer", "Kone")]),
        ("My brother-in-law Jan works at Kone.", [("brother-in-law Jan", "employer", "Kone")]),
        ("你说我住在青州，但我住在泰安。", [("user", None, None), ("user", "residence", "泰安")]),
        ("我住在泰安，在海信上班，开一辆比亚迪。", [
            ("user", "residence", "泰安"), ("user", "employer", "海信"), ("user", "car", "比亚迪"),
        ]),
        ("我在海信上班，我老婆在海尔上班。", [("user", "employer", "海信"), ("老婆", "employer", "海尔")]),
        ("我妹妹小雪住在泰安，是个护士。", [("妹妹 小雪", "residence", "泰安"), ("妹妹 小雪", "job", "护士")]),
        ("我姐姐的老公小周在海信上班。", [("姐姐的老公 小周", "employer", "海信")]),
        ("我儿子小宝今年七岁，他对鸡蛋过敏。", [("儿子 小宝", "age", "七"), ("儿子 小宝", "allergy", "鸡蛋")]),
        ("我哥是厨师，我姐是护士，她住在泰安。", [
            ("哥", "job", "厨师"), ("姐", "job", "护士"), ("姐", "residence", "泰安"),
        ]),
    ],
)  # fmt: skip
def test_clauses_keep_their_person(text: str, expected: list[Told]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My sister Kate lives in Turku and works as a nurse.", [
            "My sister Kate lives in Turku", "My sister Kate+works as a nurse.",
        ]),
        ("我妹妹小雪住在泰安，是个护士。", ["我妹妹小雪住在泰安，", "我妹妹小雪+是个护士。"]),
        ("My tent is blue and my bike is a tandem.", ["My tent is blue", "my bike is a tandem."]),
        ("My mum bakes and my dad paints.", ["My mum bakes", "my dad paints."]),
        ("我手机是旧的，车是新的。", ["我手机是旧的，", "我+车是新的。"]),
        ("我妈跳舞，我爸下棋。", ["我妈跳舞，", "我爸下棋。"]),
        # One statement each.
        ("My bike is old and it is mine.", ["My bike is old and it is mine."]),
        ("My phone is old and the battery is dead.", ["My phone is old and the battery is dead."]),
        ("My mum called and I told her.", ["My mum called and I told her."]),
        ("我手机是旧的，屏幕是碎的。", ["我手机是旧的，屏幕是碎的。"]),
        ("My wife and I live in Turku.", ["My wife and I live in Turku."]),
        ("When I was five, my family moved to Turku.", ["When I was five, my family moved to Turku."]),
        ("I live in Turku, which is near my job.", ["I live in Turku, which is near my job."]),
        ("I told you, I live in Turku.", ["I told you, I live in Turku."]),
        ("Anyway, I live in Turku.", ["Anyway, I live in Turku."]),
        ("I like salt and vinegar crisps.", ["I like salt and vinegar crisps."]),
        ("因为我住在泰安，所以常去爬山。", ["因为我住在泰安，所以常去爬山。"]),
        ("对了，我住在泰安。", ["对了，我住在泰安。"]),
        ("我喜欢吃苹果、梨。", ["我喜欢吃苹果、梨。"]),
        # A name that follows is the pet's.
        ("I have a tabby, called Pixel.", ["I have a tabby, called Pixel."]),
        ("我养了只柯基，叫土豆。", ["我养了只柯基，叫土豆。"]),
        # A correction bears on the whole sentence.
        ("I misspoke, I live in Turku and work at Kone.", ["I misspoke, I live in Turku and work at Kone."]),
        ("我说错了，我住在泰安，在海信上班。", ["我说错了，我住在泰安，在海信上班。"]),
    ],
)  # fmt: skip
def test_what_belongs_together_stays_together(text: str, kept: list[str]) -> None:
    assert said(text) == kept


@pytest.mark.parametrize(
    ("before", "text", "subject"),
    [
        (["My uncle Bert and my aunt Vi came over. He snores."], "She lives in Turku.", "aunt Vi"),
        (["I met Ingrid and Oscar."], "She lives in Turku.", "Ingrid"),
        (["My parents are here."], "They live in Turku.", "parents"),
        (["Do you know my uncle Bert?"], "He lives in Turku.", "uncle Bert"),
        (["My aunt Vi is ill.", "My sister Jo is not."], "She lives in Turku.", "sister Jo"),
        (["我同事小李在钓鱼。我妹妹在读博。"], "她住在泰安。", "妹妹"),
        (["我和我姐还有我弟吃了饭。"], "他住在泰安。", "弟"),
        (["我爸妈来了。"], "他们住在泰安。", "爸妈"),
        # Nobody of that sort, or nobody knows whose sort it is.
        (["My uncle Bert came over."], "She lives in Turku.", "someone"),
        (["I met Quill and Ash."], "She lives in Turku.", "someone"),
        (["我爸来了。"], "她住在泰安。", "someone"),
        (["小李和小陈来了。"], "他住在泰安。", "someone"),
    ],
)
def test_a_pronoun_means_the_last_one_of_its_sort(before: list[str], text: str, subject: str) -> None:
    assert [item[0] for item in told(text, *before)] == [subject]
    # The same within one message.
    assert told(" ".join([*before, text]))[-1][0] == subject


@pytest.mark.parametrize(
    ("before", "text", "subject"),
    [
        ("My cat Momo is ill.", "It eats only tuna.", "cat Momo"),
        ("我家的猫病了。", "它只吃鱼。", "猫"),
        ("My uncle Bert is ill.", "It rains a lot.", "user"),
    ],
)
def test_what_it_means(before: str, text: str, subject: str) -> None:
    assert [item[0] for item in told(text, before)] == [subject]


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("I love them.", None),
        ("I live in it.", None),
        ("I work at Kone. I like tea.", "like"),
        ("我喜欢它。", None),
        ("我住在这里。", None),
        ("我喜欢喝茶。", "like"),
    ],
)
def test_a_value_that_names_nothing_is_none(text: str, attribute: str | None) -> None:
    assert told(text)[-1][1] == attribute
