"""What a turn's tool calls leave: a record of each, and of those that failed one searchable line. Pure, no model."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.archivist.words import fold
from core.model import ToolCall

__all__ = ["Failure", "ToolCall", "classify_error", "clean_tool_name", "draw_lesson", "read_lesson", "record_calls"]

MAX_ENTRIES = 10
MAX_ARGUMENTS_CHARACTERS = 500
MAX_NAME_CHARACTERS = 64
LESSON_OPENING = "Tools that failed in this turn: "

# In order: the first class with a hit wins. The words are those of the systems that write them.
_CLASSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("unknown_tool", ("unknown tool", "no such tool", "tool not found")),
    ("timeout", ("timeout", "timed out", "etimedout", "deadline exceeded", "超时", "超時")),
    ("not_found", ("not found", "no such file", "enoent", "404", "不存在", "找不到")),
    ("permission_denied", ("permission", "denied", "eacces", "eperm", "403", "权限", "權限")),
    ("rate_limited", ("429", "rate limit", "too many requests")),
    ("connection_error", ("connection", "network", "econn", "unreachable", "连接", "网络", "連接", "網路")),
    ("parse_error", ("parse", "invalid", "syntax", "解析")),
)
_HIT = tuple(
    # A status number is a hit only as a number of its own, not inside 14042.
    (name, re.compile("|".join(rf"(?<!\d){hit}(?!\d)" if hit.isdigit() else re.escape(hit) for hit in hits)))
    for name, hits in _CLASSES
)
GENERIC_ERROR = "error"
_NAME = re.compile(r"[A-Za-z0-9_.:\-]+")
_ENTRY = re.compile(r"(?P<tool>[A-Za-z0-9_.:\-]+)(?: \((?P<notes>[^()]*)\))?(?=, |$)|and \d+ more")
_MORE = re.compile(r"and \d+ more")
_NOTE = re.compile(r", ")


@dataclass(frozen=True, slots=True)
class Failure:
    """What failed in a turn, without how often: the same in three segments is worth remembering."""

    tool: str
    classes: tuple[str, ...]

    def describe(self) -> str:
        """`shell (timeout)`."""
        return f"{self.tool} ({', '.join(self.classes)})" if self.classes else self.tool


def classify_error(output: str) -> str:
    """Return the class of a failed call's output, `error` where none is recognised."""
    folded = fold(output)
    return next((name for name, hit in _HIT if hit.search(folded)), GENERIC_ERROR)


def clean_tool_name(name: str) -> str:
    """Return the leading run of a name that is safe to store; names come from a model."""
    match = _NAME.match(name)
    return match.group()[:MAX_NAME_CHARACTERS] if match else "unnamed"


def draw_lesson(calls: Sequence[ToolCall]) -> str | None:
    """Return the lesson of a turn, or None when nothing failed for good."""
    failures: dict[str, list[str]] = {}
    for index, call in enumerate(calls):
        if not call.success and not any(_is_retry(call, later) for later in calls[index + 1 :]):
            failures.setdefault(clean_tool_name(call.name), []).append(classify_error(call.output))
    if not failures:
        return None
    entries = [_entry(name, classes) for name, classes in failures.items()]
    if len(entries) > MAX_ENTRIES:
        entries = [*entries[:MAX_ENTRIES], f"and {len(entries) - MAX_ENTRIES} more"]
    return LESSON_OPENING + ", ".join(entries)


def read_lesson(lesson: str) -> tuple[Failure, ...]:
    """Return the failures that a lesson names."""
    entries = _ENTRY.finditer(lesson.removeprefix(LESSON_OPENING))
    return tuple(
        Failure(match["tool"], tuple(note for note in _NOTE.split(match["notes"] or "") if note and note[-1] != "x"))
        for match in entries
        if not _MORE.fullmatch(match[0])
    )


def record_calls(calls: Sequence[ToolCall], redact: Callable[[str], str]) -> str:
    """Return the record of a turn's calls as JSON: what was called with what, and how it went, never the output."""
    return json.dumps([_record(call, redact) for call in calls], ensure_ascii=False)


def _record(call: ToolCall, redact: Callable[[str], str]) -> dict[str, object]:
    arguments = None
    if call.arguments is not None:
        arguments = redact(json.dumps(dict(call.arguments), ensure_ascii=False, default=str))
    return {
        "name": clean_tool_name(call.name),
        "ok": call.success,
        "error": None if call.success else classify_error(call.output),
        "output_characters": len(call.output),
        "duration_ms": call.duration_ms,
        "arguments": arguments if arguments is None else arguments[:MAX_ARGUMENTS_CHARACTERS],
    }


def _is_retry(failed: ToolCall, later: ToolCall) -> bool:
    if not later.success or clean_tool_name(later.name) != clean_tool_name(failed.name):
        return False
    known = failed.arguments is not None and later.arguments is not None
    return not known or failed.arguments == later.arguments


def _entry(name: str, classes: Sequence[str]) -> str:
    notes = [kind for kind in dict.fromkeys(classes) if kind != GENERIC_ERROR]
    if len(classes) > 1:
        notes.append(f"{len(classes)}x")
    return f"{name} ({', '.join(notes)})" if notes else name
