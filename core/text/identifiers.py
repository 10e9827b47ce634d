"""Identifiers and names in a text: what must survive a rewording letter by letter.

Pure. A capital at the start of a sentence makes no name; function words and decision words are
never names. `text` is what dates, numbers and paths have left over: their places are blank.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from core.text.language import guess_by_small_words
from core.text.paths import is_domain_ending
from core.text.wordlists import fold, words, words_of

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_PHONE = re.compile(r"(?<![\w+])\+\d[\d ()-]{6,18}\d(?!\w)")
_VERSION = re.compile(r"(?<![\w.])[vV]?(\d+(?:\.\d+){2,}(?:-[A-Za-z0-9.]*[A-Za-z0-9])?)(?![\w]|\.\d)")
_TICKET = re.compile(r"(?<![\w#&/])#(\d+)\b")
_SETTING = re.compile(r"(?<![\w.-])[A-Za-z_][\w.-]{0,60}=[^\s,;，；。、)）\]】\"'`]+")
_TOKEN = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_](?:[A-Za-z0-9_]|[.:+@/~-](?=[A-Za-z0-9_]))*\+{0,2}", re.ASCII)
_HAS_BOTH = re.compile(r"(?=.*[A-Za-z])(?=.*\d)")
_SNAKE = re.compile(r"[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+$")
_KEBAB = re.compile(r"[a-z]+(?:-[a-z]+)+$")
_TICKET_ID = re.compile(r"[A-Za-z]+-\d+$")
_CAMEL = re.compile(r"[a-z]+[A-Z]|[A-Z][a-z]+[A-Z]")
_ACRONYM = re.compile(r"[A-Z]{2,8}s?$|[A-Z](?:\.[A-Z])+$")
_SIGNED = re.compile(r"\b[A-Z]{1,3}(?:#|\+\+)(?!\w)|\b[A-Z]{1,4}&[A-Z]{1,4}\b")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)$")
_LETTERS = re.compile(r"[^\W\d_]+")
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_CAPITALISED = re.compile(rf"(?<![^\W{_CJK}])[^\W\d_{_CJK}](?:[^\W{_CJK}]|['-]|\.(?=[^\W{_CJK}]))*")
_FRONT = re.compile(r"\s*(?:(?:[-*+•–—·●]|\d{1,3}[.)])\s*)?(?:\[[^\]\n]{0,20}\]\s*)*[\s\"'“„«(*_>]*$")
_OPENERS = " \t\"'“„«([*_>"
_CLOSERS = "\"'”’»)]"
_MAX_FRONT = 80  # characters of a line's front, with marker and tags
_PRONOUNS = frozenset(["i", "we", "you", "they", "he", "she", "it"])
_MIN_SHOUT = 4  # words without a small letter are shouting, not acronyms


def find_identifiers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield identifiers of one word, mail addresses and versions: start, end, canonical form.

    A place may be yielded twice; the first one counts.
    """
    for sign, pattern in (("@", _EMAIL), ("=", _SETTING), (".", _VERSION)):  # few texts hold any of the signs
        for found in pattern.finditer(text) if sign in text else ():
            yield found.start(), found.end(), (found[1] if pattern is _VERSION else found[0]).casefold()
    for found in _PHONE.finditer(text) if "+" in text else ():
        yield found.start(), found.end(), "+" + re.sub(r"\D", "", found[0])
    for found in _TICKET.finditer(text) if "#" in text else ():
        yield found.start(), found.end(), found[0]
    for found in _SIGNED.finditer(text) if "#" in text or "+" in text or "&" in text else ():
        yield found.start(), found.end(), found[0].casefold()
    shouting = is_shouting(text)
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token.endswith("+") and len(token.rstrip("+")) > 2:
            token = token.rstrip("+")
        if is_identifier(token, shouting=shouting):
            yield found.start(), found.start() + len(token), token.casefold()


def is_identifier(token: str, *, shouting: bool = False) -> bool:
    """Whether one word is an identifier by its form."""
    if token.isdigit() or _ORDINAL.match(token):
        return False
    if _HAS_BOTH.match(token):
        return (
            not re.fullmatch(r"[\d.,:/-]+[A-Za-z]?[\d.,:/-]*", token) or not token[0].isdigit() or token[-1].isalpha()
        )
    if _KEBAB.match(token):
        return not _is_compound(token)
    if _SNAKE.match(token):
        return True
    if _CAMEL.match(token) and not token.startswith(("Mc", "Mac", "O'")):
        return True
    if not shouting and _ACRONYM.match(token):
        return not _is_ordinary(token, ordinary_words("en"))
    pieces = token.split(".")
    return len(pieces) > 1 and all(pieces) and len(pieces[0]) > 1 and is_domain_ending(pieces[-1])


def _is_compound(token: str) -> bool:
    """Whether a hyphened word is everyday language (`well-known`), not the name of a thing."""
    first, *_, last = token.split("-")
    if first in words("compound_starts") or last in words("compound_ends"):
        return True
    return len(last) > 4 and last.endswith(("ed", "ing"))


def is_shouting(text: str) -> bool:
    """Whether a text is written in capitals, so that capitals mean nothing in it."""
    return len(text.split()) >= _MIN_SHOUT and not any(map(str.islower, text)) and any(map(str.isupper, text))


def find_names(text: str, context: str = "") -> Iterator[tuple[int, int, str]]:
    """Yield names: capitalised words inside a sentence, runs as one; start, end, lower case.

    `context` is a longer text in which the words of `text` may be capitalised elsewhere.
    """
    if is_shouting(text):
        return
    small = ordinary_words(guess_by_small_words(_LETTERS.findall(fold(text))))
    inside = _capitals_inside(context, small) | _capitals_inside(text, small)
    run: list[tuple[int, int, str]] = []
    for start, end, word in _capitals(text):
        name = _singular(word)
        at_start = _starts_sentence(text, start)
        if _is_ordinary(word, small) or (at_start and name not in inside and not _is_whole_item(text, start, end)):
            yield from _joined(run)
            run = []
            continue
        if run and not (text[run[-1][1] : start].strip(" \t") == "" and run[-1][1] < start):
            yield from _joined(run)
            run = []
        run.append((start, end, name))
    yield from _joined(run)


def _capitals(text: str) -> Iterator[tuple[int, int, str]]:
    for found in _CAPITALISED.finditer(text):
        word = found[0]
        if not word[0].isupper():
            continue
        for ending in ("'s", "'"):
            if word.endswith(ending):
                word = word[: -len(ending)]
        word = word.rstrip("-")
        if len(word) > 1:
            yield found.start(), found.start() + len(word), word


@lru_cache(maxsize=256)  # a whole body is the context of each of its items
def _capitals_inside(text: str, small: frozenset[str]) -> frozenset[str]:
    return frozenset(
        _singular(word)
        for start, _, word in _capitals(text)
        if not _is_ordinary(word, small) and not _starts_sentence(text, start)
    )


def _starts_sentence(text: str, start: int) -> bool:
    line_start = text.rfind("\n", max(0, start - _MAX_FRONT), start) + 1
    near_front = line_start > 0 or start <= _MAX_FRONT
    if near_front and _FRONT.match(text[line_start:start]):
        return True
    before = text[max(0, start - _MAX_FRONT) : start].rstrip(_OPENERS)
    closed = before.rstrip(_CLOSERS)
    if not closed or closed[-1] not in ".!?。！？…":
        return False
    if closed[-1] != "." or len(closed) < len(before):
        return True
    word = closed[:-1].rpartition(" ")[2].lstrip("(")
    return fold(word) not in words("abbreviations") and not (len(word) == 1 and word.isupper())


def _is_whole_item(text: str, start: int, end: int) -> bool:
    """Whether a word has a line to itself, marker and stop aside."""
    front_start = text.rfind("\n", max(0, start - _MAX_FRONT), start) + 1
    rest_end = text.find("\n", end)
    rest = text[end : rest_end if rest_end >= 0 else len(text)][:_MAX_FRONT]
    return not rest.strip(" .*_\t") and _FRONT.match(text[front_start:start]) is not None


def _joined(run: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    if run:
        yield run[0][0], run[-1][1], " ".join(name for _, _, name in run)


def _singular(word: str) -> str:
    lower = word.casefold()
    return lower[:-1] if lower.endswith("s") and lower[:-1] in words("weekdays") else lower


def _is_ordinary(word: str, small: frozenset[str]) -> bool:
    """Whether a word is no name however it is written."""
    lower = fold(word).rstrip(".")
    return lower in small or lower.endswith("n't") or lower.partition("'")[0] in _PRONOUNS


@cache
def ordinary_words(language: str) -> frozenset[str]:
    """Words that are no names in a text of a language; English ones are none anywhere."""
    small = (words_of(tag, kind) for tag in {"en", language} for kind in ("function_words", "common_words"))
    rules = (words(kind) for kind in ("not_names", "decision", "negation", "obligation"))
    return frozenset().union(*small, *rules) - words("weekdays")
