"""Where Markdown code fences open and close, in one pass however hostile the text.

A line of three or more backticks or tildes opens, the next line with at least as many of the
same sign and nothing else closes. A fence that is never closed is ordinary text.
"""

import re
from collections.abc import Sequence

_OPENER = re.compile(r"\s*(?:(`{3,})[^`]*$|(~{3,}))")


class FenceFinder:
    """Answers, for the lines of one text, where the fence that opens at a line ends."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._unclosed: dict[str, int] = {}  # least length of a fence known to stay open

    def find_end(self, opener: int, column: int = 0) -> int:
        """Return the line after the closing one, or 0 where no fence opens here or none closes.

        `column` is where the text of the opening line begins, after a list marker.
        """
        found = _OPENER.match(self._lines[opener], column)
        if not found:
            return 0
        fence: str = found[1] or found[2]
        sign = fence[0]
        if len(fence) >= self._unclosed.get(sign, len(fence) + 1):
            return 0
        for end in range(opener + 1, len(self._lines)):
            line = self._lines[end].strip()
            if len(line) >= len(fence) and not line.strip(sign):
                return end + 1
        self._unclosed[sign] = len(fence)
        return 0


def split_fences(text: str) -> list[tuple[bool, str]]:
    """Return a text in pieces, each with whether it is a closed fence; joined by LF they are the text."""
    lines = text.split("\n")
    finder = FenceFinder(lines)
    pieces: list[tuple[bool, str]] = []
    start = n = 0
    while n < len(lines):
        if end := finder.find_end(n):
            if start < n:
                pieces.append((False, "\n".join(lines[start:n])))
            pieces.append((True, "\n".join(lines[n:end])))
            start = n = end
        else:
            n += 1
    if start < len(lines):
        pieces.append((False, "\n".join(lines[start:])))
    return pieces


def drop_fences(text: str) -> str:
    """Return a text without its closed fences."""
    if "```" not in text and "~~~" not in text:
        return text
    return "\n".join(piece for fenced, piece in split_fences(text) if not fenced)
