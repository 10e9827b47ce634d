"""Items of a section's body: reading bullets of any style, and writing them in one.

Pure text in, text out. A list marker, a wrapped line and a code fence are understood in Latin
and CJK habits; what is content (`#4521`, `-5 °C`, `3.5 km`) stays content.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from core.text.fences import FenceFinder
from core.text.tokens import is_cjk

SENTINEL_START = "[⚠ CONSOLIDATION REQUIRED"

_MARKER = re.compile(
    r"""(?:
      [-*+–—](?=\s|$)
    | [•·●○◦▪▫‣⁃・►]
    | [0-9]{1,3}[.)](?=\s|$)
    | [0-9０-９]{1,3}[、．）](?!\s*[0-9０-９])
    | [(（][0-9０-９]{1,2}[)）]
    | [①-⑳]
    | [一二三四五六七八九十]、
    )\s*""",
    re.VERBOSE,
)
_HEADING = re.compile(r"\s*#+(?:\s|$)")
_REMEMBERED_LENGTH = 32_000  # characters; a body, not a pasted page
_RULE = re.compile(r"\s*([-*_=—─])(?:\s*\1){2,}\s*$")
_ITALIC = re.compile(r"\s*(?:\*(?![\s*])[^*]+(?<!\s)\*|_(?![\s_])(?:[^_]|_(?=\w))+(?<!\s)_)\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyItem:
    """One item and where it stands: lines `first_line` up to, not including, `end_line`."""

    text: str
    parent: str | None  # text of the item above a nested one
    depth: int
    first_line: int
    end_line: int

    @property
    def alone(self) -> str:
        """The text as it is written when the item leaves its parent."""
        if self.parent is None:
            return self.text
        return f"{self.parent.rstrip(':： ')}: {self.text}"


def is_sentinel(text: str) -> bool:
    """Whether an item is the request to consolidate, by its beginning."""
    return text.replace("\ufe0f", "").lstrip().startswith(SENTINEL_START)


def strip_marker(line: str) -> str:
    """Return a line without its outer blanks and one list marker."""
    line = line.strip()
    found = _MARKER.match(line)
    return line[found.end() :] if found else line


def extract_items(body: str) -> tuple[str, ...]:
    """Return the texts of a body's items in reading order, without markers."""
    return tuple(item.text for item in read_items(body))


def read_items(body: str) -> tuple[BodyItem, ...]:
    """Return a body's items with their places; nested ones follow their parents."""
    return _remembered_items(body) if len(body) <= _REMEMBERED_LENGTH else _read_items(body)


@lru_cache(maxsize=64)  # a merge reads each body some twenty times
def _remembered_items(body: str) -> tuple[BodyItem, ...]:
    return _read_items(body)


def _read_items(body: str) -> tuple[BodyItem, ...]:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(_nest(_Reader(lines, describes=True).read()))


def split_entry(text: str) -> tuple[str, ...]:
    """Return the items that one entry of a list holds: markers go, everything else is content."""
    if "\n" not in text and "\r" not in text:
        line = _HEADING.sub("", text) if _HEADING.match(text) else text
        plain = strip_marker(line)
        return () if not plain.strip() or is_sentinel(plain) or _RULE.match(line) or _RULE.match(plain) else (plain,)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [_HEADING.sub("", line) if _HEADING.match(line) else line for line in lines]
    return tuple(item.text for item, _ in _Reader(lines, describes=False).read())


def render_item(text: str) -> str:
    """Return an item as a bullet; further lines are indented by two blanks."""
    first, *rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join([f"- {first}", *(f"  {line}" if line.strip() else "" for line in rest)])


def render_items(items: tuple[str, ...] | list[str]) -> str:
    """Return a body of bullets."""
    return "\n".join(map(render_item, items))


class _Reader:
    """One pass over the lines of a body; yields items with the column where each starts."""

    def __init__(self, lines: list[str], *, describes: bool) -> None:
        self._lines = lines
        self._describes = describes  # a wholly italic first line is a template's description
        self._parts: list[str] = []  # pieces of the item being read, joins included
        self._first = self._end = self._column = 0
        self._open = False  # may the next indented line continue the item?
        self._fenced = False
        self._fences = FenceFinder(lines)

    def read(self) -> Iterator[tuple[BodyItem, int]]:
        """Yield the items in order."""
        n, first = 0, True
        while n < len(self._lines):
            line = self._lines[n]
            if not line.strip():
                self._open = False
                n += 1
                continue
            text_start = _marker_end(line)
            describes = first and self._describes and not text_start and _ITALIC.match(line)
            first = False
            if describes or _HEADING.match(line) or _RULE.match(line):
                yield from self._flush()
                n += 1
                continue
            column = len(line) - len(line.lstrip())
            end = self._fences.find_end(n, text_start or column)
            if text_start or not self._parts or not (end or (self._open and column)):
                yield from self._flush()
                self._first, self._column = n, column
            if end:
                self._add_fence(n, end, text_start or column)
            else:
                self._add_line(line[text_start:].strip())
            n = self._end = end or n + 1
        yield from self._flush()

    def _flush(self) -> Iterator[tuple[BodyItem, int]]:
        text, self._parts = "".join(self._parts), []
        self._open = self._fenced = False
        if text.strip() and not is_sentinel(text) and not _RULE.match(text):
            item = BodyItem(text=text, parent=None, depth=0, first_line=self._first, end_line=self._end)
            yield item, self._column

    def _add_line(self, content: str) -> None:
        last = self._parts[-1] if self._parts else ""
        if self._fenced:
            self._parts.append("\n")
        elif last and content and not (is_cjk(last[-1]) and is_cjk(content[0])):
            self._parts.append(" ")
        if content:
            self._parts.append(content)
        self._parts = self._parts or [""]  # a bare marker: its text may follow indented
        self._open = True

    def _add_fence(self, n: int, end: int, indent: int) -> None:
        opener, *inner = self._lines[n:end]
        fence = "\n".join([opener[indent:].strip(), *(_dedent(line, indent) for line in inner)])
        self._parts += ["\n", fence] if any(self._parts) else [fence]
        self._open = self._fenced = True


def _marker_end(line: str) -> int:
    """Return where the text after a marker begins, or 0 without marker."""
    blanks = len(line) - len(line.lstrip())
    found = _MARKER.match(line, blanks)
    return found.end() if found else 0


def _dedent(line: str, indent: int) -> str:
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[min(indent, blanks) :].rstrip()


def _nest(items: Iterator[tuple[BodyItem, int]]) -> Iterator[BodyItem]:
    above: list[tuple[int, str]] = []
    for item, column in items:
        while above and above[-1][0] >= column:
            above.pop()
        parent = above[-1][1] if above else None
        if parent is None:
            yield item
        else:
            yield replace(item, parent=parent, depth=len(above))
        above.append((column, item.text))
