"""MEMORY_GOALS.md: at most eight long-term goals, one a line, with ids that are never used twice.

The list is pure text in, text out; every line that is not a goal is the user's and stays in place.
`edit_goals` writes it through the locked writer.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.memory_files.documents import Edit, Redact, entry_key
from core.memory_files.documents import Outcome as Written
from core.memory_files.outline import read_lines, split_lines
from core.memory_files.writer import Cause, MemoryFileWriter, WriteResult

GOALS_FILE = "MEMORY_GOALS.md"
GOALS_TITLE = "# Long-term Goals"
MAX_GOALS = 8
MAX_GOAL_CHARACTERS = 240
_GOAL = re.compile(r"[-*+] \[g(\d{1,9})\](?: (.*))?")


class GoalOutcome(StrEnum):
    """What became of one operation. The values are part of the tool's answer."""

    ADDED = "added"
    EDITED = "edited"
    DELETED = "deleted"
    DUPLICATE = "duplicate"
    REFUSED = "refused"
    FULL = "full"  # the user is asked which to retire; nothing is dropped
    UNKNOWN_ID = "unknown_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalOp:
    """Add (no id), edit (id and text) or delete (id, text None)."""

    id: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One goal of the list."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalList:
    """The file after some operations; `next_id` is to be stored by the caller."""

    text: str
    goals: tuple[Goal, ...]
    outcomes: tuple[GoalOutcome, ...]
    next_id: int


def read_goals(text: str) -> tuple[Goal, ...]:
    """Return the goals of a file, in its order."""
    return tuple(goal for _, goal in _find(text))


def apply_ops(text: str | None, ops: Sequence[GoalOp], next_id: int = 1, *, redact: Redact = str) -> GoalList:
    """Carry out the operations in order; a file that nothing changes stays as it is, to the byte."""
    now = text or ""
    following = max(next_id, _highest(now) + 1)
    outcomes: list[GoalOutcome] = []
    for op in ops:
        outcome, now = _apply(now, op, following, redact)
        following += outcome is GoalOutcome.ADDED
        outcomes.append(outcome)
    return GoalList(text=now, goals=read_goals(now), outcomes=tuple(outcomes), next_id=following)


def edit_goals(
    writer: MemoryFileWriter, ops: Sequence[GoalOp], cause: Cause, *, next_id: int = 1, redact: Redact = str
) -> tuple[WriteResult, GoalList]:
    """Change the goals file under the write lock. Blocking, as every write."""
    done = apply_ops("", ops, next_id, redact=redact)

    def apply(current: str) -> Edit:
        nonlocal done
        done = apply_ops(current, ops, next_id, redact=redact)
        return Edit(text=done.text, outcome=Written.DUPLICATE if done.text == current else Written.WRITTEN)

    return writer.change(GOALS_FILE, apply, cause), done


def _apply(text: str, op: GoalOp, number: int, redact: Redact) -> tuple[GoalOutcome, str]:
    found = _find(text)
    line = next((index for index, goal in found if goal.id == op.id), None)
    if op.id is not None and line is None:
        return GoalOutcome.UNKNOWN_ID, text
    lines = split_lines(text)
    if op.text is None:
        if line is None:
            return GoalOutcome.REFUSED, text
        return GoalOutcome.DELETED, "".join(lines[:line] + lines[line + 1 :])
    wanted = redact(op.text.strip())
    if not _fits(wanted):
        return GoalOutcome.REFUSED, text
    key = entry_key(wanted)
    if any(entry_key(goal.text) == key and (goal.id != op.id or goal.text == wanted) for _, goal in found):
        return GoalOutcome.DUPLICATE, text
    if line is not None:
        ending = lines[line][len(lines[line].rstrip("\r\n")) :]
        lines[line] = f"- [{op.id}] {wanted}{ending}"
        return GoalOutcome.EDITED, "".join(lines)
    if len(found) >= MAX_GOALS:
        return GoalOutcome.FULL, text
    return GoalOutcome.ADDED, _add(text, f"- [g{number}] {wanted}", [index for index, _ in found])


def _add(text: str, line: str, goal_lines: Sequence[int]) -> str:
    """Put a goal behind the last one, else at the end; an empty file gets its title."""
    end = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    if not text.strip("\ufeff \t\r\n"):
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        return f"{bom}{GOALS_TITLE}{end}{end}{line}{end}"
    lines = split_lines(text)
    place = goal_lines[-1] + 1 if goal_lines else len(lines)
    if not lines[place - 1].endswith("\n"):
        lines[place - 1] += end
    gap = [] if goal_lines or not lines[-1].strip() else [end]
    return "".join([*lines[:place], *gap, line + end, *lines[place:]])


def _find(text: str) -> list[tuple[int, Goal]]:
    found: list[tuple[int, Goal]] = []
    for line in read_lines(text):
        match = None if line.fenced else _GOAL.fullmatch(line.text.rstrip())
        if match is not None:
            found.append((line.number - 1, Goal(id=f"g{int(match.group(1))}", text=(match.group(2) or "").strip())))
    return found


def _highest(text: str) -> int:
    return max((int(goal.id[1:]) for _, goal in _find(text)), default=0)


def _fits(text: str) -> bool:
    one_line = len(text.splitlines()) == 1 and not any(unicodedata.category(c) in ("Cc", "Cs") for c in text)
    return one_line and len(text) <= MAX_GOAL_CHARACTERS and entry_key(text) != ""
