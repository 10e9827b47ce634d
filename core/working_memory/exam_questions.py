"""The built-in conversations of the memory exam, and what an attentive reader would keep of them.

Pure but for reading resources/exam/*.toml, one file a language; their texts are the product's own.
"""

import tomllib
from dataclasses import dataclass
from functools import cache

from core.model import Section, TurnId
from core.paths import find_resources
from core.text.items import render_items
from core.working_memory.document import EMPTY, render_document
from core.working_memory.heuristics import Known, Proposal, TurnText, propose
from core.working_memory.material import Material, QuotedMessage

LANGUAGES = ("en", "zh")
_BEGUN_AT = 1_780_000_000.0  # s; any time will do, but the same each time


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the user's, and whether it is worth keeping."""

    turn: TurnId
    text: str
    keep: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamConversation:
    """One conversation with its labels."""

    id: str
    language: str
    facts: tuple[str, ...]
    issues: tuple[tuple[str, bool], ...]  # with whether the conversation settles it
    pairs: tuple[tuple[str, str], ...]  # older, newer
    sentences: tuple[Sentence, ...]
    replies: tuple[str, ...]

    def material(self, *, context_tokens: int) -> Material:
        """Return what a commit of the whole conversation would hand to an update."""
        users = self._user_texts()
        messages: list[QuotedMessage] = []
        for n, (user, reply) in enumerate(zip(users, self.replies, strict=True), start=1):
            messages.append(QuotedMessage(id=2 * n - 1, turn=TurnId(n), role="user", text=user))
            messages.append(QuotedMessage(id=2 * n, turn=TurnId(n), role="assistant", text=reply))
        document = EMPTY.with_bodies(
            {
                Section.FACTS: render_items(self.facts),
                Section.ISSUES: render_items(tuple(text for text, _ in self.issues)),
            }
        )
        return Material(
            document=render_document(document),
            messages=tuple(messages),
            proposals=self._notice(users),
            language=self.language,
            context_tokens=context_tokens,
            user_texts=users,
        )

    def _user_texts(self) -> tuple[str, ...]:
        blank = "" if self.language == "zh" else " "
        return tuple(blank.join(s.text for s in self.sentences if s.turn == n) for n in range(1, len(self.replies) + 1))

    def _notice(self, users: tuple[str, ...]) -> tuple[Proposal, ...]:
        """What the heuristics notice, turn by turn, as in a chat."""
        items = {Section.FACTS: self.facts, Section.ISSUES: tuple(text for text, _ in self.issues)}
        found: list[Proposal] = []
        for n, (user, reply) in enumerate(zip(users, self.replies, strict=True), start=1):
            turn = TurnText(turn=TurnId(n), at=_BEGUN_AT + 60 * n, user=user, reply=reply)
            known = Known(items=dict(items), recent=users[max(0, n - 4) : n - 1], language=self.language)
            for proposal in propose(turn, known):
                found.append(proposal)
                items[proposal.section] = (*items.get(proposal.section, ()), proposal.text)
        return tuple(found)


@cache
def load_exam(language: str) -> tuple[ExamConversation, ...]:
    """Return the conversations in a language."""
    text = (find_resources() / "exam" / f"{language}.toml").read_text(encoding="utf-8")
    return tuple(
        ExamConversation(
            id=entry["id"],
            language=language,
            facts=tuple(entry["facts"]),
            issues=tuple((issue, bool(settled)) for issue, settled in entry["issues"]),
            pairs=tuple((older, newer) for older, newer in entry["pairs"]),
            sentences=tuple(
                Sentence(TurnId(n), said, bool(keep))
                for n, turn in enumerate(entry["turn"], start=1)
                for said, keep in turn["said"]
            ),
            replies=tuple(turn["reply"] for turn in entry["turn"]),
        )
        for entry in tomllib.loads(text)["conversation"]
    )
