"""Dates and times in a text, in one canonical form whatever the language.

Pure: no clock, so a year that is not written stays unknown. The month and day-part names come
from the word lists.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from core.text.wordlists import groups, table


class DateKind(Enum):
    """How much of a date or time a text says."""

    DATE = "date"  # 2026-08-21
    PARTIAL = "partial date"  # 2026-08 or 08-21
    AMBIGUOUS = "ambiguous date"  # 04/09/2026, as written
    TIME = "time"  # 16:00


@dataclass(frozen=True, slots=True)
class Moment:
    """One date or time and where it stands."""

    start: int
    end: int
    kind: DateKind
    canonical: str


_CAPITAL_ONLY = frozenset(["may", "march", "mar", "mai", "mars", "marzo", "sept", "dec", "sun"])
_ISO = re.compile(r"(?<![\w./-])(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?![\d/]|-\d)")
_CHINESE = re.compile(r"(?<!\d)(?:(\d{4})\s*年\s*)?(\d{1,2})\s*月\s*(\d{1,2})\s*[日号號]")
_CHINESE_MONTH = re.compile(r"(?<!\d)(\d{4})\s*年\s*(\d{1,2})\s*月(?!\s*\d)")
_KOREAN = re.compile(r"(?<!\d)(?:(\d{4})\s*년\s*)?(\d{1,2})\s*월\s*(\d{1,2})\s*일")
_DOTTED = re.compile(r"(?<![\w.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?![\d.]\d)")
_SLASHED = re.compile(r"(?<![\w./-])(\d{1,2})([/-])(\d{1,2})\2(\d{4})(?![\d/-])")
_YEAR_MONTH = re.compile(r"(?<![\w./-])((?:19|20)\d{2})-(0[1-9]|1[0-2])(?![\w/-])")
_CLOCK = re.compile(
    r"(?<![\d:.])(\d{1,2}):([0-5]\d)(?::[0-5]\d)?(?![\d:]|\.\d)(?:\s*([ap])\.?\s?m\b\.?|\s*uhr\b)?", re.IGNORECASE
)
_HOUR = re.compile(r"(?<![\d:.,])(\d{1,2})(?:\s*([ap])\.?m\b\.?|\s*uhr\b(?:\s*([0-5]\d)\b)?)", re.IGNORECASE)
_HOUR_LETTER = re.compile(r"\d\s*[aphu]", re.IGNORECASE)  # what follows every hour of the two patterns around
_FRENCH_HOUR = re.compile(r"(?<!\w)(\d{1,2})h([0-5]\d)(?!\w)")
_LETTERS = re.compile(r"[^\W\d_]+")
_CJK_DIGITS = "零一二三四五六七八九十"
_ANY_DIGIT = re.compile(rf"[\d{_CJK_DIGITS}]")
_QUARTERS = {"半": 30, "一刻": 15, "三刻": 45}


def find_moments(text: str) -> tuple[Moment, ...]:
    """Return the dates and times of a text in order; `text` is NFKC, so that digits are ASCII."""
    if not _ANY_DIGIT.search(text):
        return ()
    found: list[Moment] = []
    taken = [False] * len(text)
    for moment in _candidates(text):
        if not any(taken[moment.start : moment.end]):
            taken[moment.start : moment.end] = [True] * (moment.end - moment.start)
            found.append(moment)
    return tuple(sorted(found, key=lambda moment: moment.start))


def matches_date(wanted: Moment | str, kind: DateKind, other: Moment) -> bool:
    """Whether another date says what a wanted one says; a partial one is said by a fuller one."""
    value = wanted if isinstance(wanted, str) else wanted.canonical
    if kind is DateKind.TIME or other.kind is DateKind.TIME:
        return kind is other.kind and value == other.canonical
    if value == other.canonical:
        return True
    ours = readings(value) if kind is DateKind.AMBIGUOUS else (value,)
    theirs = readings(other.canonical) if other.kind is DateKind.AMBIGUOUS else (other.canonical,)
    if kind is DateKind.PARTIAL:
        return any(date.startswith(f"{value}-") if len(value) == 7 else date[5:] == value for date in theirs)
    return bool(set(ours) & set(theirs))


def readings(ambiguous: str) -> tuple[str, ...]:
    """Return both dates that a slash date such as `04/09/2026` may mean."""
    first, second, year = (int(part) for part in re.split(r"[/-]", ambiguous))
    return (f"{year:04}-{first:02}-{second:02}", f"{year:04}-{second:02}-{first:02}")


def _candidates(text: str) -> Iterator[Moment]:
    joined = "-" in text or "/" in text  # what a pattern cannot do without is looked for first: few texts hold it
    if joined:
        for found in _ISO.finditer(text):
            yield from _date(found, found[1], found[3], found[4])
    for sign, pattern in (("月", _CHINESE), ("월", _KOREAN)):
        for found in pattern.finditer(text) if sign in text else ():
            yield from _date(found, found[1], found[2], found[3])
    for found in _CHINESE_MONTH.finditer(text) if "月" in text else ():
        yield from _date(found, found[1], found[2], None)
    yield from _named_months(text)
    for found in _DOTTED.finditer(text) if "." in text else ():
        yield from _date(found, found[3], found[2], found[1])
    if joined:
        yield from _slashed(text)
        for found in _YEAR_MONTH.finditer(text):
            yield from _date(found, found[1], found[2], None)
    yield from _times(text)


def _slashed(text: str) -> Iterator[Moment]:
    for found in _SLASHED.finditer(text):
        first, second = int(found[1]), int(found[3])
        if first > 12 or first == second:
            yield from _date(found, found[4], found[3], found[1])
        elif second > 12:
            yield from _date(found, found[4], found[1], found[3])
        elif first and second:
            yield Moment(found.start(), found.end(), DateKind.AMBIGUOUS, found[0])


def _date(found: re.Match[str], year: str | None, month: str, day: str | None) -> Iterator[Moment]:
    if not 1 <= int(month) <= 12 or not 1 <= int(day or 1) <= 31:
        return
    parts = [f"{int(year):04}"] if year else []
    parts.append(f"{int(month):02}")
    parts += [f"{int(day):02}"] if day else []
    kind = DateKind.DATE if len(parts) == 3 else DateKind.PARTIAL
    yield Moment(found.start(), found.end(), kind, "-".join(parts))


def _named_months(text: str) -> Iterator[Moment]:
    if _month_names().keys().isdisjoint(_LETTERS.findall(text.casefold())):
        return
    day_first, month_first, month_year = _month_patterns()
    for found in day_first.finditer(text):
        yield from _date(found, found[3], _month_number(found[2]), found[1])
    for found in month_first.finditer(text):
        if found[1].casefold() not in _CAPITAL_ONLY or found[1][0].isupper():
            yield from _date(found, found[3], _month_number(found[1]), found[2])
    for found in month_year.finditer(text):
        yield from _date(found, found[2], _month_number(found[1]), None)


def _times(text: str) -> Iterator[Moment]:
    if not text.isascii():  # day parts and signs of hours are Chinese, Japanese or Korean
        yield from _day_part_times(text)
    for found in _CLOCK.finditer(text) if ":" in text else ():
        yield from _time(found, int(found[1]), int(found[2]), found[3])
    if not _HOUR_LETTER.search(text):
        return
    for found in _HOUR.finditer(text):
        yield from _time(found, int(found[1]), int(found[3] or 0), found[2])
    for found in _FRENCH_HOUR.finditer(text):
        yield from _time(found, int(found[1]), int(found[2]), None)


def _time(found: re.Match[str], hour: int, minute: int, half: str | None) -> Iterator[Moment]:
    if half:
        if not 1 <= hour <= 12:
            return
        hour = hour % 12 + (12 if half in "pP" else 0)
    if hour <= 23 or (hour == 24 and not minute):
        yield Moment(found.start(), found.end(), DateKind.TIME, f"{hour % 24:02}:{minute:02}")


def _day_part_times(text: str) -> Iterator[Moment]:
    for found in _cjk_time().finditer(text):
        part = found["part"]
        if not part and (found["clock"] or (found["sign"] in "点點" and not found["tail"])):
            continue  # 3点 may be three points; 16:00 is read elsewhere
        hour = _cjk_number(found["hour"])
        if part and hour <= 24:
            hour = _shift(hour, int(table("day_parts")[part]), late="晚" in part)
        yield from _time(found, hour, _cjk_minutes(found), None)


def _shift(hour: int, from_hour: int, *, late: bool) -> int:
    """Return the hour of the day that an hour after a day part names."""
    if from_hour == 12:
        if hour == 12 and late:
            return 0
        return hour + 12 if hour < 12 else hour
    if from_hour == 11:  # noon: one o'clock is thirteen, eleven stays
        return hour + 12 if hour < 6 else hour
    return 0 if hour == 12 else hour


def _cjk_minutes(found: re.Match[str]) -> int:
    if found["clock"]:
        return int(found["clock"])
    if found["quarter"]:
        return _QUARTERS[found["quarter"]]
    return _cjk_number(found["minute"]) if found["minute"] else 0


def _cjk_number(text: str) -> int:
    """Read 0 to 99 in digits or as 十二, 二十, 三十五."""
    if text.isdigit():
        return int(text)
    if text in {"两", "兩"}:
        return 2
    tens, ten, units = text.rpartition("十")
    if not ten:
        return _CJK_DIGITS.index(text[-1])
    return (_CJK_DIGITS.index(tens) if tens else 1) * 10 + (_CJK_DIGITS.index(units) if units else 0)


@cache
def _month_names() -> dict[str, int]:
    rows = [row for row in groups("months") if len(row) == 12]
    return {name: n for row in rows for n, names in enumerate(row, start=1) for name in names}


def _month_number(name: str) -> str:
    return str(_month_names().get(name.casefold(), 0))  # 0: "Aprıl" matches "april" and is another word


@cache
def _month_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    months = "|".join(sorted(map(re.escape, _month_names()), key=len, reverse=True))
    day = r"(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?"
    day_first = rf"(?<![\w.,:/]){day}\s*(?:of\s+|de\s+)?({months})\b\.?(?:,?\s*(?:de\s+|del\s+)?(\d{{4}})\b)?"
    month_first = rf"\b({months})\b\.?\s*(\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d|%)(?:,?\s+(\d{{4}})\b)?"
    month_year = rf"\b({months})\b\.?,?\s+(?:de\s+)?((?:19|20)\d{{2}})\b"
    return (
        re.compile(day_first, re.IGNORECASE),
        re.compile(month_first, re.IGNORECASE),
        re.compile(month_year, re.IGNORECASE),
    )


@cache
def _cjk_time() -> re.Pattern[str]:
    parts = "|".join(sorted(map(re.escape, table("day_parts")), key=len, reverse=True))
    number = rf"\d{{1,2}}|[{_CJK_DIGITS}]{{1,3}}|[两兩]"
    return re.compile(
        rf"(?<![\d.])(?P<part>{parts})?\s*(?P<hour>{number})\s*"
        r"(?:[:](?P<clock>[0-5]\d)|(?P<sign>[点點時时]|시)(?![间間간候])"
        rf"\s*(?P<tail>钟|鐘|整|(?P<quarter>半|[一三]刻)|(?P<minute>{number})\s*[分분])?)"
    )
