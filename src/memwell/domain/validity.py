"""Time rules: aware times only, half-open validity, two axes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from memwell.errors import InputError


def utc(name: str, value: datetime) -> datetime:
    """Return ``value`` in UTC; refuse a naive time, since its zone could only be guessed.

    Raises:
        InputError: ``value`` is no datetime or has no zone.
    """
    if not isinstance(value, datetime):
        raise InputError(f"{name} is {value!r}", remedy="pass a datetime with a time zone", code="not_a_time")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InputError(
            f"{name} {value.isoformat()} has no time zone",
            remedy="pass an aware datetime, such as datetime.now(timezone.utc)",
            code="naive_time",
        )
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InputError(
            f"{name} {value.isoformat()} lies outside the years 1 to 9999 in UTC",
            remedy="give a time within them",
            code="not_a_time",
        ) from None


def parse_time(name: str, value: str | datetime) -> datetime:
    """Read an ISO 8601 time with a zone, or pass an aware datetime through; result in UTC."""
    if isinstance(value, datetime):
        return utc(name, value)
    try:
        parsed = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} {value!r} is no ISO 8601 time",
            remedy="write it like 2025-03-01T09:30:00+01:00",
            code="not_a_time",
        ) from None
    return utc(name, parsed)


def day_bounds(first: date, last: date, zone: tzinfo = UTC) -> Validity:
    """Validity of whole days, ``first`` to ``last`` inclusive, as they fall in ``zone``."""
    start = datetime(first.year, first.month, first.day, tzinfo=zone)
    end = datetime(last.year, last.month, last.day, tzinfo=zone) + timedelta(days=1)
    return Validity(start.astimezone(UTC), end.astimezone(UTC))


@dataclass(frozen=True, slots=True)
class Validity:
    """Half-open period ``start <= t < end`` in UTC; ``end=None`` means no known end.

    Raises:
        InputError: the end is not after the start.
    """

    start: datetime
    end: datetime | None = None

    def __post_init__(self) -> None:
        if self.end is not None and self.end <= self.start:
            raise InputError(
                f"validity ends at {self.end.isoformat()}, not after its start {self.start.isoformat()}",
                remedy="give an end later than the start, or none",
            )

    def contains(self, moment: datetime) -> bool:
        return self.start <= moment and (self.end is None or moment < self.end)

    def overlaps(self, other: Validity) -> bool:
        return (other.end is None or self.start < other.end) and (self.end is None or other.start < self.end)
