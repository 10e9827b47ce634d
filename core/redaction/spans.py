"""A secret's place in a text, and the mark that stands for it."""

from dataclasses import dataclass

MARK_OPENING = "[REDACTED:"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """`text[start:end]` is a secret of this kind."""

    start: int
    end: int
    kind: str  # password, token, api_key, private_key, secret, card, iban or id


def make_mark(kind: str) -> str:
    """Return what is shown instead of a secret: its kind, never its value."""
    return f"{MARK_OPENING}{kind}]"
