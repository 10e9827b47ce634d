"""The difference between two texts, line by line, as a reader of changes wants it. Pure."""

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

MAX_LINES = 2_000  # of the changed stretch; beyond it both sides are listed whole, unmatched


class LineKind(StrEnum):
    """What became of a line."""

    SAME = " "
    ADDED = "+"
    REMOVED = "−"
    SKIPPED = "…"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a difference. For SKIPPED the text says how many lines are left out."""

    kind: LineKind
    text: str


def diff_lines(before: str, after: str, context: int = 2) -> tuple[DiffLine, ...]:
    """Return the changed lines with `context` unchanged ones around each stretch."""
    old, new = before.splitlines(), after.splitlines()
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    middle = list(_middle(old[head:old_end], new[head:new_end]))
    same = [DiffLine(LineKind.SAME, line) for line in old[:head]]
    end = [DiffLine(LineKind.SAME, line) for line in old[old_end:]]
    return tuple(_fold([*same, *middle, *end], context)) if middle else ()


def _common(left: list[str], right: list[str]) -> int:
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count


def _middle(old: list[str], new: list[str]) -> Iterator[DiffLine]:
    if len(old) + len(new) > MAX_LINES:
        yield from (DiffLine(LineKind.REMOVED, line) for line in old)
        yield from (DiffLine(LineKind.ADDED, line) for line in new)
        return
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            yield from (DiffLine(LineKind.SAME, line) for line in old[i1:i2])
        else:
            yield from (DiffLine(LineKind.REMOVED, line) for line in old[i1:i2])
            yield from (DiffLine(LineKind.ADDED, line) for line in new[j1:j2])


def _fold(lines: list[DiffLine], context: int) -> Iterator[DiffLine]:
    changed = [i for i, line in enumerate(lines) if line.kind is not LineKind.SAME]
    near: set[int] = set()
    for i in changed:
        near.update(range(i - context, i + context + 1))
    hidden = 0
    for i, line in enumerate(lines):
        if i not in near:
            hidden += 1
            continue
        if hidden:
            yield _skipped(hidden)
            hidden = 0
        yield line
    if hidden:
        yield _skipped(hidden)


def _skipped(count: int) -> DiffLine:
    return DiffLine(LineKind.SKIPPED, f"{count} unchanged line{'' if count == 1 else 's'}")
