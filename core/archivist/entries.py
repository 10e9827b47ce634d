"""May something that is to be kept for good be kept: evidence, secrets, length, form.

Pure (archivist.md sections 13 and 15). What a model proposes is judged by what was said in the segment: names,
numbers, dates and "not" by the checks of Working Memory, and beyond them by its words, most of which must have been
said. What is about the user needs the user's own words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.archivist.librarian import ABOUT_USER, CATEGORIES
from core.model import Role, Section, TurnId
from core.redaction import redact
from core.text.anchors import content_terms
from core.text.terms import count_present
from core.working_memory.line_checks import Sources
from core.working_memory.material import Material, QuotedMessage

MAX_ENTRY_CHARACTERS = 400  # one or two dense sentences
SAID_SHARE = 0.6  # of an entry's content words that were said
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_CATEGORY = re.compile(rf"^(?:\[)?({'|'.join(CATEGORIES)})(?:\])?\s*[:：]\s*", re.IGNORECASE)
_MARK = "[REDACTED:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One message of the segment, redacted."""

    turn: TurnId
    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Whether a text may be kept: `reason` is a word for the log and the model, `why` says it in words."""

    passes: bool
    reason: str = ""
    why: str = ""
    turns: tuple[TurnId, ...] = ()


class Witness:
    """What was said in a segment, asked about one text after the other."""

    def __init__(self, heard: Sequence[Heard]) -> None:
        quoted = [
            QuotedMessage(id=i, turn=each.turn, role=str(each.role), text=each.text) for i, each in enumerate(heard)
        ]
        users = [each for each in quoted if each.role == Role.USER]
        self._heard = tuple(heard)
        self._said = {True: _gather(users), False: _gather(quoted)}

    def of_turn(self, turn: TurnId) -> "Witness":
        """Return one that heard this turn only."""
        return Witness([each for each in self._heard if each.turn == turn])

    def judge(self, text: str, category: str) -> Judgement:
        """Judge a text of a category; `fact` and `preference` rest on the user's words alone."""
        plain = text.strip()
        if _MARK in plain or redact(plain) != plain:
            return Judgement(passes=False, reason="secret", why="It holds something secret.")
        if len(plain) > MAX_ENTRY_CHARACTERS:
            return Judgement(passes=False, reason="too_long", why="It is longer than two dense sentences.")
        sources, terms = self._said[category in ABOUT_USER]
        verdict = sources.check(plain, Section.FACTS)
        if not verdict.passes:
            return Judgement(passes=False, reason="no_evidence", why=verdict.reason)
        own = content_terms(plain)
        if count_present(own, terms) < SAID_SHARE * len(own) or not own:
            return Judgement(passes=False, reason="no_evidence", why="Nobody said this here.")
        return Judgement(passes=True, turns=verdict.turns)


def strip_entry(line: str) -> str:
    """Return the words of an entry without bullet and category."""
    return _CATEGORY.sub("", _BULLET.sub("", line.strip(), count=1), count=1).strip()


def word_entry(category: str, text: str) -> str:
    """Return an entry as it stands in the file."""
    return f"- {category}: {' '.join(text.split())}"


def _gather(messages: Sequence[QuotedMessage]) -> tuple[Sources, frozenset[str]]:
    terms = content_terms("\n".join(each.text for each in messages)) | _USER_WORDS
    return Sources(Material(messages=tuple(messages))), terms


# A note speaks of its subject in the third person, which nobody says of themselves.
_USER_WORDS = content_terms("user users 用户 the user's")
