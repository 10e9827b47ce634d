"""What a user says that lasts beyond a conversation: tastes, allergies, names, home, work, family.

Pure. The lines are those of Working Memory, so that both read alike, less what is only so for the time being:
an entry about "today" is wrong tomorrow. Relies on `resources/rules/heuristics.*`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from core.text.clauses import Clause, fold, read_clauses
from core.text.orders import COMMAND_CONFIDENCE, find_commands
from core.text.sentences import split_sentences
from core.text.statements import Statement, StatementKind, match_statement
from core.working_memory.heuristic_dates import add_date
from core.working_memory.heuristic_lines import read_fact
from core.working_memory.heuristic_rules import load_line_rules
from core.working_memory.heuristic_terms import is_repeat

LEAST_CONFIDENCE = 0.6  # a hedged statement stays in its conversation (archivist.md section 7.10)
_MAX_CHARS = 300
_SOME_DAY = datetime(2000, 1, 3)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """One line for MEMORY.md."""

    kind: StatementKind  # preference or fact
    text: str
    confidence: float


def find_lasting(text: str) -> tuple[Lasting, ...]:
    """Return what one message of the user's says that lasts, what they ask to remember first, each thing once."""
    found: list[Lasting] = []
    for line in (*_commanded(text), *_stated(text)):
        said = [other.text for other in found]
        if not is_repeat(line.text, said) and not any(fold(line.text) in fold(text) for text in said):
            found.append(line)
    return tuple(found)


def _commanded(text: str) -> Iterator[Lasting]:
    """Yield what the user asks to remember, sentence by sentence, in their words."""
    orders = [
        order.payload
        for order in find_commands(text)
        if order.command == "remember" and "[REDACTED:" not in order.payload
    ]
    for sentence in (sentence for payload in orders for sentence in split_sentences(payload)):
        line = sentence.strip(" \n.。!！;；,，")[:_MAX_CHARS]
        kinds = {said.kind for clause in read_clauses(line) if (said := match_statement(clause)) is not None}
        kind = StatementKind.PREFERENCE if StatementKind.PREFERENCE in kinds else StatementKind.FACT
        if line:
            yield Lasting(kind=kind, text=line[:1].upper() + line[1:], confidence=COMMAND_CONFIDENCE)


def _stated(text: str) -> Iterator[Lasting]:
    clauses = read_clauses(text)
    for place, clause in enumerate(clauses):
        if clause.question or clause.barred or clause.hedged or clause.past:
            continue
        statement = match_statement(clause)
        rules = load_line_rules(clause.language)
        if rules is None:
            line = statement.text if statement is not None and _lasts(statement) else None
        elif _passes(clause):
            line = None
        else:
            fact = read_fact(clause, clauses, place, rules, None)
            lasting = fact is not None and (fact.lasting or (statement is not None and _lasts(statement)))
            line = fact.text if fact is not None and lasting else None
        if line is not None:
            taste = statement is not None and statement.kind is StatementKind.PREFERENCE
            kind = StatementKind.PREFERENCE if taste else StatementKind.FACT
            yield Lasting(kind=kind, text=line, confidence=statement.confidence if statement else LEAST_CONFIDENCE)


def _lasts(statement: Statement) -> bool:
    if statement.confidence < LEAST_CONFIDENCE:
        return False
    if statement.kind is StatementKind.FACT:
        return not statement.negative  # "I no longer …" takes back, it adds nothing
    return statement.kind is StatementKind.PREFERENCE


def _passes(clause: Clause) -> bool:
    """Say whether a clause holds for a while only, or is about what was just spoken of."""
    rules = load_line_rules(clause.language)
    if rules is None:
        return False
    words = fold(clause.text)
    if rules.lasting.search(words):
        return False
    return rules.passing.search(words) is not None or add_date(words, _SOME_DAY, clause.language) != words
