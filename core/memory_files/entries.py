"""One entry of a memory file, found again by its words: taken out or changed in place. Pure.

An entry is a bullet that is not fenced. Lines that go on with it (indented ones below) belong to it.
"""

import re
import unicodedata
from collections.abc import Callable, Collection

from core.errors import MemoryFileError, NotFoundError
from core.memory_files.documents import Edit, Outcome
from core.memory_files.outline import read_lines, split_lines
from core.model import FileEntry

MAX_CHARACTERS = 1_000
GONE = "That entry has been changed meanwhile. Nothing was done; look at it again."
_BULLET = re.compile(r"(\s*[-*+]\s+(?:\[g\d{1,9}\]\s+)?)(\S.*)")
_LEAD = re.compile(r"^(?:[-*+]\s+)?(?:\[[ xX]\]\s+)?(?:\[g\d{1,9}\]\s+)?(?:[A-Za-z]+:\s+)?")
_GOES_ON = re.compile(r"[ \t]+(?![-*+][ \t]|\d{1,3}[.)][ \t])\S")


def read_entries(text: str, own: Collection[str]) -> tuple[FileEntry, ...]:
    """Return the entries of a file in order; `own` are the lines that the program wrote."""
    found = []
    for line in read_lines(text):
        match = None if line.fenced or line.is_heading else _BULLET.fullmatch(line.text.rstrip())
        if match is not None:
            raw = line.text.rstrip()
            found.append(FileEntry(line=line.number, raw=raw, text=match[2].strip(), by_user=raw not in own))
    return tuple(found)


def remove_entry(text: str, entry: FileEntry) -> Edit:
    """Return the file without an entry and the lines that go on with it; raise `NotFoundError` if it is not there."""
    lines, place = split_lines(text), _find(text, entry)
    end = place + 1
    while end < len(lines) and _GOES_ON.match(lines[end]):
        end += 1
    return Edit(text="".join(lines[:place] + lines[end:]), outcome=Outcome.WRITTEN)


def change_entry(text: str, entry: FileEntry, words: str) -> Edit:
    """Return the file with other words in an entry's place; raise `NotFoundError` or `MemoryFileError`."""
    wanted = words.strip()
    if not wanted or len(wanted) > MAX_CHARACTERS or any(unicodedata.category(c) in ("Cc", "Cs") for c in wanted):
        raise MemoryFileError(
            f"An entry is one line of at most {MAX_CHARACTERS:,} characters. Nothing was changed."
            if wanted
            else "An entry cannot be empty; take it out instead. Nothing was changed."
        )
    lines, place = split_lines(text), _find(text, entry)
    match = _BULLET.fullmatch(entry.raw)
    if match is None:
        raise NotFoundError(GONE)
    ending = lines[place][len(lines[place].rstrip("\r\n")) :]
    bom = "\ufeff" if lines[place].startswith("\ufeff") else ""
    lines[place] = f"{bom}{match[1]}{wanted}{ending}"
    changed = "".join(lines)
    return Edit(text=changed, outcome=Outcome.DUPLICATE if changed == text else Outcome.WRITTEN, lines=(place + 1,))


def find_saying(text: str, says: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the lines of which `says` is true; it gets their words, without bullet, mark and category.

    Headings and fenced lines are none of them.
    """
    return tuple(line for line, gone in _judge(text, says) if gone)


def drop_saying(text: str, says: Callable[[str], bool]) -> str:
    """Return the file without the lines of which `says` is true and what goes on with their entries."""
    kept, inside = [], False
    for raw, (line, gone) in zip(split_lines(text), _judge(text, says), strict=True):
        inside = gone or (inside and _GOES_ON.match(line) is not None)
        if not inside:
            kept.append(raw)
    return "".join(kept)


def _judge(text: str, says: Callable[[str], bool]) -> list[tuple[str, bool]]:
    judged = []
    for line in read_lines(text):
        words = _LEAD.sub("", line.text.strip())
        judged.append((line.text.rstrip(), bool(words) and not line.fenced and not line.is_heading and says(words)))
    return judged


def _find(text: str, entry: FileEntry) -> int:
    """Return the index of an entry's line: where it was, else the nearest line that reads the same."""
    places = [line.number - 1 for line in read_lines(text) if line.text.rstrip() == entry.raw and not line.fenced]
    if not places:
        raise NotFoundError(GONE)
    return min(places, key=lambda place: abs(place - (entry.line - 1)))
