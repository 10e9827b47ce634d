"""Clauses of the user's that are worth a line: facts, goals, open issues; and what they close.

Pure. Each line is in the user's own words, clear when read alone, and said once.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.model import Section
from core.text.clauses import Clause, fold
from core.text.due import find_due
from core.text.statements import StatementKind, match_statement
from core.working_memory.heuristic_closing import find_closed
from core.working_memory.heuristic_dates import add_date, add_day, add_due
from core.working_memory.heuristic_model import Known, Proposal, TurnText
from core.working_memory.heuristic_rules import Rules, load_line_rules
from core.working_memory.heuristic_terms import find_nearest, find_terms, is_repeat, strip_tags

MAX_LINE_CHARS = 220
MAX_FACTS, MAX_GOALS, MAX_ISSUES = 3, 2, 2  # a turn
_NEEDED_SCORE = 2.0
_DELIVERED_CHARS = 120  # a reply of this length did what was asked
_LONG_CHARS = 80  # a clause of this length says what its last pronoun means
_THIN_ISSUE_TERMS = 4
_DATED_TERMS = 4
_SOME_DAY = datetime(2000, 1, 3)
_EDGES = " \t\n.,;:!?…。，；：！？、~～-–—"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that a clause offers."""

    section: Section
    text: str
    score: float
    place: int
    language: str
    lasting: bool = False  # a fact that is true beyond the conversation


def read_lines(turn: TurnText, clauses: tuple[Clause, ...], said_at: datetime | None) -> tuple[Line, ...]:
    """Return every line that a turn offers, whatever memory holds."""
    return tuple(_read(clauses, said_at, turn.reply))


def find_lines(turn: TurnText, clauses: tuple[Clause, ...], lines: Sequence[Line], known: Known) -> list[Proposal]:
    """Return the facts, goals and open issues of a turn (of `lines`), and the goals and issues that it closes."""
    proposals = list(find_closed(turn, clauses, known))
    closed = {proposal.replaces for proposal in proposals}
    said: list[str] = []  # in this turn, whatever the section
    for section, limit in ((Section.ISSUES, MAX_ISSUES), (Section.GOALS, MAX_GOALS), (Section.FACTS, MAX_FACTS)):
        own = [line for line in lines if line.section is section]
        taken = [*_neighbours(known, section), *said]
        kept: list[Line] = []
        for line in sorted(own, key=lambda line: (-line.score, line.place)):
            if len(kept) < limit and not is_repeat(line.text, taken) and not _is_part(line.text, taken):
                kept.append(line)
                taken.append(line.text)
                said.append(line.text)
        for line in sorted(kept, key=lambda line: line.place):
            replaced = _retracted(line, known) if section is Section.FACTS else None
            proposals.append(
                Proposal(
                    section=section,
                    text=line.text,
                    turns=(turn.turn,),
                    replaces=replaced if replaced not in closed else None,
                )
            )
    return proposals


def _is_part(text: str, lines: Iterable[str]) -> bool:
    """Say whether a line stands in another word for word ("I learn X" in "I learn X, but I don't know how")."""
    own = fold(strip_tags(text))
    return any(own in fold(line) for line in lines)


def _neighbours(known: Known, section: Section) -> Iterable[str]:
    """Yield the lines a new one of this section must not repeat."""
    for other in (Section.FACTS, Section.GOALS, Section.ISSUES):
        if other is section or section is not Section.ISSUES:
            yield from known.of(other)


def _read(clauses: tuple[Clause, ...], said_at: datetime | None, reply: str) -> Iterable[Line]:
    """Yield every line that the clauses offer, unlimited."""
    used: set[tuple[int, str]] = set()
    for place, clause in enumerate(clauses):
        rules = load_line_rules(clause.language)
        if rules is None:
            yield from _plain_statement(clause, place)
            continue
        found = (
            _issue(clause, clauses, place, rules)
            or _goal(clause, clauses, place, rules, said_at, reply)
            or read_fact(clause, clauses, place, rules, said_at)
        )
        if found is not None and (clause.number, found.text) not in used:
            used.add((clause.number, found.text))
            text = found.text
            if found.section is not Section.ISSUES:
                text = _dated(text, found.section, clause, said_at)
            yield Line(section=found.section, text=text, score=found.score, place=place, language=clause.language)


def _dated(text: str, section: Section, clause: Clause, said_at: datetime | None) -> str:
    """Return a line with the day behind it that its words mean."""
    statement = match_statement(clause, at=said_at)
    if statement is not None and statement.due is not None:
        return add_due(text, statement.due, clause.language)
    dated = add_date(text, said_at, clause.language)
    if dated != text or section is not Section.GOALS or said_at is None:
        return dated
    return add_day(text, find_due(fold(text), said_at, clause.language), clause.language)


def _plain_statement(clause: Clause, place: int) -> Iterable[Line]:
    """Yield a statement in a language that has statement rules but no heuristics of its own."""
    statement = match_statement(clause)
    if statement is not None and len(find_terms(statement.text)) >= 1:
        section = Section.GOALS if statement.kind is StatementKind.COMMITMENT else Section.FACTS
        yield Line(section=section, text=statement.text, score=_NEEDED_SCORE, place=place, language=clause.language)


def _issue(clause: Clause, clauses: tuple[Clause, ...], place: int, rules: Rules) -> Line | None:
    asked = clause.question and rules.issue_questions.match(clause.words) is not None
    told = not clause.question and rules.issues.match(clause.words) is not None
    if not (asked or told) or rules.not_issue.search(clause.words):
        return None
    text = _clear_text(clause, clauses, place, rules, least=1 if asked else rules.least_content, thin=True)
    if text is None:
        return None
    whole = _sentence(clause, clauses)
    if told and whole and len(find_terms(text)) < _THIN_ISSUE_TERMS and _reads_alone(whole, rules):
        text = _finish(whole, rules)
    if asked:
        text += rules.question_mark
    return Line(section=Section.ISSUES, text=text, score=2.0, place=place, language=clause.language)


def _goal(
    clause: Clause, clauses: tuple[Clause, ...], place: int, rules: Rules, said_at: datetime | None, reply: str
) -> Line | None:
    if clause.past:
        return None
    matches = [match for pattern in (*rules.goals, rules.goals_weak) if (match := pattern.match(clause.words))]
    if not matches or rules.goals_passing.search(fold(clause.text)) or rules.goals_except.search(clause.words):
        return None
    if matches[-1].re is rules.goals_weak and not _is_exact(clause, rules, said_at):
        matches.pop()
    delivered = len(reply.strip()) >= _DELIVERED_CHARS and not reply.rstrip().endswith(("?", "？"))
    for match in matches:
        task = match.groupdict().get("task")
        if task is None and (clause.question or clause.barred):
            continue
        if task is not None and (delivered or len(find_terms(task)) < rules.least_content):
            continue
        statement = match_statement(clause, at=said_at)
        if statement is not None and statement.kind in (StatementKind.DECISION, StatementKind.FACT):
            return None
        named = rules.name.search(clause.text) is not None
        text = _clear_text(clause, clauses, place, rules, least=1 if named else None)
        if task is not None:
            text = _capital(_tail(clause, task)) if not _points_outside(task, rules) else None
        return (
            Line(section=Section.GOALS, text=text, score=2.0, place=place, language=clause.language) if text else None
        )
    return None


def _is_exact(clause: Clause, rules: Rules, said_at: datetime | None) -> bool:
    """Say whether a clause names somebody or something, counts, or has a day."""
    if rules.name.search(clause.text) or rules.number.search(clause.text):
        return True
    return find_due(fold(clause.text), said_at or _SOME_DAY, clause.language) is not None


def _tail(clause: Clause, task: str) -> str:
    """Return the user's words for the end of a clause that a pattern named."""
    task = task.strip(_EDGES)
    return clause.text[-len(task) :] if fold(clause.text).endswith(task) else task


def read_fact(
    clause: Clause, clauses: tuple[Clause, ...], place: int, rules: Rules, said_at: datetime | None
) -> Line | None:
    """Return the fact line of a clause, clear when read alone, or None where it states none worth one."""
    if clause.question or clause.barred or clause.past:
        return None
    if rules.intro.match(clause.text):
        return Line(
            section=Section.FACTS, text=clause.text, score=3.0, place=place, language=clause.language, lasting=True
        )
    statement = match_statement(clause, at=said_at)
    score = _score(clause, _extend(clause, clauses, place, rules), rules)
    if statement is not None:
        if statement.rule.endswith((".name", ".relation")):
            text = _finish(_extend(clause, clauses, place, rules), rules)
            return Line(section=Section.FACTS, text=text, score=3.0, place=place, language=clause.language)
        if statement.kind is StatementKind.COMMITMENT and not statement.rule.endswith(".date"):
            return None if score < _NEEDED_SCORE else _made(clause, clauses, place, rules, score)
        if rules.reaction.search(clause.words) and not rules.name.search(clause.text):
            return None
        score = max(score, 2.5 if not clause.hedged else 1.5)
    if score < _NEEDED_SCORE:
        return None
    return _made(clause, clauses, place, rules, score)


def _made(clause: Clause, clauses: tuple[Clause, ...], place: int, rules: Rules, score: float) -> Line | None:
    exact = rules.name.search(clause.text) is not None or match_statement(clause) is not None
    exact = exact or add_date(clause.text, _SOME_DAY, clause.language) != clause.text
    exact = exact or any(rule.least < rules.least_content and rule.pattern.match(clause.words) for rule in rules.facts)
    text = _clear_text(clause, clauses, place, rules, least=1 if exact else None)
    if text is None:
        return None
    lasting = any(rule.lasting and rule.pattern.match(clause.words) for rule in rules.facts)
    return Line(section=Section.FACTS, text=text, score=score, place=place, language=clause.language, lasting=lasting)


def _score(clause: Clause, text: str, rules: Rules) -> float:
    """Say how much a clause is worth as a fact: its rule, and what its line names and counts."""
    best = 0.0
    for rule in rules.facts:
        if not rule.pattern.match(clause.words) or (rule.needs_number and not rules.number.search(text)):
            continue
        if rule.must is not None and not rule.must.search(fold(clause.sentence)):
            continue
        best = max(best, rule.base)
    if best == 0.0:
        return 0.0
    if (
        add_date(clause.text, _SOME_DAY, clause.language) != clause.text
        and len(find_terms(clause.text)) >= _DATED_TERMS
    ):
        best += 1.0  # an event with a day and enough to say
    named, counted = rules.name.search(text) is not None, rules.number.search(text) is not None
    return best + named + counted - (1.0 if clause.hedged else 0.0)


def _clear_text(
    clause: Clause,
    clauses: tuple[Clause, ...],
    place: int,
    rules: Rules,
    *,
    least: int | None = None,
    thin: bool = False,
) -> str | None:
    """Return the line for a clause: itself, else its whole sentence, else None where neither stands alone.

    A clause with too little content is only widened where `thin` allows it.
    """
    if rules.never.search(clause.words):
        return None
    text = _extend(clause, clauses, place, rules)
    if text[:1].isdigit() and (whole := _sentence(clause, clauses)):
        text = whole  # a number alone opens no line: what it counts stands before it
    least = rules.least_content if least is None else least
    enough = len(find_terms(text)) >= least
    if enough and not _points_outside(clause.words, rules) and len(text) <= MAX_LINE_CHARS:
        return _finish(text, rules)
    if not enough and not thin:
        return None
    whole = _sentence(clause, clauses)
    if whole is None or len(find_terms(whole)) < rules.least_content + 1 or not _reads_alone(whole, rules):
        return None
    return _finish(whole, rules)


def _reads_alone(text: str, rules: Rules) -> bool:
    folded = fold(text)
    return len(text) <= MAX_LINE_CHARS and not _points_outside(folded, rules) and not rules.never.search(folded)


def _finish(text: str, rules: Rules) -> str:
    return _capital(rules.drop.sub("", rules.drop.sub("", text).strip(_EDGES)))


def _points_outside(words: str, rules: Rules) -> bool:
    """Say whether a pronoun refers to something that the line does not hold."""
    about_somebody = rules.pointing_own.match(words) is not None
    for match in rules.pointing.finditer(words):
        if about_somebody and match[0] in rules.pointing_persons:
            continue
        before = words[: match.start()]
        count = len(re.sub(r"\s+", "", before)) if rules.spaceless else len(before.split())
        if count < rules.pointing_after:
            return True
    if len(words) > _LONG_CHARS:
        return False
    return rules.pointing_end.search(words) is not None and not rules.pointing_end_ok.search(words)


def _extend(clause: Clause, clauses: tuple[Clause, ...], place: int, rules: Rules) -> str:
    """Return the clause with the subject it inherits and the list that goes on behind it."""
    end = clause
    about = rules.extend_kin[0].match(clause.words) if rules.extend_kin else None
    for follower in clauses[place + 1 :]:
        if follower.number != clause.number or follower.question:
            break
        if not rules.extend.match(follower.text) and not (about and rules.extend_kin[1].match(follower.text)):
            break
        end = follower
    text = clause.text
    if end is not clause:
        start = clause.sentence.find(clause.text)
        stop = clause.sentence.find(end.text, start + len(clause.text))
        if 0 <= start < stop:
            text = clause.sentence[start : stop + len(end.text)]
    subject = clause.subject
    if subject and not text.startswith(subject) and not _stands_alone(clause.words[len(subject) :], rules):
        text = subject + text
    return text


def _stands_alone(words: str, rules: Rules) -> bool:
    """Say whether a clause is a fact without the subject it would inherit ("预算大概 6000 元")."""
    return any(rule.pattern.match(words) for rule in rules.facts if not rule.needs_number)


def _sentence(clause: Clause, clauses: tuple[Clause, ...]) -> str | None:
    """Return the whole sentence of a clause without its opening, None where part of it asks."""
    own = [other for other in clauses if other.number == clause.number and other.language == clause.language]
    if len(own) < 2 or any(other.question for other in own) or clause.barred:
        return None
    first = next(other for other in own if other is clause or len(find_terms(other.text)) >= 2)
    start = clause.sentence.find(first.text)
    return clause.sentence[start:].strip(_EDGES) if start >= 0 else None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text[:1].islower() and not re.match(r"\w*[A-Z_./\d]", text) else text


def _retracted(line: Line, known: Known) -> str | None:
    """Return the known fact that "I no longer …" takes back."""
    rules = load_line_rules(line.language)
    if rules is None or not rules.retracts.search(fold(line.text)):
        return None
    return find_nearest(find_terms(line.text), known.of(Section.FACTS), 0.5, 1)
