"""Parked lists, found by what their lines say.

Pure. A list grows for as long as a conversation lasts, and each commit asks the same of it: does it hold this line,
what of it does the section say now, what is known of that line. So its index is kept and follows the list from commit
to commit: what is asked costs what changed, not what waits.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import is_
from threading import local

from core.model import ParkedLine
from core.text.items import split_entry
from core.text.keys import KeyIndex, read_key
from core.text.normal_form import list_clauses

KEPT_FROM_LINES = 64  # shorter lists are indexed anew each time
MOST_KEPT = 2  # lists; few are ever so long

Name = str | tuple[str, ...]


class ParkedIndex:
    """The lines of one list; they are told apart as objects."""

    def __init__(self, lines: Iterable[ParkedLine] = ()) -> None:
        self._lines: dict[int, ParkedLine] = {}
        self._by_name: dict[Name, list[ParkedLine]] = {}  # key, words, first line
        self._by_clause: dict[Name, list[ParkedLine]] = {}  # what the first of several clauses is called
        self._odd: dict[int, ParkedLine] = {}  # may be said in a way that no name tells
        self._split: set[int] = set()  # hold several items, or a marker
        self._unchecked: dict[int, ParkedLine] = {}
        for line in lines:
            self.add(line)

    def __contains__(self, line: ParkedLine) -> bool:
        return id(line) in self._lines

    def add(self, line: ParkedLine) -> None:
        """Add a line at the end."""
        doubles = self._find(line.text)
        if doubles or _says_more_than_its_names(line.text):
            self._odd.update((id(each), each) for each in (*doubles, line))
        if split_entry(line.text) != (line.text,):
            self._split.add(id(line))
        self._lines[id(line)] = self._unchecked[id(line)] = line
        for index, name in self._list_names(line):
            index.setdefault(name, []).append(line)

    def remove(self, line: ParkedLine) -> None:
        """Take a line out."""
        del self._lines[id(line)]
        self._odd.pop(id(line), None)
        self._unchecked.pop(id(line), None)
        self._split.discard(id(line))
        for index, name in self._list_names(line):
            left = [other for other in index[name] if other is not line]
            if left:
                index[name] = left
            else:
                del index[name]

    def follow(self, before: Sequence[ParkedLine], lines: Sequence[ParkedLine]) -> bool:
        """Hold these lines instead of those before; False, and nothing is changed, where most of them are others."""
        same = list(map(is_, before, lines))
        alike = same.index(False) if False in same else len(same)  # as a rule something came to the end
        wanted, left = ({id(line): line for line in each[alike:]} for each in (lines, before))
        come, gone = wanted.keys() - left.keys(), left.keys() - wanted.keys()
        if 2 * (len(come) + len(gone)) > len(lines):
            return False
        for each in gone:
            self.remove(left[each])
        for each in wanted if come else ():
            if each in come:
                self.add(wanted[each])
        return True

    def holds(self, text: str, among: Callable[[ParkedLine], bool] = lambda _: True) -> bool:
        """Whether a text is a duplicate of a line, as `KeyIndex` has it; of those only that are `among`."""
        return any(among(line) for line in self._find(text))

    def find(self, key: str) -> ParkedLine | None:
        """Return the last line with a key that somebody is known to have written."""
        named = self._by_name.get(key, ())
        found = [line for line in named if line.origin is not None and read_key(line.text).text == key]
        return found[-1] if found else None

    def find_failing(self, check: Callable[[str], bool]) -> list[ParkedLine]:
        """Return the lines whose text fails a check, always the same one; what passed it is not checked again."""
        failing = [line for line in self._unchecked.values() if not check(line.text)]
        self._unchecked = {id(line): line for line in failing}
        return failing

    def list_near(self, body: KeyIndex) -> list[ParkedLine]:
        """Return every line that a body may say, and some that it does not; in no order."""
        if self._split:  # what is in them says the same as other lines, or does not
            return list(self._lines.values())
        near = dict(self._odd)
        for name in body.names():
            for line in (*self._by_name.get(name, ()), *self._by_clause.get(name, ())):
                near[id(line)] = line
        return list(near.values())

    def _find(self, text: str) -> list[ParkedLine]:
        """Return the lines of which a text is a duplicate."""
        key = read_key(text)
        if not key.text:
            return []
        found = [*self._by_name.get(key.text, ()), *(self._by_name.get(key.words, ()) if key.words else ())]
        if key.ends_in_colon:
            opening = f"{key.text}:"
            found += [line for line in self._lines.values() if read_key(line.text).text.startswith(opening)]
        return [line for line in found if not key.stamp or read_key(line.text).stamp in (key.stamp, "")]

    def _list_names(self, line: ParkedLine) -> Iterator[tuple[dict[Name, list[ParkedLine]], Name]]:
        key = read_key(line.text)
        names: set[Name] = {key.text, key.words, key.first_line}
        yield from ((self._by_name, name) for name in names if name)
        if clauses := list_clauses(line.text):
            first = read_key(clauses[0])
            openings: set[Name] = {first.text, first.words}
            yield from ((self._by_clause, name) for name in openings if name)


def index_parked(lines: tuple[ParkedLine, ...]) -> ParkedIndex:
    """Return the index of a list; it is good until this is called again."""
    if len(lines) < KEPT_FROM_LINES:
        return ParkedIndex(lines)
    kept = _kept.lists
    for place, (held, index) in enumerate(kept):
        if held is lines or (lines[len(lines) // 2] in index and index.follow(held, lines)):
            del kept[place]
            break
    else:
        index = ParkedIndex(lines)
    kept.insert(0, (lines, index))
    del kept[MOST_KEPT:]
    return index


class _Kept(local):
    """The latest lists of a thread, each with its index."""

    def __init__(self) -> None:
        self.lists: list[tuple[tuple[ParkedLine, ...], ParkedIndex]] = []


_kept = _Kept()


def _says_more_than_its_names(text: str) -> bool:
    """Whether a text is said too by what it begins, with or without its first clause."""
    clauses = list_clauses(text)
    return any(read_key(each).ends_in_colon for each in (text, *clauses[:1]))
