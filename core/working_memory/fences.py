"""Code fences: which lines of a text lie inside a closed one, and how an open one is made harmless.

Pure. A fence that is never closed is ordinary text and hides nothing. A list marker may stand
before the opening fence, because an item may begin with its code.
"""

import re
from collections.abc import Sequence

_OPEN = re.compile(r"[ \t]*(?:[-*+•·–—]|\d{1,3}[.)])?[ \t]*(`{3,}|~{3,})(.*)")
_CLOSE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*$")
_MARKER = re.compile(r"(?:[-*+•·–—][ \t]|\d{1,3}[.)][ \t])")


def _opening(line: str) -> str:
    """The fence that a line opens, "" for none; back-ticks after back-ticks are inline code."""
    if "```" not in line and "~~~" not in line:
        return ""
    match = _OPEN.match(line)
    if match is None or (match[1][0] == "`" and "`" in match[2]):
        return ""
    return match[1]


def _find_close(lines: Sequence[str], start: int, fence: str) -> int:
    """Index of the line that closes `fence`, looking from `start`; -1 for none."""
    for i in range(start, len(lines)):
        match = _CLOSE.match(lines[i])
        if match and match[1].startswith(fence):
            return i
    return -1


def find_fences(lines: Sequence[str]) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return the closed fences as (first, last) line, and the first line of an open one, -1 for none."""
    closed: list[tuple[int, int]] = []
    unclosed, dead, i = -1, set[str](), 0
    while i < len(lines):
        fence = _opening(lines[i])
        if fence and fence not in dead:
            end = _find_close(lines, i + 1, fence)
            if end >= 0:
                closed.append((i, end))
                i = end
            else:
                dead.add(fence)  # no later line closes it, so later ones like it need no search
                unclosed = i if unclosed < 0 else unclosed
        i += 1
    return tuple(closed), unclosed


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
        fence = _opening(result[first])
        indent = len(result[first]) - len(result[first].lstrip(" \t"))
        if any(_MARKER.match(line) for line in result[first + 1 :]):
            result[first] = result[first].replace(fence, fence[:2], 1)
        else:
            result.append(" " * indent + fence)
    return result
