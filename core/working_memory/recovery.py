"""Operations out of a damaged tool call: as many sections as can be read, never more than was said.

Pure. Nothing raises, and every recovered string is, after unescaping, a piece of the input.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from core.model import Section
from core.working_memory.document import find_section, is_working_memory, parse_document
from core.working_memory.operations import KEEP, Append, Keep, Operation, Update
from core.working_memory.tolerant_json import CutList, CutText, Pairs, read_tolerant

_WRAPPERS = ("raw", "arguments", "parameters", "input", "args", "sections")
_MAX_UNWRAPS = 8
_THINK = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINK_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_THINK_START = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*```|$)", re.DOTALL)
_QUOTES = "\"'“”‘’＂＇"
_NAME = rf"[^{_QUOTES}{{}}\[\]:：,，\n\\]{{0,60}}"
_NAMED = re.compile(rf"(?:\\?[{_QUOTES}])?[ \t]*(#*{_NAME}(?:\\u0026{_NAME})?)(?:\\?[{_QUOTES}])?\s*[:：]\s*(?=\{{)")
_OBJECT_KEY = re.compile(rf"\{{\s*[{_QUOTES}]?\s*(#*[^{_QUOTES}{{}}\[\]:：]{{1,80}}?)\s*[{_QUOTES}]?\s*[:：]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """What could be read, and the sections whose text was cut off."""

    operations: Mapping[Section, Operation] = field(default_factory=dict)
    truncated: tuple[Section, ...] = ()


@dataclass(slots=True)
class _Found:
    """Operations gathered so far."""

    operations: dict[Section, Operation] = field(default_factory=dict)
    cut: set[Section] = field(default_factory=set)

    def add(self, section: Section, value: object) -> None:
        """Read one section's value; text beats KEEP, appends are joined, a later text counts."""
        operation, cut = _read_value(value)
        if cut:
            self.cut.add(section)
        if operation is None:
            return
        before = self.operations.get(section)
        if isinstance(before, Append) and isinstance(operation, Append):
            operation = Append(before.items + operation.items)
        elif before is not None and isinstance(operation, Keep):
            operation = before
        self.operations[section] = operation


def recover_operations(raw: object) -> Recovered:
    """Return the operations in a tool call's arguments, text or decoded, whatever state they are in."""
    found = _Found()
    _collect(_as_pairs(raw), found, 0)
    order = [section for section in Section if section in found.operations]
    return Recovered(
        operations={section: found.operations[section] for section in order},
        truncated=tuple(section for section in Section if section in found.cut),
    )


def keep_complete_lines(operation: Operation) -> Operation:
    """Return a cut UPDATE as an APPEND of its complete lines; it never replaces anything."""
    if not isinstance(operation, Update):
        return operation
    lines = tuple(line for line in operation.content.split("\n")[:-1] if line.strip())
    return Append(lines) if lines else KEEP


def _as_pairs(value: object, depth: int = 0) -> object:
    """A decoded value with its objects as pairs."""
    if isinstance(value, Mapping) and depth < _MAX_UNWRAPS:
        return Pairs((str(key), _as_pairs(inner, depth + 1)) for key, inner in value.items())
    return value


def _collect(value: object, found: _Found, depth: int) -> None:
    """Look for sections in a value, through wrappers and text inside text."""
    if depth > _MAX_UNWRAPS:
        return
    if isinstance(value, str):
        _collect_text(value, found, depth + 1)
    if not isinstance(value, Pairs):
        return
    for key, inner in value:
        section = find_section(key)
        if section is not None:
            found.add(section, inner)
            _collect_bridged(inner, found, depth + 1)
        elif key.strip().casefold() in _WRAPPERS:
            _collect(inner, found, depth + 1)


def _collect_bridged(value: object, found: _Found, depth: int) -> None:
    """Sections that slid into the object of another one because its brace is missing."""
    if not isinstance(value, Pairs) or depth > _MAX_UNWRAPS:
        return
    for key, inner in value:
        section = find_section(key)
        if section is not None and isinstance(inner, Pairs):
            found.add(section, inner)
            _collect_bridged(inner, found, depth + 1)


def _collect_text(text: str, found: _Found, depth: int) -> None:
    """Read operations from text: strict, tolerant, section by section, then as a document."""
    text = _strip_talk(text)
    if not text:
        return
    try:
        strict = json.loads(text, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        pass
    else:
        _collect(strict, found, depth)
        return
    if is_working_memory(text):
        for section, body in parse_document(text).bodies.items():
            if body:
                found.add(section, Pairs([("op", "UPDATE"), ("content", body)]))
        return
    rest = 0
    start = text.find("{")
    if start >= 0 and not _is_named(text, start):
        value, rest = read_tolerant(text, start)
        _collect(value, found, depth)
        if not found.operations and not found.cut:
            rest = 0
    for section, segment in _split_sections(text, rest):
        found.add(section, read_tolerant(segment)[0])


def _is_named(text: str, start: int) -> bool:
    """Whether the brace at `start` already belongs to a section."""
    return any(match.end() == start for match, _ in _named_places(text, 0))


def _strip_talk(text: str) -> str:
    """A model's text without byte-order mark, thoughts, and talk around a fenced object."""
    text = _THINK.sub("", text.lstrip("\ufeff"))
    ends = list(_THINK_END.finditer(text))
    if ends:
        text = text[ends[-1].end() :]
    if opened := _THINK_START.search(text):
        text = text[_find_call(text, opened.end()) :]
    for fence in _FENCE.finditer(text):
        if fence[1].lstrip().startswith("{"):
            return fence[1].strip()
    return text.strip()


def _find_call(text: str, start: int) -> int:
    """Where the first object begins whose first key is a wrapper or a section."""
    for match in _OBJECT_KEY.finditer(text, start):
        if match[1].strip() == "sections" or find_section(match[1]) is not None:
            return match.start()
    return len(text)


def _named_places(text: str, start: int) -> Iterator[tuple[re.Match[str], Section]]:
    for match in _NAMED.finditer(text, start):
        section = find_section(match[1].replace("\\u0026", "&"))
        if section is not None:
            yield match, section


def _split_sections(text: str, start: int) -> Iterator[tuple[Section, str]]:
    """Each named section with its text, from its brace to the next name."""
    places = list(_named_places(text, start))
    for i, (match, section) in enumerate(places):
        end = places[i + 1][0].start() if i + 1 < len(places) else len(text)
        yield section, text[match.end() : end]


def _read_value(value: object) -> tuple[Operation | None, bool]:
    """One section's operation, None if there is none to read, and whether its text was cut."""
    if isinstance(value, list) and not isinstance(value, Pairs):
        return _read_items(value)
    if isinstance(value, str):
        return (KEEP, False) if value.strip().upper() == "KEEP" else (None, isinstance(value, CutText))
    if value is None:
        return KEEP, False
    if not isinstance(value, Pairs):
        return None, False
    given = {key.strip().casefold(): inner for key, inner in value}
    name = str(given.get("op", "")).strip().upper()
    content, items = given.get("content"), given.get("items")
    if name == "UPDATE" or (not name and content is not None):
        return _read_content(content if content is not None else items)
    if name == "APPEND" or (not name and items is not None):
        return _read_items(items if items is not None else content)
    cut = isinstance(given.get("op"), CutText)
    return (None, True) if cut or not value else (KEEP, False)


def _read_content(value: object) -> tuple[Operation | None, bool]:
    if isinstance(value, list) and not isinstance(value, Pairs):
        texts = [text for text in map(_as_text, value) if text is not None]
        return (Update("\n".join(texts)) if texts else None), isinstance(value, CutList)
    text = _as_text(value)
    if text is None:
        return None, True  # an UPDATE without its text was cut before it
    return (Update(str(text)) if text else None), isinstance(value, CutText)


def _read_items(value: object) -> tuple[Operation | None, bool]:
    cut = isinstance(value, CutList | CutText) or value is None
    values = value if isinstance(value, list) and not isinstance(value, Pairs) else [value]
    items = [text for text in map(_as_text, values) if text]
    return (Append(tuple(items)) if items and not isinstance(value, CutText) else None), cut


def _as_text(value: object) -> str | None:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, Pairs):
        texts = [inner for key, inner in value if key in ("text", "item", "content", "fact", "value")]
        return next((str(text) for text in texts if isinstance(text, str)), None)
    return None
