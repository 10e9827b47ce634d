"""Where a sentence orders memory to remember or forget something, and which of its words say what.

Pure. Sentences come masked and folded (`core.text.clauses`), as places in a message. An order opens a sentence
("Please remember that …"), is joined to one ("I'm Ada, and remember that I …") or ends one ("…, remember that"):
the last two only about the user, for anything else is a way of speaking. Relies on `resources/rules/statements.*`.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

from core.text.rules import RuleTable, load_rules

REMEMBER, FORGET = "remember", "forget"
_EDGES = " \t\n,;，；、"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order in a sentence; places count in the message."""

    command: str  # REMEMBER or FORGET
    head: int  # where it begins, with "please" and the like before it
    start: int  # what it is about; start == end where that stands before or behind the sentence
    end: int
    standing: bool = False  # "from now on …": the words of the order belong to what it is about
    listed: bool = False  # "remember: …"
    trailing: bool = False  # "…, remember that": it is about what stands before


@dataclass(frozen=True, slots=True)
class _Rules:
    gate: tuple[str, ...]
    opener: re.Pattern[str]
    polite: re.Pattern[str]
    asking: re.Pattern[str]
    forms: tuple[tuple[str, bool, tuple[re.Pattern[str], ...], re.Pattern[str]], ...]  # command, standing, forms, not
    not_later: re.Pattern[str]
    joint: re.Pattern[str]
    own: re.Pattern[str]
    told: re.Pattern[str]
    trailing: re.Pattern[str]
    ahead: re.Pattern[str]
    alone: re.Pattern[str]
    request: re.Pattern[str]
    onward: re.Pattern[str]


def may_order(words: str) -> bool:
    """Say whether a folded text may hold an order: a cheap look at it."""
    return any(map(words.__contains__, _load_gate()))


def find_order(words: str, start: int, end: int, stop: str, *, first: bool) -> Order | None:
    """Return the order that a sentence gives; `stop` is the mark that ends it, `first` where it opens the message.

    What follows an order in its sentence and asks for something else ("…, what can I cook?") is no part of it.
    """
    for rules in _load():
        if any(words.find(word, start, end) >= 0 for word in rules.gate) and not _is_quoted(words, start):
            ends = [(onward.start(), "") for onward in rules.onward.finditer(words, start, end)]
            for until, mark in (*ends, (end, stop)):
                if order := _find(words, start, until, mark, rules, first=first):
                    return order
    return None


def _find(words: str, start: int, end: int, stop: str, rules: _Rules, *, first: bool) -> Order | None:
    """Return the order in a piece of a sentence."""
    asks = "?" in stop or "？" in stop or rules.asking.search(words, start, end) is not None
    order = _opening(words, start, end, rules, asks=asks, first=first)
    if order is None:
        return None if asks else _joined(words, start, end, rules) or _trailing(words, start, end, rules)
    particle = rules.asking.search(words, order.start, order.end)
    return order if particle is None else replace(order, end=particle.start())


def is_own(words: str, start: int, end: int) -> bool:
    """Say whether a sentence is about the user, whatever its language."""
    return any(_is_own(words, start, end, rules) for rules in _load())


def is_request(words: str) -> bool:
    """Say whether folded words ask for something to be done now: what an order to remember ends before."""
    return any(rules.request.match(words) for rules in _load())


def _opening(words: str, start: int, end: int, rules: _Rules, *, asks: bool, first: bool) -> Order | None:
    at = _skip_opener(words, start, end, rules)
    if asks and not rules.polite.search(words, start, at):
        return None  # "Remember that place?" asks, "Can you remember that I …?" does not
    if not first and rules.not_later.match(words, at, end):
        return None
    return _form(words, at, end, rules, head=start)


def _form(words: str, at: int, end: int, rules: _Rules, *, head: int) -> Order | None:
    """Return the order that stands at a place."""
    if rules.ahead.match(words, at, end):
        return Order(command=REMEMBER, head=head, start=end, end=end, listed=True)
    for command, standing, forms, idioms in rules.forms:
        if idioms.match(words, at, end):
            continue
        for form in forms:
            if found := form.match(words, at, end):
                begin = found.start("p")
                listed = words[at:begin].rstrip().endswith((":", "："))
                return Order(command=command, head=head, start=begin, end=end, standing=standing, listed=listed)
    return None


def _joined(words: str, start: int, end: int, rules: _Rules) -> Order | None:
    """Return an order to remember something of the user's that another clause stands before."""
    for joint in rules.joint.finditer(words, start, end):
        if rules.told.search(words, start, joint.start()):
            return None
        order = _form(words, _skip_opener(words, joint.end(), end, rules), end, rules, head=joint.start())
        said = order is not None and order.command == REMEMBER and not order.standing
        if order is not None and said and rules.own.match(words, order.start, end):
            return order
    return None


def _trailing(words: str, start: int, end: int, rules: _Rules) -> Order | None:
    """Return an order that ends a sentence, or is all of it."""
    found = rules.alone.match(words, start, end) or rules.trailing.search(words, start, end)
    if found is None or rules.told.search(words, start, found.start()):
        return None
    if words[start : found.start()].strip(_EDGES) and not _is_own(words, start, found.start(), rules):
        return None
    begin = min(_skip_opener(words, start, found.start(), rules), found.start())
    return Order(command=REMEMBER, head=found.start(), start=begin, end=found.start(), trailing=True)


def _is_quoted(words: str, start: int) -> bool:
    """Say whether a line ends with a colon before a sentence: then it shows what somebody said, or a text."""
    before = words[:start].rstrip(" \t")
    return before.endswith("\n") and before.rstrip().endswith((":", "："))


def _is_own(words: str, start: int, end: int, rules: _Rules) -> bool:
    """Say whether a clause of a sentence is about the user."""
    places = [start, *(joint.end() for joint in rules.joint.finditer(words, start, end))]
    return any(rules.own.match(words, _skip_opener(words, place, end, rules), end) for place in places)


def _skip_opener(words: str, at: int, end: int, rules: _Rules) -> int:
    opened = rules.opener.match(words, at, end)
    return opened.end() if opened else at


@cache
def _load_gate() -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for rules in _load() for word in rules.gate))


@cache
def _load() -> tuple[_Rules, ...]:
    return tuple(_rules(table) for table in load_rules("statements").values())


def _rules(statements: RuleTable) -> _Rules:
    table = statements.section("commands")
    bar, forget_bar = table.pattern("not_remember"), table.pattern("not_forget")
    return _Rules(
        gate=table.texts("gate"),
        opener=re.compile(table.expand(table.text("opener"))),
        polite=table.pattern("polite"),
        asking=table.pattern("asking"),
        forms=(
            (REMEMBER, False, table.patterns("remember"), bar),
            (REMEMBER, True, table.patterns("standing"), bar),
            (FORGET, False, table.patterns("forget"), forget_bar),
        ),
        not_later=table.pattern("not_later"),
        joint=table.pattern("joint"),
        own=table.pattern("own"),
        told=table.pattern("told"),
        trailing=table.pattern("trailing"),
        ahead=table.pattern("ahead"),
        alone=table.pattern("alone"),
        request=table.pattern("request"),
        onward=table.pattern("onward"),
    )
