"""Three-way merge of texts, line by line. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.memory_files.outline import split_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """A merged text; `conflicts` counts the places where only the later lines were kept."""

    text: str
    conflicts: int


@dataclass(frozen=True, slots=True)
class _Edit:
    low: int  # base lines low..high are replaced
    high: int
    lines: tuple[str, ...]


def merge(base: str, earlier: str, later: str) -> Merge:
    """Apply what `earlier` changed in `base` to `later`; where both changed the same lines, `later` stands."""
    old, mine, theirs = (_bare(text) for text in (base, earlier, later))
    my_edits, their_edits = _edits(old, mine), _edits(old, theirs)
    conflicts = 0
    wanted = list(their_edits)
    for edit in my_edits:
        if edit in their_edits:
            continue
        if any(_overlap(edit, other) for other in their_edits):
            conflicts += 1
        else:
            wanted.append(edit)
    # Of two insertions at one place the restored lines come first: they stood there before.
    wanted.sort(key=lambda edit: (edit.low, edit.high, edit in their_edits))
    lines: list[str] = []
    position = 0
    for edit in wanted:
        lines += [*old[position : edit.low], *edit.lines]
        position = edit.high
    lines += old[position:]
    return Merge(text=_like(later, lines), conflicts=conflicts)


def _edits(old: Sequence[str], new: Sequence[str]) -> list[_Edit]:
    from difflib import SequenceMatcher

    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [_Edit(i1, i2, tuple(new[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _overlap(a: _Edit, b: _Edit) -> bool:
    # An insertion has an empty stretch: it collides only inside a replaced one, not at its rim.
    return a.low < b.high and b.low < a.high


def _bare(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(text.removeprefix("\ufeff"))]


def _like(model: str, lines: Sequence[str]) -> str:
    """Join lines with the byte order mark, line ending and last newline of another text."""
    end = "\r\n" if model.count("\r\n") * 2 > model.count("\n") else "\n"
    text = end.join(lines)
    if lines and (not model or model.endswith("\n")):
        text += end
    return ("\ufeff" if model.startswith("\ufeff") else "") + text
