"""Times as people and programs write them."""

from __future__ import annotations

from datetime import UTC, datetime

from memwell.errors import InputError


def local_time(name: str, text: str) -> datetime:
    """The time that ``text`` names: ISO 8601, in the local zone where it names none; a date is its midnight.

    Args:
        name: of the argument or option, for the message.

    Raises:
        InputError: it is no time.
    """
    try:
        time = datetime.fromisoformat(text)
        time.astimezone(UTC)  # a time at the very edge of the calendar has no place in UTC
        return time if time.tzinfo else time.astimezone()
    except (TypeError, ValueError, OverflowError, OSError):
        raise InputError(
            f"{name} {text!r} is no date or time",
            remedy="write it like 2025-03-01, 2025-03-01T09:30 (local time) or 2025-03-01T09:30:00+01:00",
            code="not_a_time",
        ) from None
