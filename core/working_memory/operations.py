"""What an update asks of a section, read from any JSON value without ever raising.

Pure. Three operations exist: keep, update, append. Whatever else a model sends becomes one of
them; text that cannot be applied is handed back, so that it can be parked instead of lost.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from core.model import Section
from core.text.evidence import is_degenerate, is_placeholder
from core.text.items import extract_items, is_sentinel, render_items
from core.working_memory.bodies import is_marked, split_items, strip_sentinel
from core.working_memory.document import find_section, make_safe, normalise_lines


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave the section as it is."""

    name = "KEEP"


@dataclass(frozen=True, slots=True)
class Update:
    """Replace the section's body; `content` is safe to enter one."""

    content: str
    name = "UPDATE"


@dataclass(frozen=True, slots=True)
class Append:
    """Add items under the body."""

    items: tuple[str, ...]
    name = "APPEND"


Operation = Keep | Update | Append
KEEP = Keep()

_PROSE = frozenset({Section.TITLE, Section.STATE})  # no bullets where a list is given for text
_TEXT_KEYS = ("text", "item", "content", "fact", "value")
_NAMES = {"KEEP", "UPDATE", "APPEND"}
_RUN = re.compile(r"(\w)\1{3,}")
_LEAST_CHARS = 4  # of a text that is more than a run of one sign
_MAX_DEPTH = 12  # of nested values that are searched for text


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One section's operation, and what of the value did not become part of it."""

    operation: Operation = KEEP
    asked: str = "KEEP"  # KEEP, UPDATE, APPEND, or what stood in their place
    unapplied: tuple[str, ...] = ()  # text to park
    skipped: tuple[str, ...] = ()  # placeholders, loops, values that are no text


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The operations of one update; sections that are not named are kept."""

    by_section: Mapping[Section, Reading] = field(default_factory=dict)
    stray: tuple[str, ...] = ()  # text under keys that name no section


def read_operations(value: object) -> Readings:
    """Read a whole update: an object of sections, wrapped in `sections` or not."""
    if isinstance(value, Mapping) and isinstance(value.get("sections"), Mapping | list):
        value = {**{k: v for k, v in value.items() if k != "sections"}, **_as_mapping(value["sections"])}
    if not isinstance(value, Mapping):
        return Readings()
    found: dict[Section, Reading] = {}
    stray: list[str] = []
    for key, given in value.items():
        section = find_section(str(key))
        if section is None:
            stray += _loose_texts(given)
        else:
            reading = read_operation(given, section)
            found[section] = _join(found[section], reading) if section in found else reading
    return Readings(by_section=found, stray=tuple(stray))


def _as_mapping(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _join(first: Reading, second: Reading) -> Reading:
    """One section named twice: appends are joined, text beats KEEP, of two updates the later counts."""
    one, two = first.operation, second.operation
    unapplied = first.unapplied + second.unapplied
    operation: Operation = two
    if isinstance(two, Keep):
        operation = one
    elif isinstance(one, Append) and isinstance(two, Append):
        operation = Append(one.items + two.items)
    elif isinstance(one, Append) and isinstance(two, Update):
        unapplied += one.items
    elif isinstance(one, Update):
        unapplied += extract_items(one.content)
    if isinstance(one, Update) and isinstance(two, Append):
        operation, unapplied = Update(one.content + "\n" + render_items(two.items)), first.unapplied
    return Reading(
        operation=operation,
        asked=operation.name,
        unapplied=unapplied,
        skipped=first.skipped + second.skipped,
    )


def read_operation(value: object, section: Section) -> Reading:
    """Read one section's operation from any JSON value."""
    if isinstance(value, str):
        if value.strip().upper() in _NAMES:
            return Reading(asked=value.strip().upper())
        return Reading(unapplied=tuple(_loose_texts(value)))
    if isinstance(value, list | tuple):
        return _read_append({"items": list(value)}, section)
    if not isinstance(value, Mapping):
        return Reading()
    return _read_object(value, section)


def _read_object(value: Mapping[object, object], section: Section) -> Reading:
    given = value.get("op")
    name = given.strip().upper() if isinstance(given, str) else ""
    if given is None:
        name = "UPDATE" if value.get("content") is not None else "APPEND" if "items" in value else "KEEP"
    if name == "UPDATE":
        return _read_update(value, section)
    if name == "APPEND":
        return _read_append(value, section)
    rest = [item for key in ("content", "items") for item in _loose_texts(value.get(key))]
    asked = name if name in _NAMES else str(given)[:40]
    return Reading(asked=asked, unapplied=tuple(rest))


def _read_update(value: Mapping[object, object], section: Section) -> Reading:
    skipped: list[str] = []
    lines = list(_content_lines(value.get("content"), section, skipped))
    extra = list(_item_texts(value.get("items"), skipped))
    if extra:
        lines += extra if section in _PROSE else [render_items(extra)]
    content = strip_sentinel(make_safe("\n".join(lines), section))
    if section not in _PROSE:
        content = _drop_placeholders(content, skipped)
    if not content.strip() or _says_nothing(content, section):
        return Reading(asked="UPDATE", skipped=(*skipped, *_note(content)))
    return Reading(operation=Update(content), asked="UPDATE", skipped=tuple(skipped))


def _read_append(value: Mapping[object, object], section: Section) -> Reading:
    skipped: list[str] = []
    found = list(_item_texts(value.get("items"), skipped))
    if value.get("content") is not None:
        found += _item_texts(value["content"], skipped)
    items: list[str] = []
    for item in found:
        if is_sentinel(item) or _says_nothing(item, section):
            skipped += _note(item)
        else:
            items.append(item)
    operation = Append(tuple(items)) if items else KEEP
    return Reading(operation=operation, asked="APPEND", skipped=tuple(skipped))


def _says_nothing(text: str, section: Section) -> bool:
    """Whether text is a placeholder throughout, the section's own name, or a loop."""
    if find_section(text.strip()) is section or _is_loop(text, section):
        return True
    items = extract_items(text)
    return bool(items) and all(is_placeholder(item) or find_section(item) is section for item in items)


def _is_loop(text: str, section: Section) -> bool:
    """Whether text is degenerate for more than one run of a sign, as in `PIN 0000` or a long key."""
    if not is_degenerate(text, section):
        return False
    collapsed = _RUN.sub(r"\1", text)
    return collapsed == text or len(collapsed.strip()) < _LEAST_CHARS or is_degenerate(collapsed, section)


def _drop_placeholders(content: str, skipped: list[str]) -> str:
    """A body without the bullets that are placeholders; the rest exact."""
    kept: list[str] = []
    for line in content.split("\n"):
        if is_placeholder(line) and is_marked(line):
            skipped.append(line.strip())
        else:
            kept.append(line)
    return "\n".join(kept)


def _content_lines(value: object, section: Section, skipped: list[str]) -> Iterator[str]:
    """The text of `content`; a list is read as lines, as bullets where the section is a list."""
    if not isinstance(value, list | tuple):
        yield from _plain_texts(value, skipped)
        return
    for entry in value:
        for text in _plain_texts(entry, skipped):
            lines = [text] if section in _PROSE else [render_items(split_items(text))]
            yield from (line for line in lines if line.strip())


def _item_texts(value: object, skipped: list[str]) -> Iterator[str]:
    """The items of `items`; text is read by the rules of items, an entry of a list is one item."""
    if isinstance(value, str):
        yield from extract_items(normalise_lines(value))
        return
    for entry in value if isinstance(value, list | tuple) else [value]:
        for text in _plain_texts(entry, skipped):
            yield from split_items(text)


def _plain_texts(value: object, skipped: list[str]) -> Iterator[str]:
    """The text of a scalar or of an object; anything else is noted and left out."""
    if isinstance(value, Mapping):
        texts = [value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)]
        if texts:
            yield normalise_lines(str(texts[0]))
            return
    elif isinstance(value, str):
        yield normalise_lines(value)
        return
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield _as_json(value)
        return
    if value is not None:
        skipped.append(_as_json(value))


def _loose_texts(value: object, depth: int = 0) -> list[str]:
    """All text that a value holds where it cannot be applied, as items worth parking."""
    if depth > _MAX_DEPTH:
        return []
    if isinstance(value, str):
        if value.strip().upper() in _NAMES:
            return []
        items = extract_items(normalise_lines(value))
        return [item for item in items if not is_placeholder(item) and not _is_loop(item, Section.STATE)]
    if isinstance(value, Mapping):
        return [text for key, inner in value.items() if key != "op" for text in _loose_texts(inner, depth + 1)]
    if isinstance(value, list | tuple):
        return [text for inner in value for text in _loose_texts(inner, depth + 1)]
    return []


def _note(text: str) -> list[str]:
    return [text.strip()[:200]] if text.strip() else []


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)[:80]
    except (TypeError, ValueError, RecursionError):
        return type(value).__name__
