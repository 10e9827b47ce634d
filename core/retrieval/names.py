"""Names in a question: words find by them, meaning does better without those that are everywhere.

Pure. Who is spoken to or about is named in every other message, so a name draws a question's vector to all of them
alike (LoCoMo, R@10 by meaning alone: 24 with the speakers' names in the question, 65 without).
"""

import re
from collections.abc import Callable, Mapping, Sequence

COMMON_SHARE = 0.01  # of the messages: from here on a name tells none of them apart

_NAME = re.compile(r"(?<![\w'’-])[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω]\w*(?:['’]s)?(?![\w-])")
_SENTENCE_END = ".!?…\n"


def find_names(text: str) -> tuple[str, ...]:
    """Return the capitalised words of a text that open no sentence, folded, without 's."""
    return tuple(dict.fromkeys(_fold(found.group()) for found in _names(text)))


def drop_common_names(text: str, rows: int, count: Callable[[Sequence[str]], Mapping[str, int]]) -> str:
    """Return a text without the names that more than a hundredth of `rows` messages hold; never an empty one."""
    names = find_names(text)
    if not names or not rows:
        return text
    counts = count(names)
    common = {name for name in names if counts.get(name, 0) >= COMMON_SHARE * rows}
    kept, at = [], 0
    for found in _names(text):
        if _fold(found.group()) in common:
            kept.append(text[at : found.start()])
            at = found.end()
    rest = " ".join("".join((*kept, text[at:])).split())
    return rest if re.search(r"\w", rest) else text


def _names(text: str) -> list[re.Match[str]]:
    return [found for found in _NAME.finditer(text) if not _opens_sentence(text, found.start())]


def _opens_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \t\"'“‘(")
    return not before or before[-1] in _SENTENCE_END


def _fold(name: str) -> str:
    return name.removesuffix("'s").removesuffix("’s").casefold()
