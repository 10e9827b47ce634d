"""The shape of a Markdown file: its lines, which of them are fenced, and its sections. Pure.

Follows CommonMark where it matters for not mistaking a line: fences of three or more marks close
only with at least as many of the same, and a line of = or - under a paragraph is a heading.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_HEADING = re.compile(r" {0,3}(#{1,2})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*")
_PARAGRAPH = re.compile(r" {0,3}(?![-*+•>#|]|\d{1,9}[.)])\S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line without its ending."""

    number: int  # from 1
    text: str
    fenced: bool  # inside a code fence, its marks included
    heading: int  # level 1 or 2 where this line opens a section, else 0
    title: str
    fence_open_after: bool

    @property
    def is_heading(self) -> bool:
        return self.heading > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A level-two section as indices into the file's lines."""

    title: str
    start: int  # first line of the body
    content_end: int  # behind its last line that is not blank; `start` if there is none
    end: int  # behind the body, blank lines included


def split_lines(text: str) -> list[str]:
    """Split at line feeds only, keeping them; other separators are content."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def read_lines(text: str) -> Iterator[Line]:
    """Yield the lines with what they are."""
    raw = [line.rstrip("\n").rstrip("\r") for line in split_lines(text)]
    fence = ""
    for index, line in enumerate(raw):
        bare = line.removeprefix("\ufeff") if index == 0 else line
        was, fence = fence, _next_fence(fence, bare)
        fenced = bool(was or fence)
        level, title = (0, "") if fenced else _heading(bare, raw[index + 1] if index + 1 < len(raw) else "")
        yield Line(
            number=index + 1,
            text=bare,
            fenced=fenced,
            heading=level,
            title=title,
            fence_open_after=bool(fence),
        )


def find_sections(text: str, title: str) -> list[Section]:
    """Return the level-two sections of that title, letter case aside."""
    wanted = _fold(title)
    return [section for section in sections(text) if _fold(section.title) == wanted]


def sections(text: str) -> Iterator[Section]:
    """Yield the level-two sections; a heading of level one or two ends a body, deeper ones belong to it."""
    lines = list(read_lines(text))
    heads = [i for i, line in enumerate(lines) if line.is_heading]
    for head, following in zip(heads, [*heads[1:], len(lines)], strict=False):
        if lines[head].heading != 2:
            continue
        underlined = not lines[head].text.lstrip().startswith("#")
        start = head + (2 if underlined else 1)
        filled = [i for i in range(start, following) if lines[i].text.strip()]
        content_end = filled[-1] + 1 if filled else start
        yield Section(title=lines[head].title, start=start, content_end=content_end, end=following)


def _heading(line: str, following: str) -> tuple[int, str]:
    if match := _HEADING.fullmatch(line):
        return len(match.group(1)), (match.group(2) or "").strip()
    under = _SETEXT.fullmatch(following)
    if under and _PARAGRAPH.match(line):
        return (1 if under.group(1)[0] == "=" else 2), line.strip()
    return 0, ""


def _next_fence(fence: str, line: str) -> str:
    """Return the fence that is open behind the line, "" for none."""
    match = _FENCE.fullmatch(line)
    if match is None:
        return fence
    marks, rest = match.groups()
    if fence:
        closes = marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip()
        return "" if closes else fence
    return "" if marks[0] == "`" and "`" in rest else str(marks)


def _fold(title: str) -> str:
    return " ".join(unicodedata.normalize("NFC", title).casefold().split())
