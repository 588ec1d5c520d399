"""Statements that resemble each other and must both stay, however similar, and the few that may not."""

from __future__ import annotations

import pytest

from memwell.builtin.packs import load_languages
from memwell.builtin.persons import same_subject
from memwell.builtin.rules import RuleJudge
from memwell.domain.decision import Action, Situation
from memwell.engine.ports import Comparison
from tests.builtin.test_rules import BEFORE, as_head, candidates, decide

PACKS = {language.code: language for language in load_languages()}
# As similar as two statements can be without being the same.
ALIKE = 0.93


def both_stay(earlier: str, later: str) -> None:
    assert decide(earlier, later, ALIKE).action is Action.SUPPLEMENT
    assert decide(later, earlier, ALIKE).action is Action.SUPPLEMENT


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I'm allergic to walnuts.", "I'm allergic to sesame."),
        ("I'm allergic to walnuts.", "I'm allergic to walnuts and sesame."),
        ("I hate beetroot.", "I hate celery."),
        ("I don't eat lamb.", "I don't eat veal."),
        ("I don't eat lamb.", "I don't drink gin."),
        ("I like green olives.", "I like black olives."),
        ("I like olives.", "I like black olives."),
        ("I prefer juice at breakfast.", "I prefer cocoa at supper."),
        ("My parrot is called Biscuit.", "Biscuit is afraid of thunder."),
        ("My cat is called Pixel.", "My cat is called Waffle."),
        ("I take lisinopril.", "I take metoprolol."),
        ("I work as a florist.", "I work as a florist in a hospital."),
        ("I live in Bergen.", "I live in Bergen with my aunt."),
        ("I live in Bergen.", "Since my wedding I live in Bergen."),
        ("我住在青岛。", "我和姑姑住在青岛。"),
        ("我住在青岛。", "我去年住在青岛。"),
        ("I smoke a pipe.", "I smoked a pipe."),
        ("The spare key is under the mat.", "The spare key is behind the mat."),
        ("I plan to keep bees.", "I keep bees."),
        ("Maybe I keep bees.", "I keep bees."),
        ("我对芒果过敏。", "我对尘螨过敏。"),
        ("我讨厌苦瓜。", "我讨厌芹菜。"),
        ("我不吃羊肉。", "我不吃牛肉。"),
        ("我喜欢绿茶。", "我喜欢红茶。"),
        ("我会说法语。", "我会说泰语。"),
        ("我的狗叫旺旺。", "我的狗叫球球。"),
        ("我有一个哥哥。", "我有一个弟弟。"),
        ("我晚上吃饭的时候喜欢喝一点黄酒。", "我晚上吃饭的时候喜欢喝一点米酒。"),
        ("我在吃阿司匹林。", "我在吃布洛芬。"),
    ],
)
def test_a_new_word_is_no_repeat(earlier: str, later: str) -> None:
    assert decide(earlier, later, ALIKE).action is Action.SUPPLEMENT


@pytest.mark.parametrize(
    ("earlier", "later", "similarity"),
    [
        ("Olives are what I hate.", "I really hate olives.", 0.65),
        ("My browser is Falkon.", "Falkon is my main browser.", 0.45),
        ("橄榄我很讨厌。", "我真的讨厌橄榄。", 0.75),
    ],
)
def test_the_same_words_in_another_order_are_a_repeat(earlier: str, later: str, similarity: float) -> None:
    assert decide(earlier, later, similarity).action is Action.SKIP


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My brother Tomas lives in Lyon.", "My brother Emil lives in Ghent."),
        ("My friend Ingrid works at Volvo.", "My friend Petra works at Scania."),
        ("My friend Ingrid lives in Lyon.", "My colleague Ingrid lives in Ghent."),
        ("My neighbour lives in Lyon.", "My neighbour Otto moved to Ghent."),
        ("My older sister lives in Lyon.", "My younger sister lives in Ghent."),
        ("My sister lives in Lyon.", "My sister's son lives in Ghent."),
        ("My sister lives in Lyon.", "My brother lives in Ghent."),
        ("我同事小陈在京东工作。", "我同事小赵在美团工作。"),
        ("我弟弟刘洋住在合肥。", "我弟弟刘涛住在福州。"),
        ("我妹妹住在合肥。", "我妹妹的女儿住在福州。"),
        ("我大女儿住在合肥。", "我小女儿住在福州。"),
        ("我邻居在邮局上班。", "我邻居老吴在银行上班。"),
        ("我舅舅住在合肥。", "我姑姑住在福州。"),
    ],
)
def test_two_people_are_never_one(earlier: str, later: str) -> None:
    both_stay(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My sister lives in Lyon.", "My sister Agnes moved to Ghent."),
        ("My sister Agnes lives in Lyon.", "Agnes moved to Ghent."),
        ("My friend Otto lives in Lyon.", "My friend Otto moved to Ghent."),
        ("My boss is Hedda.", "My new boss is Ulrike."),
        ("我妹妹住在合肥。", "我妹妹搬到福州了。"),
        ("我同事小陈住在合肥。", "我同事小陈搬到福州了。"),
    ],
)
def test_one_person_is_one(earlier: str, later: str) -> None:
    assert decide(earlier, later, 0.6).action is Action.OVERRIDE


def test_a_role_may_have_a_name_and_a_name_a_role() -> None:
    english, chinese = PACKS["en"], PACKS["zh"]
    assert same_subject("sister", "sister Agnes", english)
    assert same_subject("Agnes", "sister Agnes", english)
    assert not same_subject("Agnes", "sister", english)
    assert not same_subject("user", "someone", english)
    assert same_subject("妹妹", "妹妹 小雨", chinese)
    assert not same_subject("同事", "同事 小雨", chinese)


def test_words_for_one_role_are_one_person_and_names_still_tell_apart() -> None:
    english, chinese = PACKS["en"], PACKS["zh"]
    assert same_subject("mum", "mother", english)
    assert same_subject("granny Ada", "grandma", english)
    assert not same_subject("granny Ada", "grandma Ivy", english)
    assert not same_subject("mother", "father", english)
    assert same_subject("老婆", "媳妇儿", chinese)
    assert same_subject("闺女 小满", "女儿", chinese)
    assert not same_subject("闺女 小满", "女儿 小雪", chinese)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My work email is ada@mill.example.", "My private email is ada@home.example."),
        ("My email is ada@mill.example.", "My second email is ada@home.example."),
        ("My phone number is 555 0101.", "My office phone number is 555 0202."),
        ("My car is a Saab.", "My other car is a Lada."),
        ("My address is 4 Mill Lane.", "My work address is 9 Dock Road."),
        ("My account number at Nordea is 5511.", "My account number at Danske is 7722."),
        ("我的工作邮箱是ada@mill.example。", "我的私人邮箱是ada@home.example。"),
        ("我的手机号是13900000001。", "我的工作手机号是13900000002。"),
        ("我的邮箱是ada@mill.example。", "我的备用邮箱是ada@home.example。"),
        ("我的电话是5550101。", "家里电话是5550202。"),
        ("我在建行的卡号是5511。", "我在农行的卡号是7722。"),
    ],
)
def test_a_qualifier_tells_two_values_apart(earlier: str, later: str) -> None:
    both_stay(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My work email is ada@mill.example.", "My work email is now ada@dock.example."),
        ("我的工作邮箱是ada@mill.example。", "我的工作邮箱换成ada@dock.example了。"),
    ],
)
def test_the_same_qualifier_is_the_same_attribute(earlier: str, later: str) -> None:
    assert decide(earlier, later, 0.6).action is Action.OVERRIDE


@pytest.mark.parametrize(
    ("present", "past"),
    [
        ("I work at Nordea.", "I used to work at Danske."),
        ("I work at Nordea.", "I formerly worked at Danske."),
        ("I live in Bergen.", "I was living in Oulu as a child."),
        ("我在美团工作。", "我以前在京东工作。"),
        ("我在美团工作。", "我曾经在京东工作。"),
        ("我住在青岛。", "我原来住在成都。"),
        ("我住在青岛。", "小时候我住在成都。"),
    ],
)
def test_the_past_replaces_no_present_and_no_present_the_past(present: str, past: str) -> None:
    both_stay(present, past)


@pytest.mark.parametrize(
    ("earlier", "later", "action"),
    [
        ("My favourite flower is the iris.", "Actually, my favourite flower is the peony now.", Action.OVERRIDE),
        ("My favourite flower is the iris.", "Actually, my favourite flower is the peony.", Action.CORRECT),
        ("My favourite flower is the iris.", "I misspoke, my favourite flower is the peony now.", Action.CORRECT),
        ("我最喜欢的花是鸢尾。", "其实我最喜欢的花现在是牡丹。", Action.OVERRIDE),
        ("我最喜欢的花是鸢尾。", "其实我最喜欢的花是牡丹。", Action.CORRECT),
        ("我最喜欢的花是鸢尾。", "我说错了，我最喜欢的花现在是牡丹。", Action.CORRECT),
    ],
)
def test_a_change_is_a_correction_only_where_it_is_said_to_be_one(earlier: str, later: str, action: Action) -> None:
    assert decide(earlier, later, 0.8).action is action


@pytest.mark.parametrize(
    ("earlier", "later", "similarities"),
    [("I live in Bergen.", "I moved to Tampere.", (0.3, 0.7)), ("我住在青岛。", "我搬到成都了。", (0.4, 0.7))],
)
def test_a_shared_attribute_counts_beside_a_nearer_statement(
    earlier: str, later: str, similarities: tuple[float, float]
) -> None:
    heads = []
    for number, text in enumerate((earlier, "The tram to Tampere is late.")):
        (candidate,) = candidates(text, BEFORE)
        heads.append(as_head(candidate, similarities[number], f"mem_{number}", BEFORE))
    (candidate,) = candidates(later)
    comparison = Comparison(candidate, later, tuple(heads), (Situation.TARGET, Situation.TARGET))
    (verdict,) = RuleJudge().judge([comparison])
    assert (verdict.action, verdict.targets) == (Action.OVERRIDE, (0,))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I live in Bergen.", "I don't live in Molde."),
        ("I work at Fjordline.", "I don't work at Havila."),
        ("我住在福州。", "我不住在泉州。"),
    ],
)
def test_what_denies_another_value_leaves_this_one(earlier: str, later: str) -> None:
    assert decide(earlier, later, ALIKE).action is Action.SUPPLEMENT


def test_what_denies_this_value_ends_it() -> None:
    assert decide("I live in Bergen.", "I don't live in Bergen.", ALIKE).action is Action.NEGATE
