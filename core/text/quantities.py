"""Numbers in a text with what they count: `$1,450`, `18000 元`, `6 天`, `35 万`, `20%`.

Pure; `text` is NFKC, so that digits are ASCII. Units come from the word lists; two words for one
unit (`天`, `days`) give one name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from core.text.wordlists import table

_CURRENCY = {"$": "usd", "€": "eur", "£": "gbp", "¥": "cny", "₩": "krw", "₽": "rub", "₹": "inr", "฿": "thb"}
_CODES = "USD|EUR|GBP|CNY|RMB|JPY|CHF|HKD|INR|KRW|RUB|BRL|CAD|AUD"
_CODE_UNITS = {"rmb": "cny"}
_TIMES = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000, "만": 10_000, "억": 100_000_000}
_THOUSANDS = {"k": 1_000, "K": 1_000, "m": 1_000_000, "M": 1_000_000}
_CURRENCY_AFTER = re.compile(r"\s?([$€£¥₩₽₹฿])(?!\d)")
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(
    rf"(?:(?P<sign>[$€£¥₩₽₹฿])\s?|\b(?P<code>{_CODES})\s?)?"
    r"(?P<minus>(?<![\w.)%°\]-])(?<!\d\s)[-−])?"
    r"(?<![A-Za-z0-9_])(?P<digits>\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?(?!\d)|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)"
    r"|\d+(?:\.\d+)?(?:(?<!,\d)(?<!,\d\d),\d{1,2}(?![\d,]))?(?!\.\d))"
    r"(?:\s?(?P<times>[万萬亿億만억])|(?P<thousand>[kKmM])(?![A-Za-z0-9]))?"
    r"(?P<ordinal>(?:st|nd|rd|th)\b)?"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number and where it stands, unit included."""

    start: int
    end: int
    value: str  # plain decimal without trailing zeros
    unit: str  # canonical name, or ""

    @property
    def canonical(self) -> str:
        if self.unit == "%":
            return f"{self.value}%"
        return f"{self.value} {self.unit}" if self.unit else self.value


def find_quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers of a text in order."""
    if not _DIGIT.search(text):
        return
    for found in _NUMBER.finditer(text):
        sign, code, minus, digits, times_sign, thousand, ordinal = found.groups()
        end = found.end("ordinal") if ordinal else found.end("times") if times_sign else found.end("digits")
        unit = _CURRENCY.get(sign, "") if sign else ""
        if code:
            code = code.casefold()
            unit = _CODE_UNITS.get(code, code)
        times = _TIMES[times_sign] if times_sign else 1
        if thousand and unit:
            times, end = _THOUSANDS[thousand], found.end("thousand")
        if not ordinal:
            named, unit_end = _unit_after(text, end)
            if named and (not unit or unit == named or sign in {"$", "¥"}):
                unit, end = (named, unit_end)
        if end < len(text) and text[end].isascii() and (text[end].isalnum() or text[end] == "_"):
            continue  # letters and digits in one word are an identifier
        yield Quantity(found.start(), end, _plain(digits, times, minus), unit)


def _unit_after(text: str, end: int) -> tuple[str, int]:
    """Return the unit right after a number, and where it ends."""
    if end == len(text):
        return "", end
    sign = _CURRENCY_AFTER.match(text, end)
    if sign:
        return _CURRENCY[sign[1]], sign.end()
    found = _unit_pattern().match(text, end)
    unit = table("units").get(found[1].casefold()) if found else None  # "Mİ" matches "mi" and is another word
    return (unit, found.end()) if found and unit else ("", end)


def _plain(digits: str, times: int, minus: str | None) -> str:
    """Return a number without separators, as a plain decimal."""
    if times == 1 and digits.isdecimal():
        return ("-" if minus else "") + (digits.lstrip("0") or "0")
    digits = digits.replace("'", "").replace("’", "")
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d{1,2}", digits):
        digits = digits.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        digits = digits.replace(",", "")
    else:
        digits = digits.replace(",", ".", 1) if "." not in digits else digits.replace(",", "")
    whole, _, fraction = digits.partition(".")
    zeros = len(str(times)) - 1
    if zeros:
        fraction = fraction.ljust(zeros, "0")
        whole, fraction = whole + fraction[:zeros], fraction[zeros:]
    value = whole.lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    return ("-" if minus else "") + (f"{value}.{fraction}" if fraction else value)


@cache
def _unit_pattern() -> re.Pattern[str]:
    units = sorted(table("units"), key=len, reverse=True)
    latin = "|".join(re.escape(unit) for unit in units if unit[0] < "\u3000")
    others = "|".join(re.escape(unit) for unit in units if unit[0] >= "\u3000")
    return re.compile(rf"[ \u00a0-]?((?:{latin})(?![^\W\u3000-\uffff])|(?:{others}))", re.IGNORECASE)
