"""The orders to remember or forget in a message, each with what it is about.

Pure. Relies on `core.text.order_rules` for where they stand. Code, quotations and material handed over hold none, and
what somebody else said does not; an order ends where the user asks for something else.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.text.clauses import Clause, drop_foreign, find_material, fold, hide_spans, read_clauses, split_spans
from core.text.order_rules import Order, find_order, is_own, is_request, may_order
from core.text.statements import match_statement

COMMAND_CONFIDENCE = 0.9
MAX_COMMANDS = 8  # a message
_MAX_CHARS_READ = 4_000
_EDGES = " \t\n:：,，;；-–—*+•·"

_Span = tuple[int, int, str]  # start, end and stop of a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCommand:
    """An order to remember or forget, with what it is about."""

    command: str  # "remember" or "forget"
    payload: str


def find_command(text: str) -> MemoryCommand | None:
    """Return the first order to remember or forget in a message, if there is one."""
    return next(iter(find_commands(text)), None)


@lru_cache(maxsize=64)  # several rooms ask about the message at hand
def find_commands(text: str) -> tuple[MemoryCommand, ...]:
    """Return the orders to remember or forget in a message, in order, each payload once."""
    prose = drop_foreign(text[:_MAX_CHARS_READ])
    folded = fold(prose)
    if not may_order(folded):
        return ()
    prose = prose[: find_material(folded)]
    words = hide_spans(prose)
    found = dict.fromkeys(_read(prose, words, list(split_spans(words))))
    return tuple(found)[:MAX_COMMANDS]


def _read(prose: str, words: str, spans: Sequence[_Span]) -> Iterator[MemoryCommand]:
    for place, (start, end, stop) in enumerate(spans):
        order = find_order(words, start, end, stop, first=not words[:start].strip())
        if order is None:
            continue
        for payload in _payloads(prose, words, spans, place, order):
            if payload := payload.strip(_EDGES).rstrip(".。!！?？"):
                yield MemoryCommand(command=order.command, payload=payload)


def _payloads(prose: str, words: str, spans: Sequence[_Span], place: int, order: Order) -> Iterator[str]:
    if order.start < order.end:
        whole = order.listed and order.end == spans[place][1]
        end = _goes_on(prose, words, spans, place) if whole else order.end
        yield prose[order.start : end]
    elif order.listed:
        for start, end, stop in spans[place + 1 :]:
            if "?" in stop or "？" in stop or "\n\n" in prose[spans[place][1] : start].lstrip(":：\n"):
                return
            yield prose[start:end]
    elif place and order.trailing:
        start, end, stop = spans[place - 1]
        if "?" not in stop and "？" not in stop and is_own(words, start, end):
            yield prose[start:end]


def _goes_on(prose: str, words: str, spans: Sequence[_Span], place: int) -> int:
    """Return where "remember: …" ends: behind the sentences of its line that state something of the user too."""
    last = spans[place][1]
    for start, end, stop in spans[place + 1 :]:
        sentence = prose[start:end] + stop
        if "\n" in prose[last:start] or find_order(words, start, end, stop, first=False):
            break
        clauses = read_clauses(sentence)
        if not clauses or any(match_statement(clause) is None or _asks(clause) for clause in clauses):
            break
        last = end
    return last


def _asks(clause: Clause) -> bool:
    return clause.question or is_request(clause.words)
