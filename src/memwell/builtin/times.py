"""Time phrases: which days a text names, and which limited period it states.

Days are calendar days where the speaker is; as times they are whole UTC days, half-open. A phrase that names no one day
is kept as words, never guessed.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from memwell.builtin.language import Language, TimeRule, compiled
from memwell.domain.memory import Span
from memwell.domain.validity import Validity, day_bounds

# Distances beyond this are no dates anybody means.
_MAX_COUNT = 10_000


@dataclass(frozen=True, slots=True)
class Phrase:
    """A time phrase of a text.

    Attributes:
        words: as written.
        first, last: the days it covers, inclusive; ``None`` where it names none.
        dated: it has a year or counts from the day of speaking, so that ``first`` is no guess.
        limit_only: it may end a period, but dates no event.
        certain: it means these days and no others; if not, an event keeps the words.
    """

    span: Span
    words: str
    first: date | None = None
    last: date | None = None
    dated: bool = True
    limit_only: bool = False
    certain: bool = True

    @property
    def period(self) -> Validity | None:
        return day_bounds(self.first, self.last) if self.first and self.last else None


# A question's date without a year may mean any of these many years back, or the coming one.
_YEARS_BACK = 10


def asked_periods(phrase: Phrase, year: int) -> tuple[Validity, ...]:
    """Periods that a phrase of a question asked in ``year`` may mean: one, or one a year where it names no year."""
    if phrase.first is None or phrase.last is None:
        return ()
    if phrase.dated:
        return (day_bounds(phrase.first, phrase.last),)
    span = phrase.last - phrase.first
    years = range(year - _YEARS_BACK, year + 2)
    return tuple(day_bounds(first, first + span) for first in (_with_year(phrase.first, y) for y in years))


def local_day(moment: datetime, offset_minutes: int) -> date:
    """Calendar day of ``moment`` where clocks are ``offset_minutes`` ahead of UTC."""
    return (moment.astimezone(UTC) + timedelta(minutes=offset_minutes)).date()


def phrases(text: str, language: Language, today: date) -> tuple[Phrase, ...]:
    """Time phrases of folded ``text`` in order, none overlapping; earlier rules of the pack win."""
    if not compiled(language.times.patterns["hint"]).search(text):
        return ()
    found: list[Phrase] = []
    for rule in language.times.rules:
        for match in compiled(rule.pattern).finditer(text):
            span = Span(match.start(), match.end())
            if not any(span.overlaps(other.span) for other in found):
                phrase = _phrase(rule, match, span, language, today)
                if phrase is not None:
                    found.append(phrase)
    return tuple(sorted(found, key=lambda phrase: phrase.span))


def event_time(found: tuple[Phrase, ...]) -> tuple[datetime | None, str | None]:
    """The one unambiguous day that ``found`` names, at UTC midnight, or else the first phrase's words."""
    usable = [phrase for phrase in found if not phrase.limit_only]
    days = {phrase.first for phrase in usable if phrase.dated and phrase.first and phrase.first == phrase.last}
    certain = all(phrase.first == phrase.last and phrase.certain for phrase in usable if phrase.first)
    if len(days) == 1 and certain:
        day = days.pop()
        return datetime(day.year, day.month, day.day, tzinfo=UTC), None
    return None, usable[0].words if usable else None


def limited_period(text: str, language: Language, found: tuple[Phrase, ...], today: date) -> Validity | None:
    """The limited period that folded ``text`` states with one of the phrases ``found``, in whole UTC days."""
    patterns = language.times.patterns
    for position, phrase in enumerate(found):
        if phrase.first is None or phrase.last is None:
            continue
        before, after = text[: phrase.span.start], text[phrase.span.end :]
        if position + 1 < len(found):
            following = found[position + 1]
            between = text[phrase.span.end : following.span.start]
            if compiled(patterns["from_between"]).search(between) and compiled(patterns["from_before"]).search(before):
                return _from_to(phrase, following, today)
        if compiled(patterns["until_before"]).search(before) or compiled(patterns["until_after"]).search(after):
            last = _upcoming(phrase, today) if not phrase.dated else phrase.last
            return day_bounds(today, last) if last >= today else None
        if compiled(patterns["only_before"]).search(before) and phrase.last >= today and phrase.first != phrase.last:
            return day_bounds(max(phrase.first, today), phrase.last)
    return None


def _from_to(start: Phrase, end: Phrase, today: date) -> Validity | None:
    if start.first is None or end.last is None:
        return None
    first, last = start.first, end.last
    if not end.dated:
        last = _with_year(last, start.first.year) if start.dated else _upcoming(end, today)
    if not start.dated:
        first = _with_year(first, last.year)
        if first > last:
            first = _with_year(first, last.year - 1)
    return day_bounds(first, last) if first <= last else None


def _with_year(day: date, year: int) -> date:
    return day.replace(year=year, day=min(day.day, calendar.monthrange(year, day.month)[1]))


def _upcoming(phrase: Phrase, today: date) -> date:
    """The next such day from today on; a phrase without a year lies in the present one."""
    assert phrase.last is not None
    return phrase.last if phrase.last >= today else _with_year(phrase.last, phrase.last.year + 1)


def _phrase(rule: TimeRule, match: re.Match[str], span: Span, language: Language, today: date) -> Phrase | None:
    words = match.group().strip()
    if rule.rule == "vague":
        return Phrase(span, words)
    try:
        days = _days(rule, {key: value for key, value in match.groupdict().items() if value}, language, today)
    except (ValueError, OverflowError):
        return None
    if days is None:
        return Phrase(span, words)
    first, last, dated = days
    return Phrase(span, words, first, last, dated, rule.limit_only, not (rule.doubtful and _is_doubtful(first, today)))


def _is_doubtful(day: date, today: date) -> bool:
    """Whether "last Monday" or "next Friday" may mean the one of this week as well as the one of another."""
    passed = day.weekday() < today.weekday()
    return passed if day < today else not passed and day.weekday() != today.weekday()


def _number(text: str, language: Language) -> int:
    if text.isdigit():
        return int(text)
    lowered = text.lower()
    words = language.times
    return words.numbers[lowered] if lowered in words.numbers else words.months[lowered]


def _days(rule: TimeRule, groups: dict[str, str], language: Language, today: date) -> tuple[date, date, bool] | None:
    """First and last day, and whether they are certain; ``None`` where the phrase names no days."""
    match rule.rule:
        case "day":
            day = today + timedelta(days=rule.offset)
            return day, day, True
        case "date":
            return _named_date(rule, {key: _number(value, language) for key, value in groups.items()}, today)
        case "ago" | "ahead" | "hence":
            unit = language.times.units[groups["unit"].lower()]
            return _counted(rule.rule, _number(groups["n"], language), unit, today)
        case "near":
            weekday = language.times.weekdays[groups["w"].lower()]
            back = (today.weekday() - weekday) % 7 or 7
            days = -back + 7 * (rule.offset + 1) if rule.offset < 0 else (weekday - today.weekday()) % 7
            return today + timedelta(days=days), today + timedelta(days=days), True
        case "weekday":
            weeks = rule.offset * (_number(groups["n"], language) if "n" in groups else 1)
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=weeks)
            day = monday + timedelta(days=language.times.weekdays[groups["w"].lower()])
            return day, day, True
        case "week" | "weekend":
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=rule.offset)
            return monday + timedelta(days=5 if rule.rule == "weekend" else 0), monday + timedelta(days=6), True
        case "month":
            months = today.year * 12 + today.month - 1 + rule.offset
            return *_month(months // 12, months % 12 + 1), True
        case "year":
            return date(today.year + rule.offset, 1, 1), date(today.year + rule.offset, 12, 31), True
    raise ValueError(f"unknown time rule {rule.rule!r}")


def _named_date(rule: TimeRule, given: dict[str, int], today: date) -> tuple[date, date, bool]:
    dated = "y" in given or rule.years is not None
    year = given.get("y", today.year + (rule.years or 0))
    if "d" in given:
        day = date(year, given.get("m", today.month), given["d"])
        return day, day, dated
    if "m" in given:
        first, last = _month(year, given["m"])
        if rule.days is not None:
            first, last = first.replace(day=rule.days[0]), last.replace(day=min(rule.days[1], last.day))
        return first, last, dated
    return date(year, 1, 1), date(year, 12, 31), dated


def _counted(rule: str, count: int, unit: str, today: date) -> tuple[date, date, bool] | None:
    if count > _MAX_COUNT:
        return None
    if rule == "ahead":
        days = {"day": 1, "week": 7, "month": 30, "year": 365}[unit] * count
        return today, today + timedelta(days=days), True
    if unit != "day":
        return None
    day = today + timedelta(days=count if rule == "hence" else -count)
    return day, day, True


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])
