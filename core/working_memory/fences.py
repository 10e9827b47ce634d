"""Code fences in a body: which lines lie inside a closed one, and how an open one is made harmless.

Pure. A fence that is never closed is ordinary text and hides nothing. A list marker may stand
before the opening fence, because an item may begin with its code.
"""

import re
from collections.abc import Sequence

from core.text.fences import FenceFinder
from core.text.items import strip_marker

_SIGNS = re.compile(r"`{3,}|~{3,}")


def find_fences(lines: Sequence[str]) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return the closed fences as (first, last) line, and the first line of an open one, -1 for none."""
    finder = FenceFinder(lines)
    closed: list[tuple[int, int]] = []
    unclosed, i = -1, 0
    while i < len(lines):
        column = _text_column(lines[i]) if "```" in lines[i] or "~~~" in lines[i] else -1
        end = finder.find_end(i, column) if column >= 0 else 0
        if end:
            closed.append((i, end - 1))
        elif column >= 0 and unclosed < 0 and _opens(lines[i], column):
            unclosed = i
        i = end or i + 1
    return tuple(closed), unclosed


def _text_column(line: str) -> int:
    """Where a line's text begins after a list marker, 0 without marker."""
    text = strip_marker(line)
    return len(line.rstrip()) - len(text) if text != line.strip() else 0


def _opens(line: str, column: int) -> bool:
    """Whether a line would open a fence if another closed it."""
    found = _SIGNS.match(line[column:].lstrip())
    return FenceFinder([line, found[0]]).find_end(0, column) > 0 if found else False


def mark_fenced(lines: Sequence[str]) -> list[bool]:
    """Say for each line whether it belongs to a closed fence, its two ends included."""
    inside = [False] * len(lines)
    for first, last in find_fences(lines)[0]:
        inside[first : last + 1] = [True] * (last + 1 - first)
    return inside


def close_fences(lines: Sequence[str]) -> list[str]:
    """Return the lines with no fence left open: closed at the end, or blunted before a list.

    A fence that a list follows was opened by mistake; closing it after the list would turn all
    items into one.
    """
    result = list(lines)
    while (first := find_fences(result)[1]) >= 0:
        fence = _SIGNS.findall(result[first])[0]
        indent = len(result[first]) - len(result[first].lstrip(" \t"))
        if any(_is_bullet(line) for line in result[first + 1 :]):
            result[first] = result[first].replace(fence, fence[:2], 1)
        else:
            result.append(" " * indent + fence)
    return result


def _is_bullet(line: str) -> bool:
    """Whether a line at the left edge starts with a list marker."""
    return not line[:1].isspace() and strip_marker(line) != line.strip()
