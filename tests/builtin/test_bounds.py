"""From which probability on the keyless judge lets one memory retire another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.builtin.bounds import bound, of_two_others, same_slot, same_told
from memwell.builtin.packs import choose_language, load_languages
from memwell.builtin.thresholds import load_thresholds
from memwell.domain.decision import Action
from tests.builtin.test_rules import BEFORE, candidates, head

THRESHOLDS = load_thresholds()
PLAIN, NEVER = THRESHOLDS["retire"], 1.0


def bound_of(said: str, known: str, action: Action = Action.OVERRIDE, *, corrects: bool = False) -> float:
    (candidate,) = candidates(said)
    language = choose_language(candidate.content, load_languages())
    return bound(action, candidate, head(known, 0.5, BEFORE), language, THRESHOLDS, corrects=corrects)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("My locker is number 12.", "My locker is number 31."),
        ("Our rehearsal room’s in the basement.", "Our rehearsal room is now on the roof."),
        ("我的工位在三楼。", "我的工位在七楼。"),
        ("我们排练室是地下室那间。", "我们排练室现在是顶楼那间。"),
    ],
)
def test_what_one_thing_is_gives_way_to_what_it_is_now(known: str, said: str) -> None:
    assert bound_of(said, known) == THRESHOLDS["retire_slot"] < PLAIN
    assert bound_of(said, known, Action.NEGATE) > THRESHOLDS["retire_slot"]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("My locker is number 12.", "My bench is number 31."),
        ("我的工位在三楼。", "我的宿舍在七楼。"),
        ("I keep the kayak in the shed.", "I keep the canoe in the garage."),
    ],
)
def test_another_thing_is_no_such_pair(known: str, said: str) -> None:
    assert bound_of(said, known) > THRESHOLDS["retire_slot"]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("I play the oboe.", "I play the cello as well."),
        ("I bake rye bread on Mondays.", "On top of that I bake plum cake on Mondays."),
        ("我养了一缸孔雀鱼。", "我另外养了一缸斗鱼。"),
        ("我在花店上班。", "我还兼职做家教。"),
    ],
)
def test_what_comes_beside_never_retires(known: str, said: str) -> None:
    assert bound_of(said, known) > NEVER


@pytest.mark.parametrize(
    ("known", "said", "never"),
    [
        ("I row for the harbour club.", "I used to row for the lake club.", True),
        ("I row for the harbour club.", "I used to row for the lake club, now I row for the mill club.", False),
        ("我在码头划船。", "我以前在湖上划船。", True),
        ("我在码头划船。", "我以前在湖上划船，现在改在河里划。", False),
    ],
)
def test_what_was_before_takes_no_place(known: str, said: str, never: bool) -> None:
    language = choose_language(said, load_languages())
    first = candidates(said)[0]
    found = bound(Action.OVERRIDE, replace(first, content=said), head(known, 0.5), language, THRESHOLDS, corrects=False)
    assert (found > NEVER) is never


def test_what_is_over_may_still_be_said_to_have_been() -> None:
    assert bound_of("I used to row for the harbour club.", "I row for the harbour club.", Action.NEGATE) == PLAIN


@pytest.mark.parametrize(
    ("known", "said"),
    [("I play the oboe.", "I also no longer play the oboe."), ("我养了一缸孔雀鱼。", "孔雀鱼我也不养了。")],
)
def test_what_ends_too_does_retire(known: str, said: str) -> None:
    assert bound_of(said, known, Action.NEGATE) == PLAIN


@pytest.mark.parametrize(
    ("known", "said", "many"),
    [
        ("I like jazz.", "I like bluegrass.", True),
        ("I like jazz.", "I like bluegrass now instead of jazz.", False),
        ("我喜欢爵士乐。", "我喜欢民谣。", True),
        ("我喜欢爵士乐。", "我现在改喜欢民谣了。", False),
    ],
)
def test_of_what_has_several_values_a_further_one_must_be_nearly_certain_to_retire(
    known: str, said: str, many: bool
) -> None:
    assert (bound_of(said, known) == THRESHOLDS["retire_many"]) is many


@pytest.mark.parametrize(
    ("known", "said", "uncued", "cued"),
    [
        ("I weigh parcels at the depot.", "I sort letters at the depot.", THRESHOLDS["correct_uncued"], PLAIN),
        ("My brother weighs parcels.", "My aunt sorts letters.", 2.0, THRESHOLDS["retire_other"]),
        ("我在仓库称包裹。", "我在仓库分信件。", THRESHOLDS["correct_uncued"], PLAIN),
    ],
)
def test_a_correction_without_a_word_for_it_must_be_surer(known: str, said: str, uncued: float, cued: float) -> None:
    assert bound_of(said, known, Action.CORRECT) == uncued
    assert bound_of(said, known, Action.CORRECT, corrects=True) == cued


@pytest.mark.parametrize(
    ("known", "said", "same"),
    [
        ("I hate olives.", "I really can't stand olives.", True),
        ("I hate olives.", "I really dislike capers.", False),
        ("I hate olives.", "I love olives.", False),
        ("I live in Bergen.", "I no longer live in Bergen.", False),
        ("My aunt lives in Bergen.", "My uncle lives in Bergen.", False),
        ("I live in Bergen.", "My uncle lives in Bergen.", False),
        ("My mum lives in Bergen.", "My mother lives in Bergen.", True),
        ("I keep the kayak in the shed.", "The kayak is kept in the shed.", False),
        ("I work as a welder.", "I work as a master welder.", False),
        ("我是护士。", "我是护士长。", False),
        ("我每月房租两千。", "我每月房租两千三。", False),
        ("我讨厌芹菜。", "我特别受不了芹菜。", True),
        ("我讨厌芹菜。", "我特别讨厌香菜。", False),
        ("我住在青岛。", "我家在青岛。", True),
    ],
)
def test_one_value_of_one_attribute_is_told_again(known: str, said: str, same: bool) -> None:
    (candidate,) = candidates(said)
    language = choose_language(said, load_languages())
    assert same_told(candidate, head(known, 0.5), language) is same


@pytest.mark.parametrize(
    ("known", "said", "uncued"),
    [
        ("My landlord is Mr. Voss.", "My landlord was ill last week.", True),
        ("My landlord is Mr. Voss.", "Mr. Voss is no longer my landlord.", False),
        ("I keep the kayak in the shed.", "The shed burnt last week.", False),
        ("我的房东是老吴。", "我的房东上周生病。", True),
        ("我的房东是老吴。", "老吴不再是我的房东。", False),
    ],
)
def test_an_attribute_ends_sooner_where_a_word_says_so(known: str, said: str, uncued: bool) -> None:
    found = bound_of(said, known, Action.NEGATE)
    assert (found == THRESHOLDS["negate_uncued"]) is uncued
    assert uncued or found <= THRESHOLDS["retire"]


@pytest.mark.parametrize(
    ("one", "other", "two"),
    [
        ("My mum paints fences.", "My mother paints boats.", False),
        ("My grandma paints fences.", "My granny paints boats.", False),
        ("My mum paints fences.", "My dad paints boats.", True),
        ("我闺女学画画。", "我女儿学跳舞。", False),
        ("我外婆种菜。", "我姥姥种花。", False),
        ("我外婆种菜。", "我外公种花。", True),
    ],
)
def test_words_for_one_role_mean_one_person(one: str, other: str, two: bool) -> None:
    (candidate,) = candidates(other)
    language = choose_language(other, load_languages())
    assert of_two_others(candidate, head(one, 0.5), language) is two


@given(st.sampled_from(["My boat is called Kestrel.", "我的船叫小燕。", "I own a boat.", ""]))
def test_telling_of_the_same_thing_is_mutual(text: str) -> None:
    other = "My boat is blue. 我的船是蓝的。"
    for language in load_languages():
        assert same_slot(text, other, language) == same_slot(other, text, language)


@given(
    said=st.sampled_from(
        ["Maybe my locker is number 31.", "My locker is number 31 until Friday.", "我的工位可能在七楼。"]
    ),
    action=st.sampled_from([action for action in Action if action.retires]),
    corrects=st.booleans(),
)
def test_nothing_hedged_or_limited_ever_retires(said: str, action: Action, corrects: bool) -> None:
    for known in ("My locker is number 12.", "我的工位在三楼。"):
        assert bound_of(said, known, action, corrects=corrects) > NEVER
