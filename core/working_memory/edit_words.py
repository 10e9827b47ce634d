"""What the user did to memory, in words: `you changed “a” to “b”`. Pure. Used as a version's cause and by undo."""

from collections.abc import Sequence

from core.model import EditKind, MemoryEdit

SHOWN_CHARS = 60
_WORDS = {
    EditKind.ADD: "you added {text}",
    EditKind.CHANGE: "you changed {text} to {new}",
    EditKind.REMOVE: "you removed {text}",
    EditKind.MOVE: "you moved {text} to {to}",
    EditKind.LOCK: "you locked {text}",
    EditKind.UNLOCK: "you unlocked {text}",
    EditKind.BRING_BACK: "you brought {text} back",
    EditKind.DROP: "you dismissed {text}",
    EditKind.PARK: "you set {text} aside",
}


def quote(text: str) -> str:
    """Return a line in quotation marks, short enough for a sentence."""
    plain = " ".join(text.split())
    return f"“{plain[: SHOWN_CHARS - 1]}…”" if len(plain) > SHOWN_CHARS else f"“{plain}”"


def describe_edits(edits: Sequence[MemoryEdit]) -> str:
    """Say what some edits did, by the first of them; "" for none."""
    if not edits:
        return ""
    first = edits[0]
    words = _WORDS[first.kind].format(text=quote(first.text), new=quote(first.new_text), to=first.to)
    return words if len(edits) == 1 else f"{words} and {len(edits) - 1} more"


def as_cause(words: str) -> str:
    """Return words as a sentence: why a version was made."""
    return f"{words[:1].upper()}{words[1:]}." if words else ""
