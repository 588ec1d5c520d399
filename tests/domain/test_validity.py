"""Times are aware, periods half-open."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memwell.domain.validity import Validity, day_bounds, parse_time, utc
from memwell.errors import InputError

MOMENT = st.integers(0, 20).map(lambda hours: datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=hours))


def test_naive_times_are_refused() -> None:
    with pytest.raises(InputError, match="no time zone") as caught:
        utc("at", datetime(2025, 1, 1))  # noqa: DTZ001
    assert caught.value.code == "naive_time"
    with pytest.raises(InputError):
        parse_time("at", "2025-01-01T10:00:00")


@pytest.mark.parametrize("value", ["yesterday", "", 5, None])
def test_what_is_no_time_is_refused(value: object) -> None:
    with pytest.raises(InputError) as caught:
        parse_time("at", value)  # type: ignore[arg-type]
    assert caught.value.code == "not_a_time"


def test_times_become_utc() -> None:
    west = timezone(-timedelta(hours=8))
    assert utc("at", datetime(2024, 1, 1, 23, 30, tzinfo=west)) == datetime(2024, 1, 2, 7, 30, tzinfo=UTC)
    assert parse_time("at", "2025-03-01T09:30:00+01:00") == datetime(2025, 3, 1, 8, 30, tzinfo=UTC)
    assert parse_time("at", "2025-03-01T09:30:00Z").tzinfo is UTC


def test_whole_days_fall_in_a_zone() -> None:
    shanghai = day_bounds(date(2025, 3, 1), date(2025, 3, 2), ZoneInfo("Asia/Shanghai"))
    assert (shanghai.start, shanghai.end) == (
        datetime(2025, 2, 28, 16, tzinfo=UTC),
        datetime(2025, 3, 2, 16, tzinfo=UTC),
    )
    spring = day_bounds(date(2025, 3, 30), date(2025, 3, 30), ZoneInfo("Europe/Paris"))
    assert spring.end is not None
    assert spring.end - spring.start == timedelta(hours=23)


def test_a_period_ends_after_it_starts() -> None:
    start = datetime(2025, 1, 1, tzinfo=UTC)
    with pytest.raises(InputError, match="not after its start"):
        Validity(start, start)


@given(MOMENT, st.none() | MOMENT, MOMENT, st.none() | MOMENT)
def test_periods_overlap_if_a_moment_is_in_both(
    start: datetime, end: datetime | None, other_start: datetime, other_end: datetime | None
) -> None:
    if (end is not None and end <= start) or (other_end is not None and other_end <= other_start):
        return
    one, other = Validity(start, end), Validity(other_start, other_end)
    later = max(start, other_start)
    assert one.overlaps(other) == other.overlaps(one) == (one.contains(later) and other.contains(later))
    assert one.contains(start)
    assert end is None or not one.contains(end)
