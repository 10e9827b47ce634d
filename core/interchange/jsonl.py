"""Transcripts: one JSON object a line, `{"role", "content", "timestamp", "tool_calls"}`, oldest first.

`role` is user or assistant; `timestamp` is ISO 8601 (UTC where no offset is given) or a number in s, ms, µs or
ns since the epoch; a missing one is a second after the line before, the first one the time at which the file was
last written. `tool_calls` may stand with a reply: a list of `{"name", "success", "output", "arguments",
"duration_ms"}`. Messages of one role in a row are one message, unless more than ten minutes lie between two of the
user's. A line that cannot be read is reported by its number and the rest goes in. The file is streamed, never
held whole.
"""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.errors import MessageError, TranscriptError
from core.model import Role, SaidTurn, SessionId, ToolCall
from core.text.cleaning import clean_text

# A reply that comes so much later belongs to the turn, but not to its time (archivist.md section 5, max gap)
LATE_S = 600.0
Report = Callable[[int, str], None]  # line number from 1, reason


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    role: Role
    text: str
    at: float  # s
    key_at: float  # the same from the text alone, counted from 0 where it gives no time: a copy has the same keys
    calls: tuple[ToolCall, ...] = ()


def name_session(path: Path) -> SessionId:
    """Return the conversation id of a transcript: the same for the same file name and opening."""
    first = next(_read_lines(path, _ignore), None)
    if first is None:
        raise TranscriptError(f"{path} holds no message that can be read. Nothing was added.")
    opening = f"{path.stem}\n{first.role}\n{first.key_at}\n{first.text}"
    return SessionId(f"replay-{sha256(opening.encode()).hexdigest()[:24]}")


def count_turns(path: Path) -> int:
    """Return how many turns `read_turns` will yield."""
    return sum(1 for _ in read_turns(path, SessionId(""), _ignore))


def read_turns(path: Path, session_id: SessionId, report: Report) -> Iterator[SaidTurn]:
    """Yield the turns in order; `report` is called for each line that is left out.

    Raises `TranscriptError` if the file itself cannot be read.
    """
    users: list[_Line] = []
    replies: list[_Line] = []
    number = 0
    for line in _read_lines(path, report):
        if line.role is Role.USER:
            # days later is another turn, whether or not the one before was answered
            if replies or (users and line.at - users[-1].at > LATE_S):
                yield _join(users, replies, session_id, number)
                number += 1
                users, replies = [], []
            users.append(line)
        elif users:
            replies.append(line)
        else:
            report(line.number, "a reply with no message before it")
    if users:
        yield _join(users, replies, session_id, number)


def _join(users: list[_Line], replies: list[_Line], session_id: SessionId, number: int) -> SaidTurn:
    user_text = "\n\n".join(line.text for line in users)
    reply_text = "\n\n".join(line.text for line in replies if line.text)
    ended = users[-1].at
    for line in replies:
        if line.at - ended <= LATE_S:
            ended = max(ended, line.at)
    digest = sha256(f"{users[0].key_at}\n{user_text}\n\n{reply_text}".encode()).hexdigest()[:24]
    return SaidTurn(
        source_key=f"{session_id}:{number}:{digest}",
        user_text=user_text,
        user_at=users[0].at,
        reply_text=reply_text,
        reply_at=ended,
        tool_calls=tuple(call for line in replies for call in line.calls),
    )


def _read_lines(path: Path, report: Report) -> Iterator[_Line]:
    key_at = 0.0
    try:
        with path.open("rb") as file:
            at = os.fstat(file.fileno()).st_mtime
            for number, raw in enumerate(file, start=1):
                try:
                    text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                    if not text:
                        continue
                    line = _read_line(number, _parse(text), after=(at, key_at))
                except (ValueError, RecursionError, MessageError) as error:
                    report(number, _explain(error))
                    continue
                at, key_at = line.at, line.key_at
                yield line
    except OSError as error:
        raise TranscriptError(f"{path} cannot be read ({error.strerror or error}). Nothing was added.") from error


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError("not JSON") from error
    except ValueError as error:  # Python reads no integer of thousands of digits
        raise ValueError("a number in it is too long") from error


def _read_line(number: int, value: Any, *, after: tuple[float, float]) -> _Line:
    if not isinstance(value, dict):
        raise ValueError("not an object")
    role, content = value.get("role"), value.get("content")
    if role not in (Role.USER, Role.ASSISTANT):
        raise ValueError('"role" is neither "user" nor "assistant"')
    if not isinstance(content, str):
        raise ValueError('"content" is not text')
    stamp = value.get("timestamp")
    at, key_at = (after[0] + 1.0, after[1] + 1.0) if stamp is None else (read_time(stamp),) * 2
    calls = _read_calls(value.get("tool_calls")) if role == Role.ASSISTANT else ()
    text = "" if calls and not content.strip() else clean_text(content)  # a step that only called tools
    return _Line(number=number, role=Role(role), text=text, at=at, key_at=key_at, calls=calls)


def _read_calls(value: Any) -> tuple[ToolCall, ...]:
    """Return the tool calls of a reply. Raises ValueError where they are something else."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(call, dict) for call in value):
        raise ValueError('"tool_calls" is not a list of objects')
    return tuple(map(_read_call, value))


def _read_call(value: dict[str, Any]) -> ToolCall:
    name, success = value.get("name"), value.get("success", True)
    output, arguments, duration = value.get("output", ""), value.get("arguments"), value.get("duration_ms")
    if not isinstance(name, str) or not isinstance(success, bool):
        raise ValueError('a tool call has no "name", or a "success" that is not true or false')
    return ToolCall(
        name=name,
        success=success,
        output=output if isinstance(output, str) else json.dumps(output, ensure_ascii=False),
        arguments=arguments if isinstance(arguments, dict) else None,
        duration_ms=float(duration) if isinstance(duration, int | float) and not isinstance(duration, bool) else None,
    )


def read_time(stamp: object) -> float:
    """Return a timestamp in s (rules: desktop.md 4.8); raise ValueError where it is none."""
    if isinstance(stamp, bool) or not isinstance(stamp, int | float | str):
        raise ValueError('"timestamp" cannot be read')
    if isinstance(stamp, str):
        try:
            moment = datetime.fromisoformat(stamp.strip().replace("Z", "+00:00"))
        except ValueError:
            raise ValueError('"timestamp" is no ISO 8601 time') from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    for limit, unit in ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6)):
        if abs(stamp) < limit:
            return stamp / unit
    if abs(stamp) < 1e20:
        return stamp / 1e9
    raise ValueError('"timestamp" is out of range')


def _explain(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8"
    if isinstance(error, MessageError):
        return "no text"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _ignore(number: int, reason: str) -> None:
    """The counting pass reports nothing: the reading pass does."""
