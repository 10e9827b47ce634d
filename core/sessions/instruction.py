"""The first part of a prompt: what the program and the user say, what is known of the user, notes from MEMORY.md.

Pure. The parts take from one share in this order, each what is left by those before it. Their texts, joined, are the
text that is sent. What is quoted is written so that it cannot close its frame or speak as somebody else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.memory_files.documents import entry_key, excerpt
from core.memory_files.outline import read_lines
from core.model import PartKind, PromptPart
from core.sessions.prompt_texts import PromptTexts
from core.text.tokens import estimate_tokens, truncate_tokens
from core.working_memory.quotes import neutralise

LEAST_EXCERPT_CHARS = 80  # less is no help
NO_ROOM = "no room in the share of the instructions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of the user, in the order in which it is said: locked and general preferences, then the rest."""

    preferences: tuple[str, ...] = ()  # those that must stay stand first
    profile: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()  # for their occasion: not said here, nor by the notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """MEMORY.md: its text, how many characters of it a prompt may hold, and why it could not be read."""

    text: str = ""
    limit_chars: int = 0
    problem: str = ""


NOTHING_KNOWN = Known()
NO_NOTES = Notes()


def write_instruction(
    texts: PromptTexts, share_tokens: int, *, own: str = "", known: Known = NOTHING_KNOWN, notes: Notes = NO_NOTES
) -> tuple[PromptPart, ...]:
    """Return the parts within their share; the program's own sentence is there whatever the share."""
    parts = [PromptPart(kind=PartKind.SYSTEM, text=texts.system)]
    lines = _as_lines(known.preferences)
    if own.strip():
        left = share_tokens - _cost(parts)
        # what is pinned may not be crowded out by long instructions
        room = left - min(left // 3, estimate_tokens("\n".join((texts.profile, *lines))) + 10 if lines else 0)
        parts.append(_write_own(own.strip(), room))
    parts += _write_known(texts.profile, lines, _as_lines(known.profile), share_tokens - _cost(parts))
    if notes.problem or (notes.text.strip() and notes.limit_chars > 0):
        parts.append(_write_notes(texts.file, notes, known, share_tokens - _cost(parts)))
    return tuple(_measure(part, share_tokens) for part in parts if part.text or part.left_out)


def _write_own(text: str, room: int) -> PromptPart:
    if estimate_tokens(text) + 1 <= room:
        return PromptPart(kind=PartKind.INSTRUCTIONS, text=f"\n\n{text}")
    cut = truncate_tokens(text, room - 1)
    return PromptPart(
        kind=PartKind.INSTRUCTIONS,
        text=f"\n\n{cut}" if cut else "",
        left_out=1,
        why="longer than their share: the model sees the beginning and the end" if cut else NO_ROOM,
    )


def _write_known(heading: str, preferences: Sequence[str], profile: Sequence[str], room: int) -> tuple[PromptPart, ...]:
    """Return the two parts of one block; lines that do not fit are left out from the end."""
    if not preferences and not profile:
        return ()
    opening, closing = f"\n\n<profile>\n{heading}", "\n</profile>"
    lines = [*preferences, *profile]
    while lines and estimate_tokens(opening + "".join(lines) + closing) > room:
        lines.pop()
    kept = len(preferences) if len(lines) > len(preferences) else len(lines)
    first, second = "".join(lines[:kept]), "".join(lines[kept:])
    parts = []
    if preferences:
        text = opening + first + ("" if second else closing) if first else ""
        parts.append(_part_of_lines(PartKind.PREFERENCES, text, len(preferences) - kept))
    if profile:
        text = ("" if first else opening) + second + closing if second else ""
        parts.append(_part_of_lines(PartKind.PROFILE, text, len(profile) - (len(lines) - kept)))
    return tuple(parts)


def _part_of_lines(kind: PartKind, text: str, left_out: int) -> PromptPart:
    return PromptPart(kind=kind, text=text, left_out=left_out, why=NO_ROOM if left_out else "")


def _write_notes(frame: str, notes: Notes, known: Known, room: int) -> PromptPart:
    if notes.problem:
        return PromptPart(kind=PartKind.FILE, left_out=1, why=notes.problem)
    said = {entry_key(line) for line in (*known.preferences, *known.profile, *known.waiting)}
    text = "\n".join(line.text.rstrip() for line in read_lines(notes.text) if _entry(line.text) not in said)
    whole = _count_entries(text)
    limit, quoted = min(notes.limit_chars, 4 * max(0, room)), ""
    while limit >= LEAST_EXCERPT_CHARS:  # a character costs up to two tokens: the estimate decides
        chosen = excerpt(text, limit).strip()
        quoted = "\n\n" + frame.replace("{text}", neutralise(chosen))
        if estimate_tokens(quoted) <= room:
            left_out = whole - _count_entries(chosen)
            return PromptPart(
                kind=PartKind.FILE,
                text=quoted if left_out < whole else "",
                left_out=left_out,
                why="older entries: the excerpt has a limit" if left_out else "",
            )
        limit = limit * 4 // 5
    return PromptPart(kind=PartKind.FILE, left_out=whole, why=NO_ROOM if whole else "")


def _entry(line: str) -> str:
    """What an entry says, compared with the profile without its category."""
    words = line.strip().lstrip("-*+ ")
    category, colon, rest = words.partition(": ")
    return entry_key(rest if colon and category.isalpha() else words) if words else " "


def _count_entries(text: str) -> int:
    return sum(1 for line in read_lines(text) if line.text.strip() and not line.is_heading and line.text[:1] != "(")


def _as_lines(texts: Sequence[str]) -> list[str]:
    return [f"\n- {neutralise(' '.join(text.split()))}" for text in texts]


def _cost(parts: Sequence[PromptPart]) -> int:
    return sum(estimate_tokens(part.text) for part in parts)


def _measure(part: PromptPart, share_tokens: int) -> PromptPart:
    return replace(part, tokens=estimate_tokens(part.text), share_tokens=share_tokens)
