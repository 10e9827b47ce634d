"""Whether what a model wrote about some turns was said in them: numbers, names, quotations, addresses.

Pure but for `resources/rules/recap.<language>.toml` (archivist.md section 10). Comparing folds case and
accents; the pieces that fail are returned as the text writes them.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from core.archivist.words import load_rules, strip_accents
from core.text.sentences import split_sentences
from core.text.wordlists import fold

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_HAS_CJK = re.compile(f"[{_CJK}]")
_LATIN = r"A-Za-z\u00c0-\u024f"
_QUOTED = re.compile(
    '"([^"\n]{1,400})"|“([^”\n]{1,400})”|«([^»\n]{1,400})»|„([^“”\n]{1,400})[“”]'
    "|「([^」\n]{1,400})」|『([^』\n]{1,400})』|《([^》\n]{1,400})》"
)
_ADDRESS = re.compile(
    rf"(?:https?|ftp)://[^\s<>\"”」』》）{_CJK}]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|(?<![\w.@/])(?:[a-z0-9-]+\.)+[a-z]{{2,}}(?:/[^\s<>\"”」』》）{_CJK}]*)?(?![\w@])",
    re.IGNORECASE | re.ASCII,
)
_TRAILING = ".,;:!?)]}'’。，；：！？、）】」』》"
_TIMES = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000, "千": 1_000}
_NUMBER = re.compile(rf"(?<![{_LATIN}_\d])\d+(?:[.,'’ \u00a0\u202f]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:([,.'’ \u00a0\u202f])\d{3})(?:\1\d{3})*")
_DECIMAL = re.compile(r"(\d[\d,'’ \u00a0\u202f]*)\.(\d+)|(\d[\d.'’ \u00a0\u202f]*),(\d{1,2})")
_WORD = re.compile(rf"[^\W_{_CJK}]+(?:[-'._+#&][^\W_{_CJK}]+)*[+#]*")
_COUNTED = re.compile(rf"(\d+)([{_LATIN}%°]+)")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_HIDDEN = "\x00"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecapCheck:
    """The verdict on a text as it came, and what may be used of it."""

    accepted: bool
    unsupported: tuple[str, ...]
    usable: str  # the text, or its supported sentences if they are at least half of all; else ""


@dataclass(frozen=True, slots=True)
class _Source:
    """What was said, ready for many look-ups."""

    text: str  # folded
    numbers: frozenset[str]
    words: frozenset[str]


def check_recap(source: str, recap: str) -> RecapCheck:
    """Compare a recap with the text it sums up, sentence by sentence."""
    said = _read_source(source)
    kept: list[str] = []
    missing: list[str] = []
    sentences = split_sentences(recap)
    for sentence in sentences:
        found = list(_find_unsupported(sentence, said))
        missing += found
        if not found:
            kept.append(sentence)
    if not missing:
        return RecapCheck(accepted=True, unsupported=(), usable=recap.strip())
    usable = _join(kept) if 2 * len(kept) >= len(sentences) else ""
    return RecapCheck(accepted=False, unsupported=tuple(dict.fromkeys(missing)), usable=usable)


def _find_unsupported(sentence: str, said: _Source) -> Iterator[str]:
    text = unicodedata.normalize("NFKC", sentence)
    for pattern, read in ((_QUOTED, _read_quoted), (_ADDRESS, _read_address)):
        for match in pattern.finditer(text):
            piece = read(match)
            if piece and not _holds(said.text, piece):
                yield piece
        text = pattern.sub(lambda m: _HIDDEN * len(m[0]), text)
    yield from _find_words(text, said)
    for match in _NUMBER.finditer(text):
        if not _is_part_of_word(text, match) and not _supports_number(match[0], text[match.end() :][:1], said):
            yield match[0]


def _read_quoted(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None).strip().strip(".,;:!?。，；：！？").strip()


def _read_address(match: re.Match[str]) -> str:
    return match[0].rstrip(_TRAILING)


def _find_words(text: str, said: _Source) -> Iterator[str]:
    """Yield names and other words with a shape of their own that nobody said."""
    cjk = _HAS_CJK.search(text) is not None
    first = next((m.start() for m in _WORD.finditer(text)), -1)
    for match in _WORD.finditer(text):
        word = match[0].removesuffix("'s").removesuffix("’s")
        key = _key(word)
        if word.isdigit() or _NUMBER.fullmatch(word) or _ORDINAL.fullmatch(word) or key in _known("speakers"):
            continue
        shaped = any(c.isupper() for c in word[1:]) or any(c.isdigit() for c in word)
        named = word[0].isupper() and match.start() != first and key not in _known("capitals")
        if (shaped or named or (cjk and word[0].isalpha())) and not _was_said(word, key, said):
            yield word


def _was_said(word: str, key: str, said: _Source) -> bool:
    if key in said.words or _holds(said.text, word):
        return True
    if counted := _COUNTED.fullmatch(key):  # "5kg" of "5 kg"
        return re.search(rf"(?<![\d.]){counted[1]}\s*-?{re.escape(counted[2])}(?![{_LATIN}])", said.text) is not None
    parts = re.split(r"[-'._&]", key)
    return len(parts) > 1 and not any(map(str.isdigit, key)) and all(part in said.words for part in parts if part)


def _is_part_of_word(text: str, match: re.Match[str]) -> bool:
    """Whether a number begins a word that is checked as such ("5kg", "3D")."""
    following = text[match.end() :][:1]
    return following.isascii() and following.isalpha() and not _ORDINAL.match(text, match.start())


def _supports_number(number: str, following: str, said: _Source) -> bool:
    readings = _read_number(number, following)
    if readings & said.numbers:
        return True
    return len(readings) != 1 and all(_read_number(part, "") & said.numbers for part in re.findall(r"\d+", number))


def _read_number(number: str, following: str) -> frozenset[str]:
    """Return what a number may mean, as plain decimals; () where it is no one number (a version, a list)."""
    readings: set[Decimal] = set()
    plain = re.sub(r"['’ \u00a0\u202f]", "", number)
    if thousands := _THOUSANDS.fullmatch(number):
        readings.add(Decimal(re.sub(r"\D", "", number)))
        if thousands[1] == "." and number.count(".") == 1:
            readings.add(Decimal(number))
    elif decimal := _DECIMAL.fullmatch(number):
        whole, part = (decimal[1], decimal[2]) if decimal[1] else (decimal[3], decimal[4])
        readings.add(Decimal(f"{re.sub(r'[^0-9]', '', whole)}.{part}"))
    elif plain.isdigit() and plain == number:
        readings.add(Decimal(number))
    factor = _TIMES.get(following, 1)
    return frozenset(_plain(each * times) for each in readings for times in {1, factor})


def _plain(value: Decimal) -> str:
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _read_source(source: str) -> _Source:
    text = unicodedata.normalize("NFKC", source)
    numbers: set[str] = set()
    for match in _NUMBER.finditer(text):
        readings = _read_number(match[0], text[match.end() :][:1])
        numbers |= readings
        if not readings or " " in match[0]:  # a list, a date with dots, a version: each part was said too
            numbers |= {_plain(Decimal(part)) for part in re.findall(r"\d+", match[0])}
    folded = _key(text)
    words = frozenset(_key(word.removesuffix("'s")) for word in _WORD.findall(folded))
    words |= {part for word in words for part in re.split(r"[-'._&]", word)}
    for word, digits in _number_words():
        if word in folded if _HAS_CJK.search(word) else word in words:
            numbers.add(digits)
    return _Source(text=folded, numbers=frozenset(numbers), words=words)


def _holds(text: str, piece: str) -> bool:
    """Whether a folded text holds a piece as it stands, not inside a longer word or number."""
    key = _key(piece)
    start = text.find(key)
    while key and start >= 0:
        before, after = text[start - 1 : start], text[start + len(key) : start + len(key) + 1]
        if not (_glues(before, key[0]) or _glues(after, key[-1])):
            return True
        start = text.find(key, start + 1)
    return False


def _glues(neighbour: str, edge: str) -> bool:
    return bool(neighbour) and neighbour.isalnum() and edge.isalnum() and not _HAS_CJK.search(neighbour + edge)


def _key(text: str) -> str:
    return strip_accents(fold(text))


def _join(sentences: list[str]) -> str:
    """Put sentences together again; Chinese and Japanese need no blank between."""
    joined = ""
    for sentence in sentences:
        gap = "" if not joined or (_HAS_CJK.search(joined[-2:]) and _HAS_CJK.search(sentence[:2])) else " "
        joined += gap + sentence
    return joined


@cache
def _known(key: str) -> frozenset[str]:
    listed = (rules.get(key, []) for _, rules in load_rules("recap"))
    return frozenset(_key(str(word)) for words in listed if isinstance(words, list) for word in words)


@cache
def _number_words() -> tuple[tuple[str, str], ...]:
    listed = (rules.get("numbers", []) for _, rules in load_rules("recap"))
    return tuple(
        (_key(str(word)), str(digits)) for pairs in listed if isinstance(pairs, list) for word, digits in pairs
    )
