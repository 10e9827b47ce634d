"""What editors of the user's did to a file while the program wrote it, and the text that keeps both. Pure.

An editor works on the text it loaded. If it saves after the program has written, its text lacks what came in meanwhile;
if it still had the replaced file open, its text is in the history folder. Neither may cost an entry that was
acknowledged, nor a line that the user typed.
"""

from collections.abc import Iterable
from difflib import SequenceMatcher

from core.memory_files.folder import digest
from core.memory_files.merge import merge
from core.model import FileChange

REWORDED = 0.6  # likeness from which a line is an edited one
STALE_WITHIN_S = 120.0  # how old a text may be that an editor saves: entries older than that were deleted on purpose


def put_back(text: str, changes: Iterable[FileChange], current: str, now: float) -> str:
    """Return an editor's text with what came in after the editor had loaded it; the text itself where nothing did.

    `changes` are newest first, without the editor's own; `current` is the text they came to. A save that only takes
    lines out is meant that way.
    """
    held, base = _lines(text), None
    typed = held - _lines(current)
    for change in changes:
        if now - change.at > STALE_WITHIN_S:
            break
        added = _lines(change.after) - _lines(change.before)
        if added & held or any(_is_reworded(line, typed) for line in added):
            break
        if added:
            base = change.before
    if base is None or not held - _lines(base):
        return text
    return _join(base, text, current)


def take_late(late: str, mark: str, changes: Iterable[FileChange], current: str) -> str:
    """Return the current text with what an editor wrote into a file that had been replaced by then.

    `mark` is the hash, cut, of what the file held when it was replaced.
    """
    found = (c.before for c in changes if digest(c.before.encode("utf-8"))[: len(mark)] == mark)
    return _join(next(found, ""), late, current)


def _join(base: str, mine: str, current: str) -> str:
    """Merge an editor's text with the current one; lines of the editor's that collide with newer ones go to the end."""
    merged = merge(base, mine, current).text
    there, old = _lines(merged), _lines(base)
    lost = [line for line in mine.splitlines() if line.strip() and line.rstrip() not in there | old]
    if not lost:
        return merged
    end = "\r\n" if merged.count("\r\n") * 2 > merged.count("\n") else "\n"
    gap = "" if not merged or merged.endswith("\n") else end
    return merged + gap + "".join(line.rstrip() + end for line in lost)


def _is_reworded(line: str, typed: set[str]) -> bool:
    """Whether one of the lines an editor typed is another form of a line: then it was seen, and changed."""
    return any(SequenceMatcher(None, line, other).ratio() >= REWORDED for other in typed)


def _lines(text: str) -> set[str]:
    return {bare for line in text.split("\n") if (bare := line.rstrip())}
