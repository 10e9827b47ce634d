"""Marks at the front or end of an item: what closes it, and the tags that code puts there.

Pure. A mark counts only at those places; one that is quoted inside a sentence does not.
"""

import re

from core.text.wordlists import fold, words
from core.working_memory.rules import load_rules

RESTORED = "[restored]"
CARRIED = "[carried]"

_STRUCK = re.compile(r"~~(?=\S).+?(?<=\S)~~\s*[.。!！]?$", re.DOTALL)
_FRONT_TAG = re.compile(r"[\[【(（]\s*([^\[\]【】()（）]{1,20}?)\s*[\]】)）]\s*")
_END_TAG = re.compile(r"[\[【(（]\s*([^\[\]【】()（）]{1,20}?)\s*[\]】)）]\s*[.。]?$")


def _closes(word: str, bracket: str) -> bool:
    """Whether a bracketed word is a mark; in round brackets `(x)` is a letter, not a box."""
    plain = fold(word).strip("*_ ")
    return plain in words("resolution") and (bracket in "[【" or len(plain) > 1)


def front_tags(item: str) -> tuple[str, ...]:
    """Return the bracketed tags at the front of an item, in order, as written."""
    tags, rest = [], item.lstrip("*_ ")
    while match := re.match(r"[\[【][^\[\]【】]{1,20}[\]】]\s*", rest):
        tags.append(match[0].strip())
        rest = rest[match.end() :]
    return tuple(tags)


def is_resolved(item: str) -> bool:
    """Say whether an item carries a resolution mark at its front or its end."""
    text = item.strip()
    if _STRUCK.match(text):
        return True
    signs = load_rules().resolved_signs
    if any(text.startswith(sign) or text.rstrip(" .。\ufe0f").endswith(sign) for sign in signs):
        return True
    rest = text.lstrip("*_ ")
    while match := _FRONT_TAG.match(rest):
        if _closes(match[1], match[0][0]):
            return True
        if match[0][0] not in "[【":
            break
        rest = rest[match.end() :]
    found = _END_TAG.search(text)
    return found is not None and _closes(found[1], found[0][0])


def has_tag(item: str, tag: str) -> bool:
    """Say whether `tag` stands at the front of an item, among other tags or alone."""
    return any(found.casefold() == tag for found in front_tags(item))


def strip_tag(item: str, *tags: str) -> str:
    """Return an item without some tags at its front; other tags stay."""
    text = item.lstrip()
    kept: list[str] = []
    while match := re.match(r"[\[【][^\[\]【】]{1,20}[\]】]\s*", text):
        if match[0].strip().casefold() not in tags:
            kept.append(match[0])
        text = text[match.end() :]
    return "".join(kept) + text


def add_tag(item: str, tag: str) -> str:
    """Return an item with `tag` at its front, once, in the place of tags of its kind."""
    return f"{tag} {strip_tag(item, RESTORED, CARRIED)}"
