"""Numbers that carry a check: cards, bank accounts, identity numbers. One that fails it is left alone."""

import re
from collections.abc import Iterator
from itertools import pairwise

from core.redaction.spans import Span

_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")
_CHINESE_ID = re.compile(r"(?<![0-9A-Za-z])\d{17}[0-9Xx](?![0-9A-Za-z])")
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643-1999
_ID_CHECKS = "10X98765432"
_LONG_NUMBER = re.compile(r"\d(?:[ -]?[0-9A-Z]){11}")  # the shortest of them: a quick look before the checks
_IBAN_LENGTHS = range(15, 35)


def find_checked_numbers(text: str) -> Iterator[Span]:
    """Yield numbers that pass their check."""
    if not _LONG_NUMBER.search(text):
        return
    for match in _CHINESE_ID.finditer(text):
        if passes_id_check(match[0]):
            yield Span(match.start(), match.end(), "id")
    for match in _IBAN.finditer(text):
        end = _find_iban_end(match[0])
        if end:
            yield Span(match.start(), match.start() + end, "iban")
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if len(set(digits)) > 1 and passes_luhn(digits):
            yield Span(match.start(), match.end(), "card")


def passes_luhn(digits: str) -> bool:
    """The check digit of payment cards (ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def passes_iban_check(account: str) -> bool:
    """The check of an IBAN without blanks (ISO 13616): its number is 1 modulo 97."""
    turned = account[4:] + account[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def passes_id_check(number: str) -> bool:
    """The check character of a Chinese identity number (GB 11643-1999)."""
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], _ID_WEIGHTS, strict=True))
    return _ID_CHECKS[total % 11] == number[17].upper()


def _find_iban_end(text: str) -> int:
    """Where the longest account that passes its check ends; words in capitals may follow it."""
    ends = [i for i, (_, following) in enumerate(pairwise([*text, " "]), start=1) if following == " "]
    for end in reversed(ends):
        account = text[:end].replace(" ", "")
        if len(account) in _IBAN_LENGTHS and passes_iban_check(account):
            return end
    return 0
