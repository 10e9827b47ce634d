"""What may be written into MEMORY.md and SKILL.md, and what the file reads like afterwards.

Pure: text in, text out. Text is the file decoded as UTF-8 with nothing translated: byte order
mark, line endings and a missing final newline are the user's and stay.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.memory_files.outline import Line, find_sections, read_lines, split_lines

Redact = Callable[[str], str]

TOOL_FILES = ("MEMORY.md", "SKILL.md")
BUDGET_CHARACTERS = 8_000
EXCERPT_CHARACTERS = 2_000
EXCERPT_NOTE = "(Older entries were left out.)"
_BOM = "\ufeff"
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_BETWEEN_DIGITS = re.compile(r"(?<=\d)[^\w+#%]+(?=\d)")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_CONTINUATION = re.compile(r"[ \t]+(?![-*+•][ \t]|\d{1,3}[.)][ \t])\S")


class Outcome(StrEnum):
    """What became of a write. The values are part of the tool's answer."""

    WRITTEN = "written"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    OVER_BUDGET = "over_budget"


class Action(StrEnum):
    """What the tool may do to a file."""

    APPEND = "append"
    REPLACE_SECTION = "replace_section"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A proposed text; the old one unless the outcome is WRITTEN. `reason` is a word, not for the user."""

    text: str
    outcome: Outcome
    reason: str = ""
    lines: tuple[int, ...] = ()  # numbers, from 1, of the lines that were put in
    moved: tuple[str, ...] = ()  # entries that made room and go to the history folder


def guard(file: str, action: str, content: str, section_title: str | None = None) -> str | None:
    """Return why a request to the tool is refused, or None; the first reason in a fixed order."""
    if file not in TOOL_FILES:
        return "file_not_allowed"
    if action not in tuple(Action):
        return "unknown_action"
    if action == Action.REPLACE_SECTION and not (section_title or "").strip():
        return "missing_section_title"
    if section_title is not None and len(section_title.strip().splitlines()) > 1:
        return "title_not_one_line"
    if action == Action.APPEND and _is_blank(content):
        return "empty_content"
    if _has_control_characters(content) or _has_control_characters((section_title or "").strip()):
        return "control_characters"
    return None


def append(
    existing: str | None,
    content: str,
    section: str | None = None,
    budget: int | None = None,
    *,
    redact: Redact = str,
) -> Edit:
    """Add lines at the end or at a section's end; lines that are already in the file are left out."""
    old = existing or ""
    reason = guard(TOOL_FILES[0], Action.APPEND, content, section) or _refuse_content(content)
    if reason:
        return Edit(text=old, outcome=Outcome.REFUSED, reason=reason)
    known = {entry_key(line.text) for line in read_lines(old) if not line.is_heading and not line.fenced}
    fresh = _leave_out_known(redact(_normalise(content)), known)
    if not fresh:
        return Edit(text=old, outcome=Outcome.DUPLICATE)
    title = redact(_clean_title(section or ""))
    if not title:
        return _finish(old, _insert(old, len(split_lines(old)), fresh), fresh, budget)
    matches = find_sections(old, title)
    if len(matches) > 1:
        return Edit(text=old, outcome=Outcome.REFUSED, reason="ambiguous_section")
    if not matches:
        return _finish(old, _add_section(old, title, fresh), fresh, budget)
    return _finish(old, _insert(old, matches[0].content_end, fresh), fresh, budget)


def replace_section(
    existing: str | None,
    section_title: str,
    content: str,
    protected: Collection[str] = (),
    budget: int | None = None,
    *,
    redact: Redact = str,
) -> Edit:
    """Replace a section's body; the user's own lines (`protected`) stay first. Blank content empties it."""
    old = existing or ""
    reason = guard(TOOL_FILES[0], Action.REPLACE_SECTION, content, section_title) or _refuse_content(content)
    if reason:
        return Edit(text=old, outcome=Outcome.REFUSED, reason=reason)
    title = redact(_clean_title(section_title))
    new = redact(_normalise(content))
    fresh = new.split("\n") if new else []
    matches = find_sections(old, title)
    if len(matches) > 1:
        return Edit(text=old, outcome=Outcome.REFUSED, reason="ambiguous_section")
    if not matches:
        return _finish(old, _add_section(old, title, fresh), fresh, budget)
    lines, section = split_lines(old), matches[0]
    users = {line.rstrip() for line in protected}
    kept = [bare for line in lines[section.start : section.content_end] if (bare := line.rstrip()) in users and bare]
    kept_keys = {entry_key(line) for line in kept} - {""}
    fresh = [line for line in fresh if entry_key(line) not in kept_keys]
    emptied = "".join([*lines[: section.start], *lines[section.content_end :]])
    text = _insert(emptied, section.start, [*kept, *fresh])
    if not old.endswith("\n") and section.content_end == len(lines):
        text = text.removesuffix("\n").removesuffix("\r")
    return _finish(old, text, fresh, budget)


def make_room(
    text: str, machine_lines: Collection[str], excess: int, confirmed: Collection[str] = ()
) -> tuple[str, tuple[str, ...]]:
    """Take the oldest machine-written entries out until `excess` characters are free; return text and entries.

    Those that were confirmed go last. The user's lines, headings and fenced text stay; fewer characters are freed when
    that is all there is.
    """
    raw = split_lines(text)
    candidates = [
        line.number - 1
        for line in read_lines(text)
        if line.text.rstrip() in machine_lines and _BULLET.match(line.text) is not None and not line.fenced
    ]
    candidates.sort(key=lambda i: (raw[i].rstrip() in confirmed, i))
    removed: set[int] = set()
    for i in candidates:
        if excess <= 0:
            break
        removed.add(i)
        excess -= len(raw[i])
    kept = "".join(line for i, line in enumerate(raw) if i not in removed)
    return kept, tuple(raw[i].rstrip() for i in sorted(removed))


def excerpt(text: str, budget: int = EXCERPT_CHARACTERS) -> str:
    """Return what of a file goes into a prompt: all of it, or each section's newest lines in turn."""
    if len(text) <= budget:
        return text
    groups: list[list[Line]] = [[]]
    for line in read_lines(text.removeprefix(_BOM)):
        if line.is_heading:
            groups.append([])
        if line.text.strip():
            groups[-1].append(line)
    left = budget - len(EXCERPT_NOTE) - 1
    chosen: set[int] = set()
    waiting = [(_head(group), list(_body(group))) for group in groups]
    while any(body for _, body in waiting):
        for head, body in waiting:
            left = _take_newest(head, body, chosen, left)
    lines = [line.text.rstrip() for group in groups for line in group if line.number in chosen]
    note = [EXCERPT_NOTE] if len(EXCERPT_NOTE) < budget else []
    return "".join(f"{line}\n" for line in [*lines, *note])


def entry_key(line: str) -> str:
    """Return what makes two entries the same: bullet, case, accents, spaces and punctuation do not count;
    digits, + # % and other symbols, and every word (negations too) do."""
    folded = unicodedata.normalize("NFKC", _BULLET.sub("", line, count=1)).casefold()
    plain = "".join(c for c in unicodedata.normalize("NFD", folded) if not "\u0300" <= c <= "\u036f")
    # 1.5 is not 15 and 2026-03 not 2026 03 12: between digits one separator stays.
    plain = _BETWEEN_DIGITS.sub(lambda match: match.group().strip()[:1] or " ", unicodedata.normalize("NFC", plain))
    return "".join(c for i, c in enumerate(plain) if _counts(c, plain, i))


def machine_lines(changes: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Return the lines the program's own writes put in, from (before, after) pairs."""
    lines: set[str] = set()
    for before, after in changes:
        old = {line.rstrip() for line in before.split("\n")}
        lines.update(bare for line in after.split("\n") if (bare := line.rstrip()) and bare not in old)
    return frozenset(lines)


def _counts(c: str, text: str, index: int) -> bool:
    kind = unicodedata.category(c)
    if kind[0] in "LNM" or c in "+#%" or (kind[0] == "S" and kind != "Sk"):
        return True
    between = 0 < index < len(text) - 1 and text[index - 1].isdigit() and text[index + 1].isdigit()
    minus = c == "-" and text[index + 1 : index + 2].isdigit() and not text[index - 1 : index].strip()
    return between or minus


def _is_blank(text: str) -> bool:
    return all(c.isspace() or unicodedata.category(c) == "Cf" for c in text)


def _has_control_characters(text: str) -> bool:
    return any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t" for c in text.replace("\r\n", "\n"))


def _normalise(content: str) -> str:
    """Line feeds only, no blank lines around."""
    lines = content.replace("\r\n", "\n").replace(_BOM, "").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(line.rstrip() for line in lines)


def _clean_title(title: str) -> str:
    return re.sub(r"^#+\s+|\s+#+$", "", " ".join(title.split())).strip()


def _refuse_content(content: str) -> str | None:
    """Content may not open a section, nor a fence that would swallow the sections behind it."""
    lines = list(read_lines(_normalise(content)))
    before = ""
    for line in lines:
        if line.is_heading:
            return "heading_in_content"
        underline = not line.fenced and _SETEXT.fullmatch(line.text.rstrip()) is not None
        # Also as the first line: it would make the line before it in the file a heading.
        if underline and (line.number == 1 or (before.strip() and not _BULLET.match(before))):
            return "heading_in_content"
        before = "" if line.fenced else line.text
    return "unclosed_fence" if lines and lines[-1].fence_open_after else None


def _leave_out_known(content: str, known: set[str]) -> list[str]:
    """Return the lines that are new, continuation lines and fenced blocks with what they belong to."""
    seen, fresh = set(known), list[str]()
    for entry in _entries(content):
        keys = {entry_key(line) for line in entry}
        if keys == {""} and not any(line.strip() for line in entry):
            fresh.append("")
        elif not keys - {""} or keys - seen:
            fresh.extend(entry)
            seen |= keys
    while fresh and not fresh[-1]:
        fresh.pop()
    while fresh and not fresh[0]:
        fresh.pop(0)
    return fresh


def _entries(content: str) -> list[list[str]]:
    entries: list[list[str]] = []
    inside = False
    for line in read_lines(content):
        joined = inside or (entries and entries[-1][0].strip() and _CONTINUATION.match(line.text))
        if joined:
            entries[-1].append(line.text)
        else:
            entries.append([line.text])
        inside = line.fence_open_after
    return entries


def _insert(text: str, index: int, new: Sequence[str]) -> str:
    """Put lines in before line `index`, in the file's own line ending, each with one."""
    lines, end = split_lines(text), _line_ending(text)
    if index and lines and not lines[index - 1].endswith("\n") and lines[index - 1].strip(_BOM):
        lines[index - 1] += end
    lines[index:index] = [line + end for line in new]
    return "".join(lines)


def _add_section(text: str, title: str, body: Sequence[str]) -> str:
    lines = split_lines(text)
    content = any(line.strip(_BOM + " \t\r\n") for line in lines)
    gap = [""] if content and lines[-1].strip() else []
    return _insert(text, len(lines), [*gap, f"## {title}", *body])


def _finish(old: str, text: str, fresh: Sequence[str], budget: int | None) -> Edit:
    if text == old:
        return Edit(text=old, outcome=Outcome.DUPLICATE)
    if budget is not None and len(text) > budget:
        return Edit(text=old, outcome=Outcome.OVER_BUDGET, reason=f"{len(text) - budget}")
    wanted, before = set(fresh) - {""}, {line.rstrip() for line in old.split("\n")}
    numbers = (i for i, line in enumerate(text.split("\n"), start=1) if line.rstrip("\r") in wanted - before)
    return Edit(text=text, outcome=Outcome.WRITTEN, lines=tuple(numbers))


def _line_ending(text: str) -> str:
    crlf = text.count("\r\n")
    return "\r\n" if crlf * 2 > text.count("\n") else "\n"


def _head(group: Sequence[Line]) -> Line | None:
    return group[0] if group and group[0].is_heading else None


def _body(group: Sequence[Line]) -> Sequence[Line]:
    return group[1:] if _head(group) else group


def _take_newest(head: Line | None, body: list[Line], chosen: set[int], left: int) -> int:
    """Move a section's newest waiting line into the excerpt if it fits; return the characters left."""
    if not body:
        return left
    line = body.pop()
    cost = len(line.text.rstrip()) + 1
    first = head is not None and head.number not in chosen
    if first and head is not None:
        cost += len(head.text.rstrip()) + 1
    if cost > left:
        if not first:
            body.clear()  # older lines never stand for a newer one that did not fit
        return left
    chosen.update({line.number} | ({head.number} if first and head is not None else set()))
    return left - cost
