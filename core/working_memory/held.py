"""Memory as edits of single lines work on it: bodies, and for each of their items the line it is.

Pure. A body keeps every byte that an edit does not touch; the lines beside it are matched to its items
by their texts, so that origin, evidence and lock stay with the words they belong to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.errors import MemoryEditError
from core.model import LineState, MemoryLine, Origin, ParkedLine, Section
from core.redaction import redact
from core.text.items import BodyItem, extract_items, render_item, render_items
from core.text.keys import item_key
from core.working_memory.bodies import add_items, insert_item, read_body, remove_items, safe_body, split_items
from core.working_memory.document import EMPTY, Document, make_safe, settle
from core.working_memory.marks import CARRIED, RESTORED, strip_tag

Lines = Mapping[Section, tuple[MemoryLine, ...]]
Parked = Mapping[Section, tuple[ParkedLine, ...]]
MAX_LINE_CHARS = 4_000  # longer text is a document, not a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What a version holds: the document, its lines (none removed, none pending) and what waits beside it."""

    document: Document = EMPTY
    lines: Lines = field(default_factory=dict)
    parked: Parked = field(default_factory=dict)

    def lines_of(self, section: Section) -> tuple[MemoryLine, ...]:
        """Return a section's lines in reading order, one for each item of its body."""
        return self.lines.get(section, ())

    def parked_of(self, section: Section) -> tuple[ParkedLine, ...]:
        """Return what waits for a section."""
        return self.parked.get(section, ())


def hold(document: Document, lines: Lines, parked: Parked) -> Held:
    """Return a version as edits work on it; `lines` may hold removed and pending ones, which are left out."""
    plain = Held(
        document=document,
        lines={section: tuple(_standing(lines.get(section, ()))) for section in Section},
        parked={section: tuple(parked.get(section, ())) for section in Section},
    )
    return replace(plain, lines={section: _label(plain, section, plain.lines_of(section)) for section in Section})


def find_line(lines: Sequence[MemoryLine], text: str) -> int | None:
    """Return where a line stands: by its very text, else by what it says; None if it is not there."""
    for i, line in enumerate(lines):
        if line.text == text:
            return i
    key = item_key(text)
    return next((i for i, line in enumerate(lines) if key and item_key(line.text) == key), None)


def read_typed(text: str, section: Section) -> tuple[str, ...]:
    """Return the lines that a typed or pasted text stands for, safe to enter a body and without secrets.

    Raises `MemoryEditError` if there is nothing in it to remember.
    """
    if len(text) > MAX_LINE_CHARS:
        raise MemoryEditError(f"A line of memory holds at most {MAX_LINE_CHARS:,} characters; this text is longer.")
    if section is Section.TITLE:
        text = " ".join(text.split())
    found = [strip_tag(item, RESTORED, CARRIED).strip() for item in split_items(redact(text))]
    lines = tuple(line for item in found if (line := _settled_line(item)))
    if not lines:
        raise MemoryEditError("There are no words in it that could be remembered.")
    return lines[:1] if section is Section.TITLE else lines


def place_after(lines: Sequence[MemoryLine], after: str | None) -> int:
    """The place that follows a line; the end if it is not there."""
    if after == "":
        return 0
    found = find_line(lines, after) if after is not None else None
    return len(lines) if found is None else found + 1


def items_of(held: Held, section: Section) -> tuple[BodyItem, ...]:
    """Return the items of a section, in the order of its lines."""
    return read_body(held.document.bodies[section])


def with_body(held: Held, section: Section, body: str, known: Sequence[MemoryLine]) -> Held:
    """Put a body in place; its lines are those `known`, matched by their texts."""
    body = safe_body(body)
    if [_shown(item) for item in read_body(body)] != [line.text for line in known]:
        # a line changed its meaning with its neighbours (a block of code joins the line above it)
        body = safe_body(render_items([line.text for line in known]))
    document = settle(held.document.with_bodies({section: body}))
    after = replace(held, document=document)
    return replace(after, lines={**held.lines, section: _label(after, section, known)})


def with_parked(held: Held, section: Section, waiting: Sequence[ParkedLine]) -> Held:
    """Put what waits for a section in place."""
    return replace(held, parked={**held.parked, section: tuple(waiting)})


def insert_line(held: Held, section: Section, after: str | None, text: str) -> str:
    """Return a body with a new line after another, in the form its section has."""
    body, items = held.document.bodies[section], items_of(held, section)
    if section is Section.TITLE:
        return _plain_or_bullet(text)
    at = place_after(held.lines_of(section), after)
    if at == len(items):
        return add_items(body, [text])
    return insert_item(body, items[at - 1] if at else None, text)


def rewrite_line(body: str, item: BodyItem, text: str, section: Section) -> str:
    """`body` with the text of one item changed; a line without marker stays one where it can."""
    lines = body.split("\n")
    first = lines[item.first_line]
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    had_marker = first.strip() != item.text.split("\n")[0].strip()
    written = render_item(text) if had_marker and section is not Section.TITLE else _plain_or_bullet(text)
    new = [indent + line if line else line for line in written.split("\n")]
    return "\n".join([*lines[: item.first_line], *new, *lines[item.end_line :]])


def take_out(body: str, items: Sequence[BodyItem], at: int) -> str:
    """`body` without one item; what was nested under it moves out by one level instead of under another."""
    gone, lines = items[at], body.split("\n")
    children = []
    for item in items[at + 1 :]:
        if item.depth <= gone.depth:
            break
        children.append(item)
    if children:
        column = len(lines[gone.first_line]) - len(lines[gone.first_line].lstrip())
        inner = len(lines[children[0].first_line]) - len(lines[children[0].first_line].lstrip())
        for n in range(children[0].first_line, children[-1].end_line):
            blanks = len(lines[n]) - len(lines[n].lstrip())
            lines[n] = lines[n][min(blanks, inner - column) :]
    return remove_items("\n".join(lines), [gone])


def _label(held: Held, section: Section, known: Sequence[MemoryLine]) -> tuple[MemoryLine, ...]:
    """Return one line for each item of a body: what is known of it, the user's own where nothing is."""
    items = items_of(held, section)
    by_text: dict[str, list[MemoryLine]] = {}
    for line in known:
        by_text.setdefault(line.text, []).append(line)
    found = [by_text[text].pop(0) if by_text.get(text := _shown(item)) else None for item in items]
    by_key: dict[str, list[MemoryLine]] = {}
    for line in (line for rest in by_text.values() for line in rest):
        by_key.setdefault(item_key(line.text), []).append(line)
    return tuple(line or _like(by_key, _shown(item)) for item, line in zip(items, found, strict=True))


def _like(by_key: Mapping[str, list[MemoryLine]], text: str) -> MemoryLine:
    """The line that says `text` in other dress, else a new one of the user's."""
    same = by_key.get(item_key(text))
    return replace(same.pop(0), text=text) if same else MemoryLine(text=text, origin=Origin.USER, state=LineState.KEPT)


def _shown(item: BodyItem) -> str:
    return strip_tag(item.text, RESTORED, CARRIED)


def _standing(lines: Iterable[MemoryLine]) -> Iterable[MemoryLine]:
    return (line for line in lines if line.state not in (LineState.REMOVED, LineState.PENDING))


def _plain_or_bullet(text: str) -> str:
    return text if extract_items(text) == (text,) else render_item(text)


def _settled_line(text: str) -> str:
    """The text in a form that reads back as the one line it is; "" where there is none."""
    for form in (text, " ".join(text.split())):
        if form and extract_items(safe_body(render_item(form))) == (form,) and make_safe(form):
            return form
    return ""
