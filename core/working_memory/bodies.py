"""Editing a section's body by its items; every other line stays as it is.

Pure. Relies on core.text.items for where an item stands.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache

from core.text.items import (
    BodyItem,
    extract_items,
    is_sentinel,
    read_items,
    render_item,
    render_items,
    strip_marker,
)
from core.text.tokens import estimate_tokens
from core.working_memory.document import make_safe, normalise_lines, trim_blank_lines
from core.working_memory.fences import close_fences, mark_fenced


@lru_cache(maxsize=64)
def read_body(body: str) -> tuple[BodyItem, ...]:
    """Return a body's items with their places; one merge asks for those of a body many times."""
    return read_items(body)


@lru_cache(maxsize=64)
def item_texts(body: str) -> tuple[str, ...]:
    """Return the texts of a body's items."""
    return tuple(item.text for item in read_body(body))


def is_marked(line: str) -> bool:
    """Say whether a line starts with a list marker."""
    return strip_marker(line) != line.strip()


def split_items(text: str) -> tuple[str, ...]:
    """Return what one entry of a list holds: one item, or several where each line is a bullet."""
    lines = [line for line in normalise_lines(text).split("\n") if line.strip()]
    if len(lines) > 1 and all(is_marked(line) for line in lines):
        return extract_items("\n".join(lines))
    item = clean_item(text)
    return extract_items(render_item(item)) if item else ()


def clean_item(text: str) -> str:
    """Return an item's text as it may enter a body: markers and heading hashes go, fences stay."""
    lines = trim_blank_lines(normalise_lines(text).split("\n")).split("\n")
    lines = close_fences([strip_marker(lines[0]), *lines[1:]])
    kept: list[str] = []
    for line, fenced in zip(lines, mark_fenced(lines), strict=True):
        plain = line if fenced else _plain_line(line)
        if plain.strip():
            kept.append(plain)
    return "\n".join(kept).strip()


def _plain_line(line: str) -> str:
    """A line without marker and without the hashes of a heading."""
    text = strip_marker(line)
    hashes = len(text) - len(text.lstrip("#"))
    if hashes and (text[hashes:][:1].isspace() or not text[hashes:] or hashes == 2):
        text = text[hashes:].strip()
    return text


def add_items(body: str, items: Sequence[str]) -> str:
    """Return `body` with bullets under it."""
    bullets = render_items(list(items))
    return f"{body}\n{bullets}" if body and bullets else body or bullets


def remove_items(body: str, items: Collection[BodyItem]) -> str:
    """Return `body` without the lines of some of its items."""
    gone = {n for item in items for n in range(item.first_line, item.end_line)}
    return trim_blank_lines([line for n, line in enumerate(body.split("\n")) if n not in gone])


def replace_item(body: str, item: BodyItem, text: str) -> str:
    """Return `body` with the text of one of its items changed, its indentation kept."""
    lines = body.split("\n")
    first = lines[item.first_line]
    indent = first[: len(first) - len(first.lstrip())]
    bullet = [indent + line if line else line for line in render_item(text).split("\n")]
    return "\n".join([*lines[: item.first_line], *bullet, *lines[item.end_line :]])


def insert_item(body: str, above: BodyItem | None, text: str) -> str:
    """Return `body` with a bullet after one of its items, or as its first line."""
    lines = body.split("\n") if body else []
    at = above.end_line if above else 0
    return "\n".join([*lines[:at], render_item(text), *lines[at:]])


def strip_sentinel(body: str) -> str:
    """Return `body` without the request to consolidate."""
    if not has_sentinel(body):
        return body
    return trim_blank_lines([line for line in body.split("\n") if not is_sentinel(strip_marker(line))])


def has_sentinel(body: str) -> bool:
    """Say whether the request to consolidate stands in a body."""
    return "CONSOLIDATION REQUIRED" in body and any(is_sentinel(strip_marker(x)) for x in body.split("\n"))


def count_items(body: str) -> int:
    """Return how many items a body holds; the sentinel is none."""
    return len(read_body(body))


def count_tokens(body: str) -> int:
    """Return the estimated cost of a body in tokens, the sentinel left out."""
    return estimate_tokens(strip_sentinel(body))


def safe_body(body: str) -> str:
    """Return a composed body in a form that opens no section and no fence."""
    return make_safe(body) if "##" in body or "```" in body or "~~~" in body else body
