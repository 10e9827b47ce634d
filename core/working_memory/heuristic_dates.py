"""Dates beside words that lose their meaning: "yesterday" becomes "yesterday (2023-05-07)".

Relies on the `[when]` tables of `resources/rules/heuristics.*`.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache

from core.text.clauses import fold
from core.text.rules import load_rules

_MONTH_DAY = re.compile(
    r"\b\d{1,2}(?:st|nd|rd|th)?\s+(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\s+\d{1,2}\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"\b(?:19|20)\d\d\b|\d{1,2}月\d{1,2}[日号]|\b\d{1,2}/\d{1,2}\b")


@dataclass(frozen=True, slots=True)
class _When:
    pattern: re.Pattern[str]
    unit: str
    offset: int


def local_time(at: float, utc_offset_s: float) -> datetime | None:
    """Return the user's wall clock at a moment; None where the moment is unknown."""
    if at <= 0:
        return None
    zone = timezone(timedelta(seconds=max(-86_340.0, min(86_340.0, utc_offset_s))))
    return datetime.fromtimestamp(at, UTC).astimezone(zone)


def add_date(text: str, said_at: datetime | None, language: str) -> str:
    """Return the line with the date that its "yesterday" or "next month" means behind it."""
    whens, forms = _load_whens(language)
    if said_at is None or _DATED.search(text):
        return text
    folded = fold(text)
    for when in whens:
        if when.pattern.search(folded):
            stamp = forms[when.unit.removeprefix("week") if when.unit == "weekday" else when.unit].format(
                _resolve(when, said_at.date())
            )
            return f"{text}{'' if language == 'zh' else ' '}{stamp}"
    return text


def add_due(text: str, due: str | None, language: str) -> str:
    """Return the line with the day a commitment is due behind it."""
    forms = _load_whens(language)[1]
    if due is None or _DATED.search(text) or _MONTH_DAY.search(text) or not forms:
        return text
    return f"{text}{'' if language == 'zh' else ' '}{forms['due'].format(due.replace('T', ' '))}"


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
def _load_whens(language: str) -> tuple[tuple[_When, ...], dict[str, str]]:
    table = load_rules("heuristics").get(language)
    if table is None:
        return (), {}
    section = table.section("when")
    words = section.table.get("words")
    rows = words if isinstance(words, list) else []
    whens = tuple(_When(re.compile(str(row[0])), str(row[1]), int(row[2])) for row in rows)
    return whens, {unit: section.text(unit) for unit in ("due", "day", "week", "month", "year")}
