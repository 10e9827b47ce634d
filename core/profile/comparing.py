"""When two values of the profile are the same: case, accents, blanks, stops and adverbs do not count.

Pure. `+` and `#` at a word do count (C, C++ and C# differ). What is compared here is never shown.
"""

import re
import unicodedata
from functools import lru_cache

_CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+[+#]*")
_IS_CJK = re.compile(rf"[{_CJK}]")
_MIN_STEM = 3  # letters that a word keeps


@lru_cache(maxsize=4_096)
def strip_accents(text: str) -> str:
    """Return `text` lower-cased, full-width forms narrowed, without the accents of Latin letters."""
    kept: list[str] = []
    base_is_latin = False
    for char in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold()):
        if unicodedata.combining(char):
            if base_is_latin:
                continue
        else:
            base_is_latin = char < "\u0370"
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def split_words(text: str) -> list[str]:
    """Return the words of a text for comparison; a run of Chinese is one word."""
    return _TOKEN.findall(strip_accents(text))


def is_cjk(word: str) -> bool:
    """Whether a word is written in a script without blanks."""
    return _IS_CJK.match(word) is not None


def stem(word: str) -> str:
    """Return a Latin word without plural and -ing endings, roughly: for comparing only."""
    if is_cjk(word) or not word.isalpha() or len(word) <= _MIN_STEM:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("es") and word[-3] in "sxzho" and len(word) > 4:
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word.endswith("ing") and len(word) - 3 >= _MIN_STEM:
        word = word[:-3]
        if len(word) > _MIN_STEM and word[-1] == word[-2] and word[-1] not in "aeiouls":
            word = word[:-1]
    return word[:-1] if len(word) > _MIN_STEM and word.endswith("e") else word
