"""The document as it is shown: cut to a share of the window, as one line, and as reminders.

Pure. The file on disk is never changed by any of this, and the sentinel is never shown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.model import Section
from core.text.anchors import find_anchors
from core.text.items import extract_items, read_items, render_item
from core.text.sentences import split_sentences
from core.text.tokens import estimate_tokens, truncate_tokens
from core.working_memory.bodies import strip_sentinel
from core.working_memory.document import HEADING, Document, Extra, parse_document, render_document
from core.working_memory.growth import THRESHOLD_ITEMS, THRESHOLD_TOKENS, measure
from core.working_memory.guards.title import read_title

MAX_ABSTRACT_CHARS = 240

_FIRST = (Section.GOALS, Section.STATE, Section.ISSUES)  # after the title; none may starve another
_REST = (Section.FACTS, Section.ERRORS, Section.FILES)
_PREAMBLE = "Preamble"  # what the user wrote before the first header; shown without a header
_NEWEST_FIRST = frozenset({Section.FACTS, Section.ERRORS, Section.FILES})
_ITALIC = re.compile(r"\s*(?:\*[^*]+\*|_[^_]+_)\s*$")
_EMPHASIS = re.compile(r"(\*\*|__|\*|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)|`|~~)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A document as it is shown, and how many items of which section are left out."""

    text: str
    tokens: int
    omitted: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Plan:
    """One section while items are chosen for it: all its units, and which are shown."""

    name: str
    units: list[str]
    order: list[int]
    shown: set[int]

    def render(self) -> str:
        """The section's text with the number left out; "" if nothing of it is shown."""
        if not self.shown:
            return ""
        lines = [self.units[i] for i in sorted(self.shown)]
        hidden = len(self.units) - len(lines)
        head = [] if self.name == _PREAMBLE else [f"## {self.name}"]
        return "\n".join([*head, *lines, *([_more(hidden)] if hidden else [])])


def _more(hidden: int) -> str:
    return f"(… +{hidden})"


def fit_overview(text: str, max_tokens: int) -> Overview:
    """Return the document within `max_tokens`: whole if it fits, else item by item."""
    shown = _without_sentinels(parse_document(text))
    whole = render_document(shown)
    if estimate_tokens(whole) <= max_tokens:
        return Overview(text=whole, tokens=estimate_tokens(whole))
    plans = _make_plans(shown)
    _choose_units(plans, max_tokens)
    result = _render(plans)
    while estimate_tokens(result) > max_tokens and any(plan.shown for plan in plans):
        last = next(plan for plan in reversed(plans) if plan.shown)
        last.shown.discard(next(i for i in reversed(last.order) if i in last.shown))
        result = _render(plans)
    if not any(plan.shown for plan in plans):
        result = truncate_tokens(read_title(shown.bodies[Section.TITLE]), max_tokens)
    omitted = {plan.name: len(plan.units) - len(plan.shown) for plan in plans}
    return Overview(
        text=result,
        tokens=estimate_tokens(result),
        omitted={name: number for name, number in omitted.items() if number},
    )


def _without_sentinels(document: Document) -> Document:
    return Document(
        bodies={section: strip_sentinel(body) for section, body in document.bodies.items()},
        extra=tuple(Extra(extra.header, strip_sentinel(extra.body)) for extra in document.extra),
        preamble=strip_sentinel(document.preamble),
    )


def _render(plans: list[_Plan]) -> str:
    """The chosen units in the document's own order; empty sections are not shown."""
    places = [_PREAMBLE, *(section.value for section in Section)]
    parts = sorted(plans, key=lambda plan: places.index(plan.name) if plan.name in places else len(places))
    return "\n\n".join([HEADING, *(text for plan in parts if (text := plan.render()))]) + "\n"


def _make_plans(document: Document) -> list[_Plan]:
    """All filled sections in the order in which they may take tokens."""
    plans = []
    for section in (Section.TITLE, *_FIRST, *_REST):
        units = _split_units(section, document.bodies[section])
        if units:
            plans.append(_Plan(section.value, units, _rank(section, units), set()))
    extras = [(extra.header, [render_item(item) for item in extract_items(extra.body)]) for extra in document.extra]
    extras.append((_PREAMBLE, [document.preamble] if document.preamble else []))
    plans += [_Plan(name, items, list(range(len(items))), set()) for name, items in extras if items]
    return plans


def _split_units(section: Section, body: str) -> list[str]:
    """What is shown or left out as a whole: the title, sentences of the state, items of the rest."""
    if section is Section.TITLE:
        title = read_title(body)
        return [title] if title else []
    if section is not Section.STATE:
        return [render_item(item.alone) for item in read_items(body)]
    units: list[str] = []
    for item in read_items(body):
        line = body.split("\n")[item.first_line]
        sentences = split_sentences(item.text) if "\n" not in item.text else (item.text,)
        units += [f"- {text}" if line.lstrip()[:2] == "- " else text for text in sentences]
    return units


def _rank(section: Section, units: list[str]) -> list[int]:
    """The order in which a section's units are taken."""
    order = list(range(len(units)))
    if section in _NEWEST_FIRST:
        order.reverse()
    if section is Section.FACTS:
        order.sort(key=lambda i: not find_anchors(units[i]).hard)
    return order


def _choose_units(plans: list[_Plan], max_tokens: int) -> None:
    """Take units while they fit, keeping room for the first unit of the sections that must not starve."""
    left = max_tokens - estimate_tokens(HEADING) - 1
    heads = {plan.name: _opening_cost(plan) for plan in plans}
    must = {section.value for section in _FIRST}
    waiting = [plan.name for plan in plans if plan.name in must]
    for plan in plans:
        if plan.name in waiting:
            waiting.remove(plan.name)
        reserved = sum(heads[name] for name in waiting)
        for i in plan.order:
            first = not plan.shown
            cost = estimate_tokens(plan.units[i]) + 1
            cost += estimate_tokens(f"\n\n## {plan.name}\n{_more(len(plan.units))}") if first else 0
            if cost <= left - reserved:
                plan.shown.add(i)
                left -= cost
            elif first and plan.name in must | {Section.TITLE.value}:
                left -= _take_cut(plan, i, left - reserved)


def _opening_cost(plan: _Plan) -> int:
    """What a section needs to show its first unit, a long one cut to 60 tokens."""
    first = min(60, estimate_tokens(plan.units[plan.order[0]]))
    return first + 1 + estimate_tokens(f"\n\n## {plan.name}\n{_more(len(plan.units))}")


def _take_cut(plan: _Plan, i: int, room: int) -> int:
    """Show a unit that is too long in part, if that is worth it; return what it costs."""
    head = 1 + estimate_tokens(f"\n\n## {plan.name}\n{_more(len(plan.units))}")
    if room - head < 12:
        return 0
    plan.units[i] = truncate_tokens(plan.units[i], room - head)
    plan.shown.add(i)
    return head + estimate_tokens(plan.units[i])


def make_abstract(text: str) -> str:
    """Return a document in one line of at most 240 characters."""
    document = parse_document(text)
    title = _plain(read_title(document.bodies[Section.TITLE]))
    state = _first_sentence(document.bodies[Section.STATE])
    line = " — ".join(part for part in (title, state) if part)
    if not line:
        filled = [body for body in document.bodies.values() if extract_items(body)]
        line = _plain(extract_items(filled[0])[0]) if filled else ""
    return line if len(line) <= MAX_ABSTRACT_CHARS else line[: MAX_ABSTRACT_CHARS - 1].rstrip() + "…"


def _first_sentence(body: str) -> str:
    items = [item for item in extract_items(body) if not _ITALIC.match(item)]
    sentences = split_sentences(items[0]) if items else ()
    return _plain(sentences[0]) if sentences else ""


def _plain(text: str) -> str:
    """Text on one line without marks of emphasis."""
    return " ".join(_EMPHASIS.sub("", text).split())


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeWarning:
    """A section over one of its targets."""

    section: Section
    items: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminders:
    """Sections that are too long, and the block for the update prompt; "" when there is none."""

    warnings: tuple[SizeWarning, ...]
    text: str


def make_reminders(text: str) -> Reminders:
    """Return which sections of a document are over 25 items or 1500 tokens."""
    warnings = []
    for section, body in parse_document(text).bodies.items():
        size = measure(body)
        if size.items > THRESHOLD_ITEMS or size.tokens > THRESHOLD_TOKENS:
            warnings.append(SizeWarning(section=section, items=size.items, tokens=size.tokens))
    lines = [_word_warning(warning) for warning in warnings]
    block = "\n".join(["<section_size_warnings>", *lines, "</section_size_warnings>"]) if lines else ""
    return Reminders(warnings=tuple(warnings), text=block)


def _word_warning(warning: SizeWarning) -> str:
    then = "Consolidate it with UPDATE and keep every fact."
    if warning.section is Section.ERRORS:
        then = "Nothing to do: its oldest entries are folded away by the program."
    return (
        f"- {warning.section.value}: {warning.items} items, about {warning.tokens} tokens "
        f"(targets: {THRESHOLD_ITEMS} items, {THRESHOLD_TOKENS} tokens). {then}"
    )
