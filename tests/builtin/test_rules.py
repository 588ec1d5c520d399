"""What the rules on wording decide, with similarities given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memwell.builtin.extractor import BuiltinExtractor
from memwell.builtin.rules import RuleJudge
from memwell.domain.decision import ALLOWED, Action, Candidate, Situation
from memwell.engine.compile import candidates as compile_candidates
from memwell.engine.ports import Comparison, Head, Verdict
from tests.builtin.test_extractor import make_turn

EXTRACTOR = BuiltinExtractor()
JUDGE = RuleJudge()
BEFORE = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)
NOW = datetime(2025, 6, 11, 12, 0, tzinfo=UTC)


def candidates(text: str, at: datetime = NOW) -> list[Candidate]:
    turn = make_turn(text, at=at)
    return list(compile_candidates([turn], EXTRACTOR.extract([turn], []).proposals))


def head(text: str, similarity: float, at: datetime = BEFORE) -> Head:
    (candidate,) = candidates(text, at)
    return as_head(candidate, similarity, "mem_1", at)


def as_head(candidate: Candidate, similarity: float, memory_id: str, said_at: datetime) -> Head:
    return Head(
        memory_id=memory_id,
        content=candidate.content,
        kind=candidate.kind,
        subject=candidate.subject,
        attribute=candidate.attribute,
        value=candidate.value,
        polarity=candidate.polarity,
        said_at=said_at,
        similarity=similarity,
        valid_until=candidate.valid_until,
    )


def decide(earlier: str, message: str, similarity: float, *, number: int = -1, older: bool = False) -> Verdict:
    """Verdict on one candidate of ``message`` (the last by default) against one current memory."""
    candidate = candidates(message, NOW)[number]
    situation = Situation.OLDER_SOURCE if older else Situation.TARGET
    said_at = NOW + timedelta(days=1) if older else BEFORE
    comparison = Comparison(candidate, message, (head(earlier, similarity, said_at),), (situation,))
    (verdict,) = JUDGE.judge([comparison])
    return verdict


@pytest.mark.parametrize(
    ("earlier", "later", "similarity", "action"),
    [
        # The same again, trivially different or in other words.
        ("I live in Bergen.", "i live in Bergen!!", 0.99, Action.SKIP),
        ("我住在青岛。", "我住在青岛", 0.99, Action.SKIP),
        ("My browser is Falkon.", "Falkon is my main browser.", 0.60, Action.SKIP),
        ("The attic door sticks in winter.", "In winter the attic door always sticks.", 0.90, Action.SKIP),
        ("我最近在学钢琴。", "钢琴我最近在学。", 0.95, Action.SKIP),
        # Another number or name is another statement, however similar.
        ("The rehearsal room holds 12 people.", "The rehearsal room holds 40 people.", 0.95, Action.SUPPLEMENT),
        ("I play chess with Otto.", "I play chess with Ludwig.", 0.90, Action.SUPPLEMENT),
        ("合唱团排练在11月4日。", "合唱团排练在11月11日。", 0.97, Action.SUPPLEMENT),
        ("The choir meets at 5, on 11/5.", "The choir meets at 5, on 11/11.", 0.97, Action.SUPPLEMENT),
        # One value at a time.
        ("I live in Bergen.", "I moved to Tampere.", 0.35, Action.OVERRIDE),
        ("我住在青岛。", "我搬到成都了。", 0.45, Action.OVERRIDE),
        ("I work as a florist.", "I work as a welder now.", 0.40, Action.OVERRIDE),
        ("I'm single.", "I got engaged on Saturday.", 0.30, Action.OVERRIDE),
        ("My favourite tea is oolong.", "My favourite tea is rooibos.", 0.60, Action.OVERRIDE),
        ("My favourite tea is oolong.", "My favourite coffee is mocha.", 0.60, Action.SUPPLEMENT),
        ("My desk is by the window.", "My desk is near the lift.", 0.60, Action.OVERRIDE),
        ("My desk is by the window.", "My old desk was by the door.", 0.60, Action.SUPPLEMENT),
        ("我最喜欢的颜色是蓝色。", "我最喜欢的颜色是绿色。", 0.70, Action.OVERRIDE),
        ("我的储物柜是12号。", "我的储物柜是31号。", 0.70, Action.OVERRIDE),
        ("我的储物柜是12号。", "我爸的储物柜是31号。", 0.70, Action.SUPPLEMENT),
        ("我上三年级。", "我上四年级了。", 0.60, Action.OVERRIDE),
        # Several values at a time, or one more of what usually is one.
        ("I hate olives.", "I hate capers.", 0.60, Action.SUPPLEMENT),
        ("我讨厌橄榄。", "我讨厌芹菜。", 0.60, Action.SUPPLEMENT),
        ("I work as a florist.", "On weekends I also work as a DJ.", 0.50, Action.SUPPLEMENT),
        ("我在花店上班。", "周末我还在酒吧上班。", 0.50, Action.SUPPLEMENT),
        # Corrections.
        ("The boiler is from 1998.", "I misread the plate, the boiler is from 1989.", 0.60, Action.CORRECT),
        ("锅炉是1998年的。", "我看错了，锅炉是1989年的。", 0.60, Action.CORRECT),
        ("I repair clocks.", "Actually, I repair watches.", 0.60, Action.CORRECT),
        ("I repair clocks.", "Actually, I repair watches as well.", 0.60, Action.SUPPLEMENT),
        ("我修钟。", "其实我修的是表。", 0.60, Action.CORRECT),
        ("我修钟。", "其实我也会修表。", 0.60, Action.SUPPLEMENT),
        ("锅炉是1998年的。", "别弄混，水泵是2004年的。", 0.60, Action.SUPPLEMENT),
        # Ends.
        ("I sing in a choir.", "I no longer sing in the choir.", 0.50, Action.NEGATE),
        ("我在合唱团唱歌。", "合唱团我退了。", 0.55, Action.NEGATE),
        # A limited exception leaves the baseline.
        ("I commute by tram.", "This week only, until Friday, I cycle to work.", 0.50, Action.TEMPORAL),
        ("我坐地铁上班。", "就这周我骑车上班。", 0.60, Action.TEMPORAL),
        # Somebody else's word against the user's.
        ("I was born in Graz.", "My aunt insists that I was born in Linz.", 0.60, Action.CONFLICT),
        ("我是山西人。", "同事非说我是陕西人。", 0.60, Action.CONFLICT),
        # A plan that is carried out.
        ("I'm planning to take the sailing test.", "I finally passed the sailing test!", 0.60, Action.OVERRIDE),
        ("我打算学帆船。", "帆船证终于拿到了！", 0.60, Action.OVERRIDE),
        ("我打算五月去爬华山。", "去华山的车票订好了。", 0.60, Action.SUPPLEMENT),
        # A switch without any known attribute.
        (
            "We keep the recipes in a blue binder.",
            "We switched from the binder to index cards.",
            0.55,
            Action.OVERRIDE,
        ),
        ("食谱我们记在蓝本子里。", "食谱我们改成记卡片了。", 0.65, Action.OVERRIDE),
        # A completed event replaces no other; unrelated statements stand beside each other.
        ("I ran the harbour race last year.", "I ran the bridge race yesterday.", 0.60, Action.SUPPLEMENT),
        ("The kettle whistles.", "I moved to Tampere.", 0.02, Action.SUPPLEMENT),
        # Unsure words retire nothing.
        ("I live in Bergen.", "Maybe I'll have moved to Tampere by then.", 0.50, Action.SUPPLEMENT),
    ],
)
def test_rules(earlier: str, later: str, similarity: float, action: Action) -> None:
    verdict = decide(earlier, later, similarity)
    assert verdict.action is action
    assert verdict.targets == (() if action in (Action.SUPPLEMENT, Action.TEMPORAL) else (0,))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I live in Bergen.", "My sister moved to Tampere."),
        ("我住在青岛。", "我姐姐搬到成都了。"),
        ("I eat vegan.", "My boss went keto."),
    ],
)
def test_statements_about_others_never_retire_the_users(earlier: str, later: str) -> None:
    assert decide(earlier, later, 0.6).action is Action.SUPPLEMENT


def test_another_persons_state_is_replaced_by_their_own_later_one() -> None:
    assert decide("My sister Aoife lives in Cork.", "Aoife moved to Galway.", 0.6).action is Action.OVERRIDE


def test_a_correction_may_be_announced_in_the_sentence_before() -> None:
    verdict = decide("The boiler is from 1998.", "Sorry, I misspoke. The boiler is from 1989.", 0.6)
    assert verdict.action is Action.CORRECT


@pytest.mark.parametrize(
    ("newer", "late_report", "action"),
    [
        ("I live in Tampere.", "I live in Bergen.", Action.HISTORICAL),
        ("我住在成都。", "我住在青岛。", Action.HISTORICAL),
        ("I live in Tampere.", "I live in Tampere.", Action.SKIP),
        ("I live in Tampere.", "I play the accordion.", Action.SUPPLEMENT),
        ("I no longer sing in the choir.", "I sing in a choir.", Action.HISTORICAL),
    ],
)
def test_an_older_report_that_arrives_late_never_replaces(newer: str, late_report: str, action: Action) -> None:
    similarity = 0.99 if newer == late_report else 0.5
    assert decide(newer, late_report, similarity, older=True).action is action


@pytest.mark.parametrize(
    ("earlier", "later", "action"),
    [
        ("I live in Bergen.", "I no longer live in Bergen.", Action.NEGATE),
        ("I live in Bergen.", "I no longer live in Tampere.", Action.SUPPLEMENT),
        ("I no longer live in Bergen.", "I live in Bergen.", Action.OVERRIDE),
        ("I no longer live in Bergen.", "I live in Tampere.", Action.SUPPLEMENT),
        ("I live in Bergen.", "I quit the choir, and I moved to Tampere.", Action.OVERRIDE),
    ],
)
def test_an_end_concerns_its_own_value_alone(earlier: str, later: str, action: Action) -> None:
    assert decide(earlier, later, 0.6).action is action


def test_reasons_hold_no_words_of_the_user() -> None:
    verdict = decide("I live in Bergen.", "I moved to Tampere.", 0.35)
    assert verdict.reason == "replaces: same attribute residence, later, 0.35"


_SITUATIONS = [Situation.TARGET, Situation.OLDER_SOURCE, Situation.BATCH_TARGET]
_TEXTS = st.sampled_from(
    [
        "I live in Bergen.",
        "I moved to Tampere.",
        "I no longer live in Bergen.",
        "Actually I live in Oulu.",
        "My sister lives in Cork.",
        "My aunt says I live in Graz.",
        "Until Friday I live in Turku.",
        "I plan to move to Vaasa.",
        "I also work as a DJ.",
        "我住在青岛。",
        "我搬到成都了。",
        "同事说我住在西安。",
        "这周我住在公司。",
    ]
)


@settings(deadline=None)
@given(
    _TEXTS,
    st.lists(st.tuples(_TEXTS, st.floats(-1, 1), st.sampled_from(_SITUATIONS)), max_size=5),
)
def test_every_verdict_is_allowed_and_repeatable(text: str, rows: list[tuple[str, float, Situation]]) -> None:
    (candidate,) = candidates(text)
    comparison = Comparison(
        candidate,
        text,
        tuple(head(earlier, similarity) for earlier, similarity, _ in rows),
        tuple(situation for *_, situation in rows),
    )
    (verdict,) = JUDGE.judge([comparison])
    chosen = {comparison.situations[i] for i in verdict.targets} or {Situation.NO_TARGET}
    assert all(verdict.action in ALLOWED[situation] for situation in chosen)
    assert 0 <= verdict.confidence <= 1
    assert RuleJudge().judge([comparison]) == [verdict]


@dataclass(frozen=True)
class Version:
    candidate: Candidate
    said_at: datetime


def current_view(statements: list[tuple[str, datetime]], similarity: float = 0.5) -> list[str]:
    """What is current after ``statements`` arrived in this order, by the least engine that carries verdicts out."""
    current: list[Version] = []
    for text, at in statements:
        (candidate,) = candidates(text, at)
        comparison = Comparison(
            candidate,
            text,
            tuple(as_head(v.candidate, similarity, f"mem_{i}", v.said_at) for i, v in enumerate(current)),
            tuple(Situation.OLDER_SOURCE if at < v.said_at else Situation.TARGET for v in current),
        )
        (verdict,) = JUDGE.judge([comparison])
        if verdict.action is Action.SKIP:
            version = current[verdict.targets[0]]
            current[verdict.targets[0]] = replace(version, said_at=max(version.said_at, at))
        elif verdict.action is not Action.HISTORICAL:
            gone = set(verdict.targets) if verdict.action.retires else set()
            current = [version for i, version in enumerate(current) if i not in gone] + [Version(candidate, at)]
    return sorted(version.candidate.content for version in current)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["I live in Bergen.", "I live in Tampere.", "I live in Bergen."], ["I live in Bergen."]),
        (["我住在青岛。", "我住在成都。", "我住在西安。", "我住在青岛。"], ["我住在青岛。"]),
        (["I weigh 82 kg.", "I weigh 75 kg.", "I weigh 68 kg."], ["I weigh 68 kg."]),
        (["My browser is Falkon.", "I hate olives.", "My browser is Lynx."], ["I hate olives.", "My browser is Lynx."]),
    ],
)
def test_any_order_of_arrival_gives_the_same_current_view(texts: list[str], expected: list[str]) -> None:
    dated = [(text, BEFORE + timedelta(days=30 * number)) for number, text in enumerate(texts)]
    for order in permutations(dated):
        assert current_view(list(order)) == expected
