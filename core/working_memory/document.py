"""The Working Memory document: seven sections as Markdown, read tolerantly and written canonically.

Pure. `parse_document(render_document(d)) == d` for every document that came from here, and a
canonical text survives `render_document(parse_document(text))` byte for byte. Nothing that a
text holds is lost: unknown sections and text before the first header are kept.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

from core.model import Section
from core.working_memory.fences import close_fences, find_fences, mark_fenced
from core.working_memory.rules import load_rules

HEADING = "# Working Memory"

_BLANKS = " \t\u00a0\u3000"
_HEADER = re.compile(rf" {{0,3}}##(?!#)([{_BLANKS}]?)(.*)", re.DOTALL)
_CLOSING_HASHES = re.compile(rf"(?:^|[{_BLANKS}])[#{_BLANKS}]*$")
_TOP_HEADING = re.compile(r" {0,3}#(?:[ \t].*)?$")
_ANY_HEADING = re.compile(r" {0,3}#{1,6}(?!#)(.*)", re.DOTALL)
_BOLD_HEADING = re.compile(r" {0,3}(?:\*\*|__)(.+?)(?:\*\*|__)\s*:?\s*$")
_NUMBERING = re.compile(r"[(\[]?(?:\d{1,3}|[一二三四五六七八九十]{1,3})[)\].、]\s*")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Extra:
    """A section that the product does not know; `header` without hashes."""

    header: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """All seven bodies (a missing one is ""), then what else the text held, in order."""

    bodies: Mapping[Section, str] = field(default_factory=lambda: dict.fromkeys(Section, ""))
    extra: tuple[Extra, ...] = ()
    preamble: str = ""

    def __post_init__(self) -> None:
        if len(self.bodies) != len(Section):
            complete = {section: self.bodies.get(section, "") for section in Section}
            object.__setattr__(self, "bodies", complete)

    def with_bodies(self, bodies: Mapping[Section, str]) -> "Document":
        """Return this document with some bodies replaced."""
        return replace(self, bodies={**self.bodies, **bodies})


EMPTY = Document()


def normalise_lines(text: str) -> str:
    """Return `text` with LF as its only line end and without halves of characters."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


@lru_cache(maxsize=1024)
def _plain_name(name: str) -> str:
    """A name without what may differ: case, width, emphasis, numbering, a final colon."""
    text = unicodedata.normalize("NFKC", name).casefold()
    text = re.sub(r"[*_`~#]", " ", text).strip()
    text = _NUMBERING.sub("", text, count=1) if _NUMBERING.match(text) else text
    text = text.strip().rstrip(":").replace("&", " and ")
    return " ".join(text.split())


@cache
def _known_names() -> dict[str, Section]:
    """Every plain name and the section it stands for."""
    known = {_plain_name(section.value): section for section in Section}
    for section, words in load_rules().aliases.items():
        known |= {_plain_name(word): section for word in words}
    return known


def find_section(name: str) -> Section | None:
    """Return the section that a name, an alias or a header line stands for."""
    return _known_names().get(_plain_name(name)) if len(name) <= 200 else None


def read_header(line: str) -> tuple[Section | None, str] | None:
    """Return the section and header text that a line opens, None if it is body text."""
    match = _HEADER.match(line)
    if match is None:
        return None
    name = _CLOSING_HASHES.sub("", match[2]).strip()
    if not name:
        return None
    section = find_section(name)
    if section is None and not match[1]:
        return None
    return section, section.value if section else name


def trim_blank_lines(lines: Sequence[str]) -> str:
    """Join lines, the blank ones at both ends left out, the rest exact."""
    first, last = 0, len(lines)
    while first < last and not lines[first].strip():
        first += 1
    while last > first and not lines[last - 1].strip():
        last -= 1
    return "\n".join(lines[first:last])


def parse_document(text: str) -> Document:
    """Read any text; what stands before the first header becomes the preamble."""
    return settle(_assemble(_split(normalise_lines(text))))


def render_document(document: Document) -> str:
    """Return the canonical text: all seven headers, unknown sections after them, one final LF."""
    parts = [HEADING, ""]
    if document.preamble:
        parts += [document.preamble, ""]
    bodies = [(section.value, document.bodies[section]) for section in Section]
    for header, body in bodies + [(extra.header, extra.body) for extra in document.extra]:
        parts += [f"## {header}", body, ""] if body else [f"## {header}", ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def is_working_memory(text: str) -> bool:
    """Say whether `text` holds at least one known header line."""
    return any(section for section, _, _ in _split(normalise_lines(text)))


def settle(document: Document) -> Document:
    """Return the document as it is, or with open fences closed where one would swallow a header."""
    texts = [document.preamble, *document.bodies.values(), *(extra.body for extra in document.extra)]
    if all(find_fences(text.split("\n"))[1] < 0 for text in texts if "```" in text or "~~~" in text):
        return document
    if _assemble(_split(render_document(document))) == document:
        return document
    return Document(
        bodies={section: close_text_fences(body) for section, body in document.bodies.items()},
        extra=tuple(Extra(extra.header, close_text_fences(extra.body)) for extra in document.extra),
        preamble=close_text_fences(document.preamble),
    )


def close_text_fences(text: str) -> str:
    """Return a body in which no fence is left open."""
    return "\n".join(close_fences(text.split("\n")))


def make_safe(text: str, section: Section | None = None) -> str:
    """Return text that may enter a body: it opens no section and leaves no fence open.

    A first line that only repeats the header of `section` is dropped.
    """
    lines = trim_blank_lines(normalise_lines(text).split("\n")).split("\n")
    while section and lines and _repeats_header(lines[0], section):
        lines = trim_blank_lines(lines[1:]).split("\n")
        if lines == [""]:
            return ""
    lines = close_fences(lines)
    for i, fenced in enumerate(mark_fenced(lines)):
        if not fenced and read_header(lines[i]) is not None:
            lines[i] = lines[i].replace("##", "###", 1)
    return "\n".join(lines)


def _repeats_header(line: str, section: Section) -> bool:
    match = _ANY_HEADING.match(line) or _BOLD_HEADING.match(line)
    return match is not None and find_section(match[1]) is section


def _split(text: str) -> list[tuple[Section | None, str, list[str]]]:
    """Cut a text at its headers: (section, header text, lines); the first has no header text."""
    lines = text.split("\n")
    parts: list[tuple[Section | None, str, list[str]]] = [(None, "", [])]
    for line, fenced in zip(lines, mark_fenced(lines), strict=True):
        header = None if fenced or "##" not in line else read_header(line)
        if header is not None:
            parts.append((*header, []))
        elif len(parts) > 1 or fenced or not _TOP_HEADING.match(line):
            parts[-1][2].append(line)
    return parts


def _assemble(parts: Sequence[tuple[Section | None, str, list[str]]]) -> Document:
    """Join what belongs to one section; an identical body counts once."""
    bodies: dict[Section, list[str]] = {section: [] for section in Section}
    extra: list[Extra] = []
    for section, header, lines in parts[1:]:
        body = trim_blank_lines(lines)
        if section is None:
            extra.append(Extra(header, body))
        elif body and body not in bodies[section]:
            bodies[section].append(body)
    return Document(
        bodies={section: "\n".join(found) for section, found in bodies.items()},
        extra=tuple(extra),
        preamble=trim_blank_lines(parts[0][2]),
    )
