"""How the parked lists of a version are stored: as what changed since the version before, now and then whole.

A value is compressed JSON: `{"id": word, "whole": {section: [line, ...]}}`, or `{"id": word, "changed": {section:
{"gone": [place, ...], "come": [line, ...]}}}` with places in the list before; sections that are not named are not
there. No two have the same `id`: what a value leads to depends on those before it.
"""

import json
import secrets
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from operator import is_
from threading import local
from typing import Any, NamedTuple

from core.model import Decision, MemoryLine, Origin, ParkedLine, Section, TurnId

Parked = Mapping[Section, tuple[ParkedLine, ...]]

LEVEL = 3  # of compression: half the time of the default for a tenth more bytes
MOST_STEPS = 64  # changes on top of a whole one: what a cold read takes, against a whole list so many times as often


class _Change(NamedTuple):
    gone: list[int]
    come: list[ParkedLine]


def write(parked: Parked, before: Parked | None, steps_before: int | None) -> tuple[int, bytes]:
    """Return how many changes lead to the value from a whole one, and the value.

    `before` is the list of the version before, `steps_before` how far that is from a whole one; None where there is
    none to build on.
    """
    changes = None
    if before is not None and steps_before is not None and steps_before < MOST_STEPS:
        changes = {section: _compare(before.get(section, ()), lines) for section, lines in parked.items()}
    if changes is not None and all(change is not None for change in changes.values()):
        changed = {
            section: {"gone": change.gone, "come": [pack(line) for line in change.come]}
            for section, change in changes.items()
            if change is not None
        }
        steps, value = (steps_before or 0) + 1, _compress({"id": _name(), "changed": changed})
    else:
        steps, value = 0, _compress_whole(parked)
    _latest.hold(value, parked)
    return steps, value


@lru_cache(maxsize=2)
def read(chain: tuple[bytes, ...]) -> Parked:
    """Return the lists that a whole value and the changes after it lead to, in order.

    Versions are written and read one after the other, and lines that stay are the same objects then: quick to compare,
    held once.
    """
    known = _latest.find(chain[-1])
    if known is not None:
        return known
    value = json.loads(zlib.decompress(chain[-1]))
    if "whole" in value:
        return parse(value["whole"])
    before = read(chain[:-1])
    return {
        Section(name): (
            *_leave_out(before.get(Section(name), ()), change["gone"]),
            *map(_read_line, change["come"]),
        )
        for name, change in value["changed"].items()
    }


class _Latest(local):
    """What a thread wrote last: it is read next, as a rule."""

    def __init__(self) -> None:
        self._value = b""
        self._lists: Parked = {}

    def hold(self, value: bytes, lists: Parked) -> None:
        self._value, self._lists = value, lists

    def find(self, value: bytes) -> Parked | None:
        """Return the lists of a value if it is the one that was written."""
        return self._lists if self._value == value else None


_latest = _Latest()


def parse(lists: Mapping[str, Sequence[Mapping[str, Any]]]) -> Parked:
    """Return whole lists."""
    return {Section(name): tuple(map(_read_line, lines)) for name, lines in lists.items()}


def pack(record: MemoryLine | ParkedLine | Decision) -> dict[str, object]:
    """Return a record's fields as they are: they hold plain values, which `asdict` would copy one by one."""
    return {name: getattr(record, name) for name in record.__slots__}


def _compare(before: Sequence[ParkedLine], after: Sequence[ParkedLine]) -> _Change | None:
    """Return what leads from one list to the other; None if it is no removal with something at the end."""
    same = list(map(is_, before, after))
    alike = same.index(False) if False in same else len(same)  # as a rule something came to the end
    places = {id(line): place for place, line in enumerate(before[alike:], start=alike)}
    kept: list[int] = []
    for line in after[alike:]:
        place = places.get(id(line))
        if place is None:
            break
        kept.append(place)
    come = list(after[alike + len(kept) :])
    if any(id(line) in places for line in come) or any(a >= b for a, b in pairwise(kept)):
        return None
    if len(come) > len(after) // 2 and len(after) > 1:
        return None  # whole is as short
    stays = set(kept)
    return _Change([place for place in range(alike, len(before)) if place not in stays], come)


def _leave_out(lines: Sequence[ParkedLine], places: Iterable[int]) -> list[ParkedLine]:
    left = list(lines)
    for place in sorted(places, reverse=True):
        del left[place]
    return left


def _compress_whole(parked: Parked) -> bytes:
    """Write a line at a time: the text of a long list would be held many times over."""
    packer, parts = zlib.compressobj(LEVEL), list[bytes]()

    def put(text: str) -> None:
        parts.append(packer.compress(text.encode()))

    put(f'{{"id": "{_name()}", "whole": {{')
    for number, (section, lines) in enumerate(parked.items()):
        put(f"{', ' if number else ''}{json.dumps(section)}: [")
        for place, line in enumerate(lines):
            put(f"{', ' if place else ''}{json.dumps(pack(line), ensure_ascii=False)}")
        put("]")
    put("}}")
    return b"".join([*parts, packer.flush()])


def _name() -> str:
    return secrets.token_hex(8)


def _compress(value: object) -> bytes:
    return zlib.compress(json.dumps(value, ensure_ascii=False).encode(), LEVEL)


def _read_line(row: Mapping[str, Any]) -> ParkedLine:
    return ParkedLine(
        text=row["text"],
        reason=row["reason"],
        turns=tuple(map(TurnId, row["turns"])),
        origin=Origin(row["origin"]) if row.get("origin") else None,
        at=row.get("at"),
    )
