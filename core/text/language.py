"""The language a person writes in, judged from their own words only.

Pure. Pasted code, logs, addresses and paths are left out first; then the script decides, and for
Latin script the small words do. No model, no locale.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache

from core.text.fences import drop_fences
from core.text.wordlists import fold, languages, words_of

_CJK_WEIGHT = 3  # one character says as much as a short word
_MIN_CJK = 2
_MIN_LATIN_WORDS = 3

_LOG_LINE = re.compile(
    r"""^\s*(?:
      Traceback\b .* | File\ " .* | Caused\ by: .* | at\ [\w$.<>]+\(.* | \.\.\.\ \d+\ more .*
    | \[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b[\]:\s] .*
    | [\[(]?\d{4}[-/]\d\d?[-/]\d\d?[T\s,]+\d\d?:\d\d .* | [\[(]?\d\d?:\d\d:\d\d .*
    | \w+(?:\.\w+)*(?:Error|Exception):\s .*
    )$""",
    re.VERBOSE | re.MULTILINE,
)
_LEFT_OUT = re.compile(
    r"""`[^`\n]*`
    | [a-zA-Z][a-zA-Z0-9+.-]{1,15}://[^\s<>"'，。；、）】」]+ | \bwww\.[!-~]+
    | (?<![\w.+-])[\w.+-]+@[\w.-]+
    | (?<![\w.~:/\\-])(?:[A-Za-z]:)?[\w.~-]*(?:[/\\][\w.~-]+)+[/\\]?
    | (?<![\w-])[A-Za-z_][\w-]*\.[A-Za-z][A-Za-z0-9]{0,5}\b(?!\s*$)
    """,
    re.VERBOSE | re.ASCII,
)
_ASCII_WORD = re.compile(r"[A-Za-z0-9_$]+")
_CODE_SIGN = re.compile(r"[0-9_$]|[a-z][A-Z]")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_KANA = re.compile(r"[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_ARABIC = re.compile(r"[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")


def detect_language(user_text: str, fallback: str = "en") -> str:
    """Return the BCP 47 tag of the language of a user's words, `fallback` where they do not tell."""
    return guess_language(user_text) or fallback


@lru_cache(maxsize=64)  # several rooms ask about the message at hand
def guess_language(user_text: str) -> str | None:
    """Return the language of a user's words, or None where they do not tell."""
    text = _own_words(user_text)
    if text.isascii():
        return _guess_latin(text) if _LATIN.search(text) else None
    hangul, kana, han = (len(pattern.findall(text)) for pattern in (_HANGUL, _KANA, _HAN))
    weights = {
        "ko": hangul * _CJK_WEIGHT,
        "cjk": (kana + han) * _CJK_WEIGHT,
        "ru": len(_CYRILLIC.findall(text)),
        "ar": len(_ARABIC.findall(text)),
        "latin": len(_LATIN.findall(text)),
    }
    script = max(weights, key=lambda name: weights[name])
    if not weights[script]:
        return None
    if script == "latin":
        return _guess_latin(text)
    if script == "ko":
        return "ko" if hangul >= _MIN_CJK else None
    if script == "cjk":
        if kana + han < _MIN_CJK:
            return None
        return "ja" if kana >= _MIN_CJK else _guess_chinese(text)
    return script


def _own_words(text: str) -> str:
    """Return a text without what was pasted into it: code, logs, addresses, paths."""
    text = _LOG_LINE.sub(" ", drop_fences(text))
    text = _LEFT_OUT.sub(" ", text)
    if not _CODE_SIGN.search(text):
        return text
    return _ASCII_WORD.sub(lambda word: " " if _CODE_SIGN.search(word[0]) else word[0], text)


def _guess_latin(text: str) -> str | None:
    # a word holds no sign that folding would change, so that plain text is folded whole
    words = _WORD.findall(text.lower()) if text.isascii() else list(map(fold, _WORD.findall(text)))
    if len(words) < _MIN_LATIN_WORDS:
        return None
    scores, known = Counter[str](), _small_words()
    for word in words:
        for language in known.get(word, ()):
            scores[language] += 1
    if not text.isascii():
        folded = text.casefold()
        for letter, language in _letters():
            scores[language] += min(2, folded.count(letter))
    ranked = scores.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def guess_by_small_words(folded_words: Iterable[str]) -> str:
    """Return the Latin-script language of a short text by its small words alone; English if in doubt."""
    known = _small_words()
    scores: dict[str, int] = {}
    for word in folded_words:
        for language in known.get(word, ()):
            scores[language] = scores.get(language, 0) + 1
    best = max(scores, key=scores.__getitem__, default="en")
    return "en" if best == "en" or scores[best] <= scores.get("en", 0) else best


def _guess_chinese(text: str) -> str:
    traditional, simplified = _variants()
    counted = Counter(text)
    old = sum(counted[char] for char in traditional)
    return "zh-Hant" if old > sum(counted[char] for char in simplified) else "zh"


@cache
def _small_words() -> dict[str, tuple[str, ...]]:
    """Function word -> the Latin-script languages that use it."""
    found: dict[str, tuple[str, ...]] = {}
    for language in languages():
        for word in words_of(language, "function_words") | words_of(language, "common_words"):
            if _LATIN.match(word):
                found[word] = (*found.get(word, ()), language)
    return found


@cache
def _letters() -> tuple[tuple[str, str], ...]:
    """Letters that only one of the known languages uses often."""
    return tuple((c, tag) for tag in languages() for c in sorted(words_of(tag, "letters")))


@cache
def _variants() -> tuple[frozenset[str], frozenset[str]]:
    """Characters written in only one of the two Chinese scripts: traditional, simplified."""
    old = frozenset("".join(words_of("zh", "traditional")))
    new = frozenset("".join(words_of("zh", "simplified")))
    return old - new, new - old
