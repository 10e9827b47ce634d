"""Dates beside words that lose their meaning: "yesterday" becomes "yesterday (2023-05-07)".

Relies on the `[when]` tables of `resources/rules/heuristics.*`.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache

from core.text.clauses import fold
from core.text.rules import load_rules


@dataclass(frozen=True, slots=True)
class _When:
    pattern: re.Pattern[str]
    unit: str
    offset: int


@dataclass(frozen=True, slots=True)
class _DayRules:
    whens: tuple[_When, ...]
    forms: dict[str, str]  # how a date is put behind a line, per unit
    dated: re.Pattern[str]  # a day that stays clear without one
    month_day: re.Pattern[str]


def local_time(at: float, utc_offset_s: float) -> datetime | None:
    """Return the user's wall clock at a moment; None where the moment is unknown."""
    if at <= 0:
        return None
    zone = timezone(timedelta(seconds=max(-86_340.0, min(86_340.0, utc_offset_s))))
    return datetime.fromtimestamp(at, UTC).astimezone(zone)


def add_date(text: str, said_at: datetime | None, language: str) -> str:
    """Return the line with the date that its "yesterday" or "next month" means behind it."""
    rules = _load_day_rules(language)
    if said_at is None or rules is None:
        return text
    folded = fold(text)
    if rules.dated.search(folded):
        return text
    for when in rules.whens:
        if when.pattern.search(folded):
            form = rules.forms["day" if when.unit == "weekday" else when.unit]
            return text + form.format(_resolve(when, said_at.date()))
    return text


def add_day(text: str, day: str | None, language: str) -> str:
    """Return the line with a day that it names in passing ("on Friday") behind it."""
    rules = _load_day_rules(language)
    folded = fold(text)
    if day is None or rules is None or rules.dated.search(folded) or rules.month_day.search(folded):
        return text
    return text + rules.forms["day"].format(day[:10])


def add_due(text: str, due: str | None, language: str) -> str:
    """Return the line with the day a commitment is due behind it, where the line does not name it."""
    rules = _load_day_rules(language)
    folded = fold(text)
    if due is None or rules is None or rules.dated.search(folded) or rules.month_day.search(folded):
        return text
    return text + rules.forms["due"].format(due.replace("T", " "))


def _resolve(when: _When, today: date) -> str:
    if when.unit == "day":
        return (today + timedelta(days=when.offset)).isoformat()
    if when.unit == "weekday":
        return (today - timedelta(days=(today.weekday() - when.offset - 1) % 7 + 1)).isoformat()
    if when.unit == "week":
        return (today + timedelta(days=7 * when.offset - today.weekday())).isoformat()
    months = today.year * 12 + today.month - 1 + (when.offset if when.unit == "month" else 12 * when.offset)
    return f"{months // 12}-{months % 12 + 1:02}" if when.unit == "month" else str(months // 12)


@cache
def _load_day_rules(language: str) -> _DayRules | None:
    table = load_rules("heuristics").get(language)
    if table is None:
        return None
    section = table.section("when")
    words = section.table.get("words")
    rows = words if isinstance(words, list) else []
    return _DayRules(
        whens=tuple(_When(re.compile(str(row[0])), str(row[1]), int(row[2])) for row in rows),
        forms={unit: section.text(unit) for unit in ("due", "day", "week", "month", "year")},
        dated=re.compile(section.text("dated") or r"(?!)"),
        month_day=re.compile(section.text("month_day") or r"(?!)"),
    )
