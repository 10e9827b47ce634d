"""Anchors: the dates, numbers, names and references a statement hangs on, and what covers it.

Pure and language-independent; working-memory rules 6.4 to 6.7. Anchors are canonical, so that
`下午4点` and `4 PM` are one. Decision words and CJK terms are soft, everything else is hard.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from core.text.anchor_records import Anchor, Anchors, Kind
from core.text.dates import DateKind, Moment, find_moments, matches_date
from core.text.identifiers import find_identifiers, find_names
from core.text.keys import KeyIndex
from core.text.paths import covers, find_path_spans
from core.text.polarity import Polarity, polarity
from core.text.quantities import Quantity, find_quantities
from core.text.terms import content_terms, count_present, split_at_commas, split_parts
from core.text.wordlists import fold, words

__all__ = [
    "Anchor",
    "Anchors",
    "Holders",
    "Kind",
    "Polarity",
    "Prepared",
    "Statements",
    "content_terms",
    "coverage",
    "find_anchors",
    "is_covered",
    "is_present",
    "polarity",
    "prepare",
]


_DATES = {
    Kind.DATE: DateKind.DATE,
    Kind.PARTIAL_DATE: DateKind.PARTIAL,
    Kind.AMBIGUOUS_DATE: DateKind.AMBIGUOUS,
    Kind.TIME: DateKind.TIME,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A text made ready for many look-ups."""

    text: str
    folded: str  # NFKC, case folded
    loose: str  # also with hyphens, underscores and blanks alike
    moments: tuple[Moment, ...]
    quantities: tuple[Quantity, ...]
    values: Mapping[str, tuple[Quantity, ...]]  # the quantities by their value


_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af々ー"
_CJK_TERM = re.compile(rf"[{_CJK}]{{2,}}")
_CODE = re.compile(r"`{1,2}([^`\n]{1,120})`{1,2}")
_SENTINEL_LINE = re.compile(r"^.*\[⚠\ufe0f? CONSOLIDATION REQUIRED.*$", re.MULTILINE)
_TAG = re.compile(r"^(\s*(?:[-*+]\s+)?)((?:\[[^\]\n]{1,20}\]\s*)+)", re.MULTILINE)
_WORD = re.compile(rf"[^\W\d_{_CJK}]+")
_GLUED = re.compile(r"[A-Za-z0-9_][-.:/@#]$")  # before a number: part of an identifier
_LOOSE = re.compile(r"[\s_-]+")
_CACHED_LENGTH = 4_000  # characters
_TAKEN = "\x00"  # stands for what was recognised; no pattern matches across it


def find_anchors(text: str, context: str = "") -> Anchors:
    """Return the anchors of a text. Words capitalised inside `context` are names in `text` too."""
    if len(text) <= _CACHED_LENGTH and len(context) <= 4 * _CACHED_LENGTH:
        return _cached_anchors(text, context)
    return _find(text, context)


@lru_cache(maxsize=8_192)
def _cached_anchors(text: str, context: str) -> Anchors:
    return _find(text, context)


def prepare(text: str) -> Prepared:
    """Make a text ready for `is_present`; worth it when it is asked more than once."""
    return _cached_prepared(text) if len(text) <= 4 * _CACHED_LENGTH else _prepare(text)


@lru_cache(maxsize=1_024)
def _cached_prepared(text: str) -> Prepared:
    return _prepare(text)


def _prepare(text: str) -> Prepared:
    plain = _widen(_SENTINEL_LINE.sub(" ", text) if "⚠" in text else text)
    moments = find_moments(plain)
    rest = _blank(plain, [(m.start, m.end) for m in moments])
    folded = fold(plain)
    quantities = tuple(find_quantities(rest))
    values: dict[str, tuple[Quantity, ...]] = {}
    for quantity in quantities:
        values[quantity.value] = (*values.get(quantity.value, ()), quantity)
    return Prepared(
        text=text,
        folded=folded,
        loose=_LOOSE.sub(" ", folded),
        moments=moments,
        quantities=quantities,
        values=values,
    )


def is_present(anchor: Anchor, text: str | Prepared) -> bool:
    """Whether a text holds an anchor, in whatever form it writes it."""
    target = prepare(text) if isinstance(text, str) else text
    if anchor.kind in _DATES:
        return any(matches_date(anchor.text, _DATES[anchor.kind], other) for other in target.moments)
    if anchor.kind is Kind.NUMBER:
        same = target.values.get(anchor.value, ())
        return any(not anchor.unit or not other.unit or anchor.unit == other.unit for other in same)
    if anchor.kind is Kind.REFERENCE:
        return covers(anchor.text, target.text)
    if anchor.kind is Kind.TERM:
        return _holds_term(fold(anchor.text), target.folded)
    needle, exact = _needle(anchor.text)
    place = target.folded if exact else target.loose
    return needle in place and _whole_word(needle).search(place) is not None


@lru_cache(maxsize=8_192)
def _needle(text: str) -> tuple[str, bool]:
    """What is looked for in a text, and whether hyphens and blanks in it count."""
    folded = fold(text)
    if any(map(str.isdigit, text)):
        return folded, True
    return _LOOSE.sub(" ", folded), False


def coverage(old: str, new: str) -> float | None:
    """Return the share of an old body's anchors that a new one holds; None where it has none."""
    anchors = find_anchors(old).all
    if not anchors:
        return None
    target = prepare(new)
    return sum(is_present(anchor, target) for anchor in anchors) / len(anchors)


def is_covered(old_item: str, new_items: Iterable[str], context: str = "") -> bool:
    """Whether new items still say what an old one said (rule 6.7).

    `context` is the old body: a name that starts the old item is known by the rest of the body.
    """
    listed = tuple(new_items)
    return KeyIndex(listed).holds(old_item) or Statements(listed).say(old_item, context)


class Holders:
    """Items by the anchors that they hold; each is prepared once, however many anchors are looked for."""

    def __init__(self, items: Iterable[str]) -> None:
        self._targets = [(item, prepare(item)) for item in items]
        self._found: dict[Anchor, tuple[str, ...]] = {}

    def find(self, anchor: Anchor) -> tuple[str, ...]:
        """Return the items that hold an anchor, in order."""
        if anchor not in self._found:
            near = self._near(anchor)
            self._found[anchor] = tuple(item for item, target in near if is_present(anchor, target))
        return self._found[anchor]

    def _near(self, anchor: Anchor) -> list[tuple[str, Prepared]]:
        """The items that may hold an anchor, by a look that costs little."""
        if anchor.kind is Kind.NUMBER:
            return [self._targets[i] for i in self._by_value.get(anchor.value, ())]
        if anchor.kind in (Kind.IDENTIFIER, Kind.NAME):
            needle, exact = _needle(anchor.text)
            starts, text = self._folded if exact else self._loose
            places: list[int] = []
            at = text.find(needle)
            while at >= 0:
                place = bisect_right(starts, at) - 1
                places.append(place)
                at = text.find(needle, starts[place + 1]) if place + 1 < len(starts) else -1
            return [self._targets[place] for place in places]
        return self._targets

    @cached_property
    def _by_value(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for i, (_, target) in enumerate(self._targets):
            for value in target.values:
                found.setdefault(value, []).append(i)
        return found

    @cached_property
    def _folded(self) -> tuple[list[int], str]:
        return _join([target.folded for _, target in self._targets])

    @cached_property
    def _loose(self) -> tuple[list[int], str]:
        return _join([target.loose for _, target in self._targets])


def _join(texts: list[str]) -> tuple[list[int], str]:
    """Texts as one, with the place where each begins; nothing is found across two of them."""
    starts, at = [], 0
    for text in texts:
        starts.append(at)
        at += len(text) + 1
    return starts, "\x00".join(texts)


class Statements:
    """Items that are asked again and again whether one of them still says an old one (rule 6.7)."""

    def __init__(self, items: Iterable[str]) -> None:
        self._items = tuple(items)
        self._holders: Holders | None = None

    def say(self, old_item: str, context: str = "") -> bool:
        """Whether one of the items says an old one that none of them duplicates."""
        hard = find_anchors(old_item, context).hard
        terms = content_terms(old_item)
        if not hard and not terms:
            return False
        may = self._find_near(hard)
        if not may:
            return False
        parts = [part for part in map(content_terms, split_parts(old_item)) if part]
        return any(_says(old_item, hard, terms, parts, item) for item in may)

    def _find_near(self, hard: tuple[Anchor, ...]) -> Iterable[str]:
        """The items that hold all hard anchors; the kinds that are quickest to find narrow the search."""
        if not hard:
            return self._items
        if self._holders is None:
            self._holders = Holders(self._items)
        first, *rest = sorted(hard, key=_by_effort)
        may = self._holders.find(first)
        return [item for item in may if all(is_present(anchor, prepare(item)) for anchor in rest)]


_QUICK = (Kind.NUMBER, Kind.IDENTIFIER, Kind.NAME)


def _by_effort(anchor: Anchor) -> int:
    return _QUICK.index(anchor.kind) if anchor.kind in _QUICK else len(_QUICK)


def _says(old: str, hard: tuple[Anchor, ...], terms: frozenset[str], parts: list[frozenset[str]], new: str) -> bool:
    """Whether an item that holds all hard anchors of an old one says it."""
    said = content_terms(new)
    if any(count_present(part, said) * 2 < len(part) for part in parts):
        return False
    if not hard and count_present(terms, said) < 0.6 * len(terms):
        return False
    shared = [
        clause
        for clause in split_at_commas(new)
        if count_present(terms, content_terms(clause)) or any(is_present(a, clause) for a in hard)
    ]
    ours, theirs = polarity(old), [polarity(clause) for clause in shared]
    if sum(found.negations for found in theirs) != ours.negations:
        return False
    sides = frozenset[tuple[int, int]]().union(*(found.sides for found in theirs))
    return not ours.opposes(Polarity(negations=0, obligation=False, sides=sides))


def _find(text: str, context: str) -> Anchors:
    if "⚠" in text:
        text = _SENTINEL_LINE.sub("", text)
    if "[" in text:
        text = _TAG.sub(lambda found: found[1] + " " * len(found[2]), text)
    found: list[tuple[int, Anchor]] = []
    rest = text
    references = find_path_spans(text)
    found += [(start, Anchor(Kind.REFERENCE, reference)) for start, _, reference in references]
    rest = _blank(rest, [(start, end) for start, end, _ in references])
    rest = _widen(rest)
    for kind_found, spans in _layers(rest):
        found += kind_found
        rest = _blank(rest, spans)
    names = list(find_names(rest, context))
    found += [(start, Anchor(Kind.NAME, name)) for start, _, name in names]
    found += _soft_anchors(_blank(rest, [(start, end) for start, end, _ in names]))
    found.sort(key=lambda pair: pair[0])
    return Anchors(tuple(dict.fromkeys(anchor for _, anchor in found)))


def _widen(text: str) -> str:
    """Return a text in NFKC, but for the full-width comma, which never separates digits."""
    return unicodedata.normalize("NFKC", text.replace("，", "、"))


def _layers(text: str) -> Iterator[tuple[list[tuple[int, Anchor]], list[tuple[int, int]]]]:
    """Yield anchors and their places, most certain kind first; each kind sees what is left."""
    kinds = {kind: ours for ours, kind in _DATES.items()}
    moments = find_moments(text)
    yield (
        [(m.start, Anchor(kinds[m.kind], m.canonical)) for m in moments],
        [(m.start, m.end) for m in moments],
    )
    rest = _blank(text, [(m.start, m.end) for m in moments])
    quoted = [found for found in _CODE.finditer(rest) if _is_phrase(found[1])] if "`" in rest else []
    yield (
        [(q.start(), Anchor(Kind.IDENTIFIER, fold(q[1].strip()))) for q in quoted],
        [q.span() for q in quoted],
    )
    rest = _blank(rest, [q.span() for q in quoted])
    counted = [q for q in find_quantities(rest) if q.unit and not _GLUED.search(rest, max(0, q.start - 2), q.start)]
    yield _number_anchors(counted)
    rest = _blank(rest, [(q.start, q.end) for q in counted])
    identifiers = list(find_identifiers(rest))
    yield (
        [(start, Anchor(Kind.IDENTIFIER, name)) for start, _, name in _outermost(identifiers)],
        [(start, end) for start, end, _ in identifiers],
    )
    rest = _blank(rest, [(start, end) for start, end, _ in identifiers])
    yield _number_anchors(list(find_quantities(rest)))


def _number_anchors(found: list[Quantity]) -> tuple[list[tuple[int, Anchor]], list[tuple[int, int]]]:
    return (
        [(q.start, Anchor(Kind.NUMBER, q.canonical, q.value, q.unit)) for q in found],
        [(q.start, q.end) for q in found],
    )


def _outermost(found: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """Yield what does not lie inside a longer one."""
    done = 0
    for start, end, name in sorted(found, key=lambda place: (place[0], -place[1])):
        if start >= done:
            done = end
            yield start, end, name


def _is_phrase(code: str) -> bool:
    """Whether back-quoted text is an identifier of its own: not a number that is read as one."""
    return not re.fullmatch(r"[\s\d.,:%/-]*", code) and _TAKEN not in code


def _soft_anchors(rest: str) -> Iterator[tuple[int, Anchor]]:
    latin, cjk = _decision_words()
    for word in _WORD.finditer(rest):
        if word[0].casefold() in latin:
            yield word.start(), Anchor(Kind.DECISION, word[0].casefold())
    if rest.isascii():
        return
    for decision in cjk.finditer(rest):
        yield decision.start(), Anchor(Kind.DECISION, decision[0])
    for term in _CJK_TERM.finditer(cjk.sub(lambda found: _TAKEN * len(found[0]), rest)):
        yield term.start(), Anchor(Kind.TERM, term[0])


def _holds_term(term: str, folded: str) -> bool:
    if term in folded:
        return True
    pairs = [term[n : n + 2] for n in range(len(term) - 1)]
    return sum(pair in folded for pair in pairs) * 2 >= len(pairs)


def _blank(text: str, spans: list[tuple[int, int]]) -> str:
    if not spans:
        return text
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if end > done:
            start = max(start, done)
            pieces += (text[done:start], _TAKEN * (end - start))
            done = end
    return "".join((*pieces, text[done:]))


@lru_cache(maxsize=8_192)
def _whole_word(text: str) -> re.Pattern[str]:
    """A pattern for a text as whole words; a CJK neighbour is a boundary."""
    plural = "s?" if text in words("weekdays") else ""
    letter = rf"[^\W{_CJK}]"
    before = rf"(?<!{letter})" if re.match(letter, text) else ""
    after = rf"(?!{letter})" if re.search(rf"{letter}$", text) else ""
    after += r"(?!\.\d)" if text[-1:].isdigit() else ""
    return re.compile(before + re.escape(text) + plural + after)


@cache
def _decision_words() -> tuple[frozenset[str], re.Pattern[str]]:
    listed = words("decision")
    cjk = sorted((word for word in listed if word[0] >= "\u3000"), key=len, reverse=True)
    return frozenset(w for w in listed if w[0] < "\u3000"), re.compile("|".join(map(re.escape, cjk)))
