"""Dates and limited periods, against the day where the speaker is."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memwell.builtin.extractor import BuiltinExtractor
from memwell.engine.ports import Proposal
from tests.builtin.test_extractor import make_turn

WEDNESDAY = datetime(2025, 6, 11, 12, 0, tzinfo=UTC)


def proposal(text: str, at: datetime = WEDNESDAY, offset: int = 0) -> Proposal:
    (found,) = BuiltinExtractor().extract([make_turn(text, at=at, offset=offset)], []).proposals
    return found


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Yesterday I ran along the canal.", date(2025, 6, 10)),
        ("I repaired the kite last night.", date(2025, 6, 10)),
        ("I planted beans 3 days ago.", date(2025, 6, 8)),
        ("We met the surveyor last Friday.", date(2025, 6, 6)),
        ("I signed the lease on 2024-02-29.", date(2024, 2, 29)),
        ("I signed the lease on 5 March 2024.", date(2024, 3, 5)),
        ("We adopted Momo on March 5th, 2024.", date(2024, 3, 5)),
        ("I met the surveyor the day before yesterday.", date(2025, 6, 9)),
        ("The night before last I fell off my bike.", date(2025, 6, 9)),
        ("I started here three weeks ago on Monday.", date(2025, 5, 19)),
        ("On Monday three weeks ago I started here.", date(2025, 5, 19)),
        ("I paid the deposit on Friday last week.", date(2025, 6, 6)),
        ("I paid the deposit the Monday before last.", date(2025, 6, 2)),
        ("I sail on Monday next week.", date(2025, 6, 16)),
        ("I sail next Monday.", date(2025, 6, 16)),
        ("I sail 3 days from now.", date(2025, 6, 14)),
        ("昨天我沿着河跑步了。", date(2025, 6, 10)),
        ("我大前天去看了牙医。", date(2025, 6, 8)),
        ("我下下周三去体检。", date(2025, 6, 25)),
        ("我上上周五交了押金。", date(2025, 5, 30)),
        ("我三周前的周一入的职。", date(2025, 5, 19)),
        ("我再过三天出海。", date(2025, 6, 14)),
        ("我前天修好了风筝。", date(2025, 6, 9)),
        ("我三天前种了豆子。", date(2025, 6, 8)),
        ("上周五我见了房东。", date(2025, 6, 6)),
        ("这周一我交了稿。", date(2025, 6, 9)),
        ("我2024年3月5日签了合同。", date(2024, 3, 5)),
        ("我去年12月3号领了证书。", date(2024, 12, 3)),
        ("我二〇二四年签的合同，就在昨天。", date(2025, 6, 10)),
    ],
)
def test_one_unambiguous_day(text: str, day: date) -> None:
    found = proposal(text)
    assert found.occurred_at == datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert found.time_expression is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I broke my wrist last summer.", "last summer"),
        ("I saw the comet two weeks ago.", "two weeks ago"),
        ("We sail on June 9.", "June 9"),
        # Of this week, or of another.
        ("We met the surveyor last Monday.", "last Monday"),
        ("We sail next Friday.", "next Friday"),
        ("I saw the dentist a couple of days ago.", "a couple of days ago"),
        ("I had surgery the week before last.", "the week before last"),
        ("I planted it in autumn 2021.", "in autumn 2021"),
        ("I sail in three days.", "in three days"),
        ("I gave up smoking a fortnight ago.", "a fortnight ago"),
        ("我去年国庆去了敦煌。", "去年国庆"),
        ("我2021年秋天种的树。", "2021年秋天"),
        ("我前两天看了牙医。", "前两天"),
        ("我两三天前看了牙医。", "两三天前"),
        ("我上上周做了手术。", "上上周"),
        ("我半个月前戒了烟。", "半个月前"),
        ("前阵子我摔断了手腕。", "前阵子"),
        ("我上个月去看了彗星。", "上个月"),
        ("我6月9号出海。", "6月9号"),
        ("I signed on 2025-02-31, or so they wrote.", None),
    ],
)
def test_a_phrase_that_names_no_one_day_is_kept_as_words(text: str, words: str | None) -> None:
    found = proposal(text)
    assert (found.occurred_at, found.time_expression) == (None, words)


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("From June 9 to June 20, 2025 I'm in Lisbon.", date(2025, 6, 9), date(2025, 6, 21)),
        ("I work from home until Friday.", date(2025, 6, 11), date(2025, 6, 14)),
        ("I work from home until next Friday.", date(2025, 6, 11), date(2025, 6, 21)),
        ("I'm on night shifts until June 30.", date(2025, 6, 11), date(2025, 7, 1)),
        ("I'm on night shifts until March 3.", date(2025, 6, 11), date(2026, 3, 4)),
        ("Just this week I'm commuting by bus.", date(2025, 6, 11), date(2025, 6, 16)),
        ("I'm covering for Dana through 2025-07-04.", date(2025, 6, 11), date(2025, 7, 5)),
        ("6月9日到6月20日我在里斯本。", date(2025, 6, 9), date(2025, 6, 21)),
        ("我在家办公，到周五为止。", date(2025, 6, 11), date(2025, 6, 14)),
        ("就这周我坐公交上班。", date(2025, 6, 11), date(2025, 6, 16)),
        ("12月28日到1月3日我在老家。", date(2025, 12, 28), date(2026, 1, 4)),
    ],
)
def test_limited_periods_are_whole_half_open_days(text: str, first: date, end: date) -> None:
    found = proposal(text)
    assert found.valid_from == datetime(first.year, first.month, first.day, tzinfo=UTC)
    assert found.valid_until == datetime(end.year, end.month, end.day, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "I currently live in Porto.",
        "I've been here until now every day.",
        "I have lived here since Friday.",
        "我目前住在厦门。",
        "我一直住到现在。",
        "我每周五去游泳。",
        "我的例会改到周四了。",
        "我们的婚礼推到六月了。",
        "交稿推迟到下周五了。",
        "比赛提前到周六了。",
        "我周五前往北京。",
    ],
)
def test_what_goes_on_is_no_limited_period(text: str) -> None:
    assert proposal(text).valid_until is None


@pytest.mark.parametrize(
    ("at", "offset", "text", "day"),
    [
        ("2024-01-01T23:30:00-08:00", -480, "Yesterday I ran.", date(2023, 12, 31)),
        ("2024-01-01T23:30:00-08:00", -480, "昨天我跑步了。", date(2023, 12, 31)),
        ("2024-01-02T00:30:00+08:00", 480, "Yesterday I ran.", date(2024, 1, 1)),
        ("2024-01-02T00:30:00+08:00", 480, "昨天我跑步了。", date(2024, 1, 1)),
        ("2024-03-01T00:10:00+13:00", 780, "Yesterday I ran.", date(2024, 2, 29)),
        ("2024-03-01T00:10:00+05:45", 345, "昨天我跑步了。", date(2024, 2, 29)),
    ],
)
def test_days_count_from_the_speakers_day(
    at: str, offset: int, text: str, day: date, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    found = proposal(text, at=datetime.fromisoformat(at).astimezone(UTC), offset=offset)
    assert found.occurred_at == datetime(day.year, day.month, day.day, tzinfo=UTC)
