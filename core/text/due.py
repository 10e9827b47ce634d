"""The day a statement names, resolved against the day it was said: "by Friday", 月底, 15 April.

Relies on the `[due]` tables of `resources/rules/statements.*`; the words it reads are folded and
lower-cased by the caller (`core.text.clauses`).
"""

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache

from core.text.rules import RuleTable, load_rules

_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")


@dataclass(frozen=True, slots=True)
class DayWords:
    """How one language names days."""

    days: tuple[tuple[int, re.Pattern[str]], ...]  # (days from today, words), longest words first
    weekday: re.Pattern[str]
    weekdays: tuple[re.Pattern[str], ...]
    month_days: tuple[re.Pattern[str], ...]
    months: tuple[re.Pattern[str], ...]
    month_end: re.Pattern[str]
    next_week: re.Pattern[str]
    clocks: tuple[re.Pattern[str], ...]
    afternoon: re.Pattern[str]


@cache
def load_day_words(language: str) -> DayWords:
    """Return the day words of a language that has statement rules."""
    table = load_rules("statements")[language].section("due")
    bound = "" if load_rules("statements")[language].text("script") == "cjk" else r"\b"
    weekdays, months = table.texts("weekdays"), table.texts("months")

    def words(key: str) -> re.Pattern[str]:
        return re.compile("|".join(f"{bound}(?:{word}){bound}" for word in table.texts(key)) or "(?!)")

    return DayWords(
        days=((2, words("after_tomorrow")), (1, words("tomorrow")), (0, words("today"))),
        weekday=re.compile(table.text("weekday", "(?!)").replace("%s", "|".join(weekdays))),
        weekdays=tuple(re.compile(word) for word in weekdays),
        month_days=_filled(table, "month_day", "|".join(months)),
        months=tuple(re.compile(word) for word in months),
        month_end=table.pattern("month_end"),
        next_week=table.pattern("next_week"),
        clocks=table.patterns("clock"),
        afternoon=re.compile(table.text("afternoon") or "(?!)"),
    )


def find_due(words: str, at: datetime, language: str) -> str | None:
    """Return the day named in `words` as `YYYY-MM-DD`, with `Thh:mm` where a clock time stands."""
    day = _find_day(words, at.date(), load_day_words(language))
    if day is None:
        return None
    clock = _find_clock(words, load_day_words(language))
    return f"{day.isoformat()}T{clock}" if clock else day.isoformat()


def _filled(table: RuleTable, key: str, names: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(item.replace("%s", names)) for item in table.texts(key))


def _find_day(words: str, today: date, named: DayWords) -> date | None:
    if match := _ISO.search(words):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    for pattern in named.month_days:
        if match := pattern.search(words):
            return _next_date(match, today, named)
    for days, pattern in named.days:
        if pattern.search(words):
            return today + timedelta(days=days)
    if match := named.weekday.search(words):
        return _next_weekday(match, today, named)
    if named.month_end.search(words):
        return today.replace(day=calendar.monthrange(today.year, today.month)[1])
    if named.next_week.search(words):
        return today + timedelta(days=13 - today.weekday())
    return None


def _next_date(match: re.Match[str], today: date, named: DayWords) -> date | None:
    month = next((i for i, name in enumerate(named.months, 1) if name.fullmatch(match["m"])), 0)
    this_year = _day(today.year, month, int(match["d"]))
    if this_year is not None and this_year >= today:
        return this_year
    return _day(today.year + 1, month, int(match["d"]))


def _next_weekday(match: re.Match[str], today: date, named: DayWords) -> date | None:
    wanted = next((i for i, name in enumerate(named.weekdays) if name.fullmatch(match["day"])), None)
    if wanted is None:
        return None
    if match["next"]:
        return today + timedelta(days=7 - today.weekday() + wanted)
    return today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)


def _find_clock(words: str, named: DayWords) -> str:
    for pattern in named.clocks:
        if match := pattern.search(words):
            groups = match.groupdict()
            hour, minute = int(groups["h"]), int(groups.get("min") or 0)
            half = groups.get("half") or ""
            if named.afternoon.match(half) and hour < 12:
                hour += 12
            elif half[:1] == "a" and hour == 12:
                hour = 0
            if hour < 24 and minute < 60:
                return f"{hour:02}:{minute:02}"
    return ""


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
