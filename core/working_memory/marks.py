"""The tags that code puts at the front of an item.

Pure. A tag counts only there; one that is quoted inside a sentence does not. What closes an item
is known to core.text.keys.
"""

import re

RESTORED = "[restored]"
CARRIED = "[carried]"


def front_tags(item: str) -> tuple[str, ...]:
    """Return the bracketed tags at the front of an item, in order, as written."""
    tags, rest = [], item.lstrip("*_ ")
    while match := re.match(r"[\[【][^\[\]【】]{1,20}[\]】]\s*", rest):
        tags.append(match[0].strip())
        rest = rest[match.end() :]
    return tuple(tags)


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
