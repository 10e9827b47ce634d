"""How many tokens a text costs, without a tokenizer: the same number on every machine.

Thresholds and commits are decided with this estimate; what is sent to a model is counted with
that model's own tokenizer. Costs are kept in quarters of a token, so that sums stay exact.
"""

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from itertools import accumulate

_QUARTERS = 4  # one token
_CJK_QUARTERS = 6
_ASTRAL_QUARTERS = 8
_LETTER_QUARTERS = 2
_MARK = "\n…\n"  # stands for what was cut out
_MARK_QUARTERS = 3

_CJK_RANGES = (
    (0x1100, 0x11FF),
    (0x2E80, 0x2FDF),
    (0x3000, 0x33FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97F),
    (0xAC00, 0xD7FF),
    (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF),
    (0x20000, 0x323AF),
)
# Latin letters and marks of no script beyond U+0370: they cost what accented Latin costs.
_LATIN_RANGES = (
    (0x1AB0, 0x1AFF),
    (0x1D00, 0x1EFF),
    (0x2000, 0x2BFF),
    (0x2C60, 0x2C7F),
    (0xA720, 0xA7FF),
    (0xAB30, 0xAB6F),
    (0xFB00, 0xFB06),
    (0xFE00, 0xFE2F),
)

# Blocks of 256 code points, by high byte, in which every character costs the same.
_UNIFORM_BLOCKS = (
    (0x00, 0x02, 1),
    (0x04, 0x04, _LETTER_QUARTERS),
    (0x11, 0x11, _CJK_QUARTERS),
    (0x20, 0x2B, 1),
    (0x30, 0x4C, _CJK_QUARTERS),
    (0x4E, 0x9F, _CJK_QUARTERS),
    (0xAC, 0xD7, _CJK_QUARTERS),
    (0xF9, 0xFA, _CJK_QUARTERS),
)


def is_cjk(char: str) -> bool:
    """Whether one character is Chinese, Japanese or Korean, their punctuation included."""
    return _quarters(char) == _CJK_QUARTERS


@lru_cache(maxsize=65_536)
def _quarters(char: str) -> int:
    """Cost of one character in quarters of a token."""
    code = ord(char)
    if 0x400 <= code < 0x500:
        return _LETTER_QUARTERS  # Cyrillic; its one sign for thousands is not worth a slow path
    if code < 0x370:
        return 1
    if any(low <= code <= high for low, high in _CJK_RANGES):
        return _CJK_QUARTERS
    if code > 0xFFFF:
        return _ASTRAL_QUARTERS
    if any(low <= code <= high for low, high in _LATIN_RANGES):
        return 1
    return _LETTER_QUARTERS if unicodedata.category(char)[0] in "LM" else 1


@cache
def _blocks() -> tuple[bytes, re.Pattern[str]]:
    """Cost of a character by the high byte of its UTF-16 unit (0: it varies), and the varying ones."""
    table = bytearray(256)
    for first, last, cost in _UNIFORM_BLOCKS:
        table[first : last + 1] = bytes([cost]) * (last + 1 - first)
    varying = "".join(f"{chr(b << 8)}-{chr((b << 8) + 255)}" for b in range(256) if not table[b])
    return bytes(table), re.compile(f"[{varying}\U00010000-\U0010ffff]+")


def _count_quarters(text: str) -> int:
    """Cost of a text; whole blocks are counted as bytes, which is ten times as fast as by character."""
    if text.isascii():
        return len(text)
    table, varying = _blocks()
    costs = text.encode("utf-16-le", "surrogatepass")[1::2].translate(table)
    total = sum(cost * costs.count(cost) for cost in (1, _LETTER_QUARTERS, _CJK_QUARTERS))
    if 0 in costs:
        rest = Counter("".join(varying.findall(text)))
        total += sum(_quarters(char) * times for char, times in rest.items())
    return total


def estimate_tokens(text: str | None) -> int:
    """Return the estimated cost of `text` in tokens, rounded up once; 0 for nothing."""
    return -(-_count_quarters(text) // _QUARTERS) if text else 0


def truncate_tokens(text: str, max_tokens: int) -> str:
    """Return `text`, cut in its middle where it costs more than `max_tokens`.

    Three quarters of the budget go to the head, one to the tail.
    """
    if max_tokens <= 0:
        return ""
    budget = max_tokens * _QUARTERS
    if _count_quarters(text) <= budget:
        return text
    if budget <= _QUARTERS:  # the mark would leave no room for the text it marks
        return text[: _fitting(text[:budget], budget)]
    room = budget - _MARK_QUARTERS
    head_room = room * 3 // 4
    head = text[: _fitting(text[:head_room], head_room)]
    tail_room = room - head_room
    reversed_tail = text[: -tail_room - 1 : -1]
    tail_length = _fitting(reversed_tail, tail_room)
    return head + _MARK + (text[-tail_length:] if tail_length else "")


def _fitting(text: str, quarters: int) -> int:
    """Number of leading characters of `text` that cost at most `quarters`."""
    if text.isascii():
        return min(len(text), max(0, quarters))
    return sum(cost <= quarters for cost in accumulate(map(_quarters, text)))
