"""Turns of a transcript, read ahead of the decisions about them: redacted, and all that a turn says by itself.

Pure. What is read here may be read in another process (`reading_process`): plain data goes in and comes out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from core.model import TurnId
from core.redaction import redact
from core.text.language import guess_language
from core.text.tokens import truncate_tokens
from core.working_memory.heuristics import TurnReading, TurnText, read_turn

# Heuristics read this much of one message: past it is pasted material, and time is the user's.
MAX_READ_TOKENS = 6_000
SaidTexts = tuple[str, str, float]  # the user's text, the reply, when the user's arrived in s


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """The texts of a turn as every sink but the transcript gets them; `reply` is "" while there is none."""

    user: str
    reply: str

    def in_order(self) -> list[str]:
        return [self.user, self.reply] if self.reply else [self.user]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAhead:
    """A turn, read before it is stored."""

    texts: Redacted
    reading: TurnReading


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """How a conversation stands before some turns, as far as their reading depends on it.

    It is followed turn by turn; where it turns out otherwise (a turn was there already) the turn is read again.
    """

    language: str = ""
    before: str = ""  # what the user said last


def read_batch(said: Iterable[SaidTexts], talk: Talk) -> tuple[tuple[ReadAhead, ...], Talk]:
    """Redact and read turns of one conversation in their order; returns how the conversation stands then, too."""
    read = []
    for user, reply, at in said:
        texts = Redacted(user=redact(user), reply=redact(reply))
        turn = make_turn(texts.user, texts.reply, at)
        language = choose_language(talk.language, talk.before, guess_language(turn.user))
        read.append(ReadAhead(texts=texts, reading=read_turn(turn, language)))
        talk = Talk(language=language, before=texts.user)
    return tuple(read), talk


def make_turn(user: str, reply: str, at: float, turn: TurnId | None = None) -> TurnText:
    """Return a turn as the heuristics read it; a turn that is not stored has no number yet."""
    return TurnText(
        turn=TurnId(0) if turn is None else turn,
        at=at,
        user=truncate_tokens(user, MAX_READ_TOKENS),
        reply=truncate_tokens(reply, MAX_READ_TOKENS),
    )


def choose_language(current: str, before: str, guess: str | None) -> str:
    """Return a conversation's language after a message: two in a row change it (working-memory.md section 16).

    `current` is "" before the first message, `before` the message before this one, `guess` what the words of this
    one tell of their language.
    """
    detected = guess or current or "en"
    if not current or detected == current:
        return detected
    return detected if (guess_language(before) or current) == detected else current
