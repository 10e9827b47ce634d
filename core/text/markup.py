"""A reply without the markup of thinking and tool calls: what people read, and what may be kept.

Pure. Code fences are documentation and stay. Text without such markup is returned untouched.
"""

import json
import re

from core.text.fences import split_fences

_OPEN = re.compile(r"<(think|tool_call|tool_use|function_call)\b[^<>\n]{0,120}>", re.IGNORECASE)
_CLOSE = re.compile(r"</(?:think|tool_call|tool_use|function_call)\s*>", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(think|tool_call|tool_use|function_call)\b[^<>\n]{0,120}>", re.IGNORECASE)
_JSON_START = re.compile(r"^[ \t]*(?=[{\[])", re.MULTILINE)
_IMAGE = re.compile(r"\[IMAGE:[^\]\n]*\]")
_CALL_KEYS = ("tool_calls", "tool_use")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_LINE_ENDS = re.compile(r"[ \t]+(?=\n|$)")
_DECODER = json.JSONDecoder()
_MAX_BLOCKS = 64  # JSON blocks looked at in one reply


def strip_tool_markup(reply: str) -> str:
    """Return an assistant's text without thought, tool calls and image markers."""
    pieces = [piece if fenced else _strip(piece) for fenced, piece in split_fences(_close_over(reply))]
    stripped = "\n".join(pieces)
    if stripped == reply:
        return reply
    return _tidy(stripped)


def strip_image_markers(text: str) -> str:
    """Return a text without `[IMAGE:…]` markers; untouched where there are none."""
    stripped = _IMAGE.sub("", text)
    return text if stripped == text else _tidy(stripped)


def _tidy(text: str) -> str:
    """Cut blanks at line ends and leave at most one blank line, outside code."""
    pieces = [p if fenced else _LINE_ENDS.sub("", p) for fenced, p in split_fences(text)]
    return _BLANK_LINES.sub("\n\n", "\n".join(pieces)).strip()


def _close_over(reply: str) -> str:
    """Take out thought that spans code fences, which would hide its closing tag from either side."""
    spans: list[tuple[int, int]] = []
    depth = start = 0
    for tag in _TAG.finditer(reply):
        if tag[2].casefold() != "think":
            continue
        if not tag[1]:
            start = tag.start() if not depth else start
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                spans.append((start, tag.end()))
    if not any("```" in reply[a:b] or "~~~" in reply[a:b] for a, b in spans):
        return reply
    outside = [(a, b) for a, b in spans if not _in_fence(reply, a)]
    for a, b in reversed(outside):
        reply = reply[:a] + reply[b:]
    return reply


def _in_fence(text: str, at: int) -> bool:
    done = 0
    for fenced, piece in split_fences(text):
        if done <= at < done + len(piece) + 1:
            return fenced
        done += len(piece) + 1
    return False


def _strip(text: str) -> str:
    text = _IMAGE.sub("", _strip_tags(text))
    return _strip_json(text) if any(key in text for key in _CALL_KEYS) else text


def _strip_tags(text: str) -> str:
    """Take out spans between tags, nested ones as one; an unclosed tag loses only what is its own."""
    kept: list[str] = []
    at = 0
    ends = _match_tags(text)
    while opened := _OPEN.search(text, at):
        kept.append(text[at : opened.start()])
        if opened.start() in ends:
            at = ends[opened.start()]
        elif opened[1].casefold() == "think":
            return "".join(kept)
        else:
            at = _json_end(text, opened.end()) or opened.end()
    kept.append(text[at:])
    return _CLOSE.sub("", "".join(kept)) if at or _CLOSE.search(text) else text


def _match_tags(text: str) -> dict[int, int]:
    """Return where the span of each closed opening tag ends, by where the tag starts."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    for tag in _TAG.finditer(text):
        stack = opened.setdefault(tag[2].casefold(), [])
        if not tag[1]:
            stack.append(tag.start())
        elif stack:
            ends[stack.pop()] = tag.end()
    return ends


def _json_end(text: str, at: int) -> int:
    """Return where the JSON right after a tag on its line ends, or 0."""
    line_end = text.find("\n", at)
    line_end = len(text) if line_end < 0 else line_end
    start = at + len(text[at:line_end]) - len(text[at:line_end].lstrip())
    if text[start : start + 1] not in {"{", "["}:
        return 0
    try:
        return _DECODER.raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return line_end  # cut off: what is left of it ends with its line


def _strip_json(text: str) -> str:
    """Take out JSON blocks that stand alone and whose top level holds tool calls."""
    kept: list[str] = []
    at = 0
    for _, start in zip(range(_MAX_BLOCKS), _JSON_START.finditer(text), strict=False):
        if start.start() < at:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start.end())
        except (ValueError, RecursionError):
            continue
        rest, _, _ = text[end : end + 80].partition("\n")
        if not rest.strip() and _holds_calls(value):
            kept.append(text[at : start.start()])
            at = end
    return "".join((*kept, text[at:]))


def _holds_calls(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_holds_calls, value))
    return isinstance(value, dict) and (any(key in value for key in _CALL_KEYS) or value.get("type") in _CALL_KEYS)
