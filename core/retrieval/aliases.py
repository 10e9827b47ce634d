"""Which known things a text names: by a whole name or alias, one slip of the keyboard allowed; nothing else.

Pure. What has a name (a preference's topic, a facet, somebody's project) is brought up when it is named, and left
alone when the text merely resembles it: on PrecisionMemBench that is worth more than any embedding model.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from core.text.wordlists import fold

Key = TypeVar("Key")

LEAST_FUZZY = 5  # letters the longer of two words must have for a slip to be forgiven
SAME_START = 2  # letters that the slip is never in
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:[.+#'-][^\W_{_CJK}]+)*[+#]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Generic[Key]):
    """Something known and what it is called."""

    key: Key
    names: tuple[str, ...]


def find_named(text: str, known: Iterable[Named[Key]]) -> tuple[Key, ...]:
    """Return the keys of what a text names, in the order of `known`."""
    words = split_name(text)
    return tuple(entry.key for entry in known if any(_holds(words, split_name(name)) for name in entry.names))


def split_name(text: str) -> tuple[str, ...]:
    """Return the words of a name as they are compared: folded, without the plural's s; CJK by the character."""
    return tuple(_singular(word) for word in _WORD.findall(fold(text).replace("_", " ")))


def _holds(words: Sequence[str], name: Sequence[str]) -> bool:
    """Whether the name's words follow each other among the words."""
    if not name:
        return False
    places = range(len(words) - len(name) + 1)
    return any(all(_same(words[at + n], part) for n, part in enumerate(name)) for at in places)


def _singular(word: str) -> str:
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _same(word: str, part: str) -> bool:
    """Whether two words are the same but for one letter more, less or other."""
    if word == part:
        return True
    if max(len(word), len(part)) < LEAST_FUZZY or word[:SAME_START] != part[:SAME_START]:
        return False
    short, long = sorted((word, part), key=len)
    if len(long) - len(short) > 1:
        return False
    at = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return short[at:] == long[at + 1 :] or (len(short) == len(long) and short[at + 1 :] == long[at + 1 :])
