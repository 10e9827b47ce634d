"""What a user states about themselves: decisions, commitments, preferences and facts.

Pure. The words of one message go in, never a reply's: facts about the user come from the user's
words. Patterns are data (`resources/rules/statements.*`); a clause must carry its own first-person
subject, and questions, conditions, suppositions, denials and reported speech yield nothing.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache

from core.text.clauses import Clause, fold, read_clauses
from core.text.due import find_due
from core.text.rules import RuleTable, load_rules

PLAIN_CONFIDENCE = 0.6
HEDGED_CONFIDENCE = 0.4
MAX_CHARS = 300


class StatementKind(StrEnum):
    """What a statement is. The values are stored."""

    DECISION = "decision"
    COMMITMENT = "commitment"
    PREFERENCE = "preference"
    FACT = "fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing the user said about themselves or somebody close."""

    kind: StatementKind
    text: str
    negative: bool = False
    confidence: float = PLAIN_CONFIDENCE  # 0..1
    subject: str = "user"
    due: str | None = None  # YYYY-MM-DD or YYYY-MM-DDThh:mm; commitments only
    rule: str = ""
    sentence: int = 0  # number of its sentence in the message


@dataclass(frozen=True, slots=True)
class _Rule:
    id: str
    kind: StatementKind
    negative: bool
    pattern: re.Pattern[str]
    negative_in: re.Pattern[str]
    barring: re.Pattern[str]


def find_statements(text: str, *, at: datetime | None = None) -> tuple[Statement, ...]:
    """Return what the user states in `text`, in order; `at` is when it was said, in their time zone."""
    found: list[Statement] = []
    seen: set[tuple[StatementKind, str]] = set()
    for clause in read_clauses(text):
        statement = match_statement(clause, at=at)
        if statement is None:
            continue
        key = (statement.kind, fold(statement.text))
        if key not in seen:
            seen.add(key)
            found.append(statement)
    return tuple(found)


def match_statement(clause: Clause, *, at: datetime | None = None) -> Statement | None:
    """Return the statement a clause makes, if it makes one."""
    return _match(clause, at)


@lru_cache(maxsize=512)
def _match(clause: Clause, at: datetime | None) -> Statement | None:
    if clause.question or clause.barred or clause.past or not clause.text:
        return None
    for rule in _load_statement_rules(clause.language):
        match = rule.pattern.match(clause.words)
        if match is None or rule.barring.search(clause.words):
            continue
        if clause.hedged and rule.kind in (StatementKind.DECISION, StatementKind.COMMITMENT):
            return None
        due = None
        if at is not None and rule.kind is StatementKind.COMMITMENT:
            due = find_due(fold(clause.text), at, clause.language)
        return Statement(
            kind=rule.kind,
            text=clause.text[:MAX_CHARS],
            negative=rule.negative or rule.negative_in.search(clause.words) is not None,
            confidence=HEDGED_CONFIDENCE if clause.hedged else PLAIN_CONFIDENCE,
            subject=match.groupdict().get("relation") or "user",
            due=due,
            rule=rule.id,
            sentence=clause.number,
        )
    return None


@cache
def _load_statement_rules(language: str) -> tuple[_Rule, ...]:
    table = load_rules("statements")[language]
    return tuple(_rule(item) for item in table.sections("rules"))


def _rule(table: RuleTable) -> _Rule:
    return _Rule(
        id=table.text("id"),
        kind=StatementKind(table.text("kind")),
        negative=table.flag("negative"),
        pattern=table.pattern("patterns"),
        negative_in=table.pattern("negative_in"),
        barring=table.pattern("except"),
    )
