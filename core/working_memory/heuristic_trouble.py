"""Errors the user reports and corrections they make, with the known line that a correction changes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from core.model import Section
from core.text.clauses import Clause, fold
from core.text.due import find_due
from core.working_memory.heuristic_dates import add_date
from core.working_memory.heuristic_model import Known, Proposal, TurnText
from core.working_memory.heuristic_rules import Rules, load_line_rules
from core.working_memory.heuristic_terms import is_repeat, strip_tags

MAX_LINES = 2  # a turn and kind
MAX_CHARS = 180
_MAX_VALUE_WORDS = 6
_SOME_DAY = datetime(2000, 1, 3)
_CHECKED = (Section.FACTS, Section.GOALS, Section.ISSUES, Section.FILES)
_EDGES = " \t\n,;:，；：、-–—"


@dataclass(frozen=True, slots=True, kw_only=True)
class TroubleReading:
    """What a turn says of trouble."""

    corrections: tuple[tuple[str, str, str], ...]  # line, old value, new value
    errors: tuple[tuple[str, bool], ...]  # line, and whether it tells that something reported is fixed


def read_trouble(turn: TurnText, clauses: tuple[Clause, ...], said_at: datetime | None) -> TroubleReading:
    """Return what a turn says of trouble, whatever memory holds."""
    return TroubleReading(corrections=tuple(_corrections(clauses)), errors=tuple(_errors(turn.user, clauses, said_at)))


def find_trouble(turn: TurnText, reading: TroubleReading, known: Known) -> list[Proposal]:
    """Return error lines, corrections, and known lines with the corrected value in its place."""
    known_lines = list(known.of(Section.ERRORS))
    proposals: list[Proposal] = []
    for text, old, new in reading.corrections[:MAX_LINES]:
        replaced = _replaced(turn, known, old, new) if old and new else []
        if replaced:
            text = f"{text} ({strip_tags(replaced[0].text)})"
        if not is_repeat(text, known_lines):
            known_lines.append(text)
            proposals.append(Proposal(section=Section.ERRORS, text=text, turns=(turn.turn,)))
        proposals += replaced
    errors = 0
    said = {text for text, _, _ in reading.corrections}
    reported = bool(known.of(Section.ERRORS))
    for text, fixed in reading.errors:
        if text in said or (fixed and not reported):
            continue
        if errors < MAX_LINES and not is_repeat(text, known_lines):
            errors += 1
            known_lines.append(text)
            proposals.append(Proposal(section=Section.ERRORS, text=text, turns=(turn.turn,)))
    return proposals


def _errors(text: str, clauses: tuple[Clause, ...], said_at: datetime | None) -> Iterable[tuple[str, bool]]:
    """Yield error messages as they were pasted, then what the user says is broken, or (True) fixed."""
    rules = load_line_rules("en")
    if rules is not None and len(text) < 100_000:
        pasted = [line.strip() for line in text.splitlines() if rules.error_lines.search(line)]
        for line in pasted[-MAX_LINES:]:
            yield rules.log_stamp.sub("", line)[:MAX_CHARS].rstrip(".。"), False
    for clause in clauses:
        own = load_line_rules(clause.language)
        if own is None or clause.question or clause.barred or own.not_error.search(clause.words):
            continue
        if own.error_clauses.search(fold(clause.text)):
            line = _line(clause)
            if len(line) >= 6 and not own.vague_subject.match(clause.words):
                yield add_date(line, said_at, clause.language), False
        elif own.fixes.search(clause.words):
            yield _capital(clause.sentence.strip(" \n.。!！"))[:MAX_CHARS], True


def _corrections(clauses: tuple[Clause, ...]) -> Iterable[tuple[str, str, str]]:
    """Yield (line, old value, new value); the values are empty where the user does not name both."""
    seen: set[int] = set()
    for clause in clauses:
        rules = load_line_rules(clause.language)
        if rules is None or clause.question or clause.number in seen:
            continue
        sentence = fold(clause.sentence).strip(".!。！ ")
        if rules.rhetoric.search(sentence):
            continue
        old, new = _contrast(clause.sentence.strip(".!。！ "), sentence, rules)
        explicit = rules.corrected.search(sentence) is not None
        if explicit or (old and _is_exact(old + " " + new, rules, clause.language)):
            seen.add(clause.number)
            yield _capital(_said(clause))[:MAX_CHARS], old, new


def _said(clause: Clause) -> str:
    """Return the sentence of a clause from that clause on, without "sorry" and the like before it."""
    start = clause.sentence.find(clause.text)
    return (clause.sentence[start:] if start >= 0 else clause.sentence).strip(" \n.。!！")


def _capital(text: str) -> str:
    return text if re.match(r"\w*[A-Z_./\d]", text) else text[:1].upper() + text[1:]


def _contrast(written: str, folded: str, rules: Rules) -> tuple[str, str]:
    if not any(word in folded for word in rules.contrast_words):
        return "", ""
    for pattern in rules.contrast:
        if match := pattern.search(folded):
            old, new = match.span("old"), match.span("new")
            if max(len(match["old"].split()), len(match["new"].split())) > _MAX_VALUE_WORDS:
                continue
            return written[slice(*old)].strip(_EDGES), written[slice(*new)].strip(_EDGES)
    return "", ""


def _is_exact(values: str, rules: Rules, language: str) -> bool:
    """Say whether the values are things (a number, a name, a quotation, a day), not ways of speaking."""
    if rules.number.search(values) is not None or rules.name.search("x " + values) is not None:
        return True
    return find_due(fold(values), _SOME_DAY, language) is not None


def _replaced(turn: TurnText, known: Known, old: str, new: str) -> list[Proposal]:
    """Return the newest known line that holds the old value, with the new one in its place."""
    value = re.compile(rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])", re.IGNORECASE)
    for section in _CHECKED:
        for line in reversed(known.of(section)):
            if value.search(line):
                text = value.sub(lambda _: new, line, count=1)
                return [Proposal(section=section, text=text, turns=(turn.turn,), replaces=line)]
    return []


def _line(clause: Clause) -> str:
    text = clause.text if len(clause.text) >= 12 else clause.sentence.strip(" .。!！")
    return _capital(text)[:MAX_CHARS]
