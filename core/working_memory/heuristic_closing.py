"""Goals the user reports as done or dropped, and open issues that are settled, marked in place.

Pure. A mark is set only where the report shares enough content with the line; a bare "done" means what
was spoken of just before.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from core.model import Section
from core.text.clauses import Clause, fold
from core.text.statements import StatementKind, match_statement
from core.working_memory.heuristic_model import Known, Proposal, TurnText
from core.working_memory.heuristic_rules import Rules, load_line_rules
from core.working_memory.heuristic_terms import find_nearest, find_terms, share

_DONE_SHARE = 0.5  # of a line's content that the report must name
_SETTLED_SHARE = 0.4  # with at least two terms, and words that say "settled"
_DEED_SHARE = 0.75
_ANSWER_SHARE = 0.75
_RECENT_TURNS = 3
_MAX_CHARS_READ = 4_000
_MARKED = re.compile(r"^\s*(?:[-*]\s+)?\[(?:resolved|done|closed|fixed|cancelled|x|已\w+)\]", re.IGNORECASE)


def find_closed(turn: TurnText, clauses: tuple[Clause, ...], known: Known) -> Iterable[Proposal]:
    """Yield the goals that are done or dropped and the issues that are settled, marked in place."""
    goals = [line for line in known.of(Section.GOALS) if not _MARKED.match(line)]
    issues = [line for line in known.of(Section.ISSUES) if not _MARKED.match(line)]
    if not goals and not issues:
        return
    talk = _Talk(turn, known)
    for clause in clauses:
        rules = load_line_rules(clause.language)
        if rules is None or clause.question or clause.barred or not (goals or issues):
            continue
        if issue := _settled(clause, talk, issues, rules):
            issues.remove(issue)
            yield Proposal(section=Section.ISSUES, text=f"[resolved] {issue}", turns=(turn.turn,), replaces=issue)
        goal, mark = _finished(clause, talk, goals, rules)
        if goal is not None:
            goals.remove(goal)
            yield Proposal(section=Section.GOALS, text=f"[{mark}] {goal}", turns=(turn.turn,), replaces=goal)


@dataclass(frozen=True, slots=True)
class _Talk:
    """The terms of what was said, read where a report is about to be matched: most turns report nothing."""

    turn: TurnText
    known: Known

    def everything(self) -> frozenset[str]:
        """Those of the whole message."""
        return find_terms(self.turn.user[:_MAX_CHARS_READ])

    def lately(self) -> frozenset[str]:
        """Those of the turns before."""
        return find_terms("\n".join(self.known.recent[-_RECENT_TURNS:])[-_MAX_CHARS_READ:])


def _settled(clause: Clause, talk: _Talk, issues: list[str], rules: Rules) -> str | None:
    if not issues or rules.issues.match(clause.words):
        return None
    if rules.bare_resolved.match(clause.words):
        return _just_raised(issues, talk.lately())
    terms = find_terms(clause.sentence)
    if rules.resolved.search(clause.words) and not clause.hedged:
        touched = [issue for issue in issues if find_terms(issue) & terms]
        statement = match_statement(clause)
        if statement is not None and statement.kind is StatementKind.DECISION:
            return find_nearest(talk.everything(), touched, _DONE_SHARE, 1)
        asked = [issue for issue in touched if issue.endswith(("?", "？"))]
        everything = talk.everything()
        return find_nearest(everything, touched, _SETTLED_SHARE) or find_nearest(everything, asked, _DONE_SHARE, 1)
    if match_statement(clause) is None and not rules.number.search(clause.text) and not rules.name.search(clause.text):
        return None
    asked = [issue for issue in issues if issue.endswith(("?", "？"))]
    nearest = find_nearest(terms, asked, _ANSWER_SHARE, 1)
    return nearest if nearest and share(terms, find_terms(nearest)) < 1.0 else None


def _finished(clause: Clause, talk: _Talk, goals: list[str], rules: Rules) -> tuple[str | None, str]:
    if not goals or clause.hedged:
        return None, ""
    if rules.bare_done.match(clause.words) and not rules.praise.search(fold(clause.sentence)):
        return _just_raised(goals, talk.lately()), "done"
    if any(pattern.match(clause.words) for pattern in rules.goals):
        return None, ""
    for pattern, mark in ((rules.done, "done"), (rules.cancelled, "cancelled")):
        if pattern.search(clause.words):
            terms = find_terms(clause.sentence)
            return find_nearest(terms, goals, _DONE_SHARE) or _only_about(terms, goals), mark
    if deed := rules.deed.search(clause.words):
        goal = find_nearest(find_terms(clause.sentence), goals, _DEED_SHARE)
        if goal is not None and find_terms(deed["verb"]) & find_terms(goal):
            return goal, "done"
    return None, ""


def _just_raised(lines: list[str], lately: frozenset[str]) -> str | None:
    """Return the newest line if the user spoke of it in the turns before: what a bare "done" means."""
    newest = lines[-1]
    return newest if share(find_terms(newest), lately) >= _DONE_SHARE else None


def _only_about(terms: frozenset[str], goals: list[str]) -> str | None:
    """Return the one goal that a short report ("the report is handed in") can mean."""
    meant = [goal for goal in goals if share(terms, find_terms(goal)) >= _DONE_SHARE]
    return meant[0] if len(meant) == 1 else None
