"""The memory tree's rules: what goes in, how it is cut into chunks, when a buffer is sealed.

Pure (archivist.md section 12). Only what was said goes in, never a recap; whole messages stay whole
where they fit, and headings inside one are text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from core.archivist.markers import is_acknowledgement
from core.model import Role
from core.text.markup import strip_image_markers, strip_tool_markup
from core.text.tokens import estimate_tokens

SOURCE_ID = "conversations:agent"
MAX_CHUNK_TOKENS = 3_000
SEAL_ITEMS = 10
SEAL_TOKENS = 50_000  # of chunks; nodes above are sealed by number
SEAL_AFTER_DAYS = 7.0
SUMMARY_TOKENS = 1_000

_BLANK_LINES = re.compile(r"(\n[ \t]*\n\s*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeMessage:
    """One message of a closed segment; `at` in s."""

    turn: int
    role: Role
    at: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some messages in order, or a part of one that was too long."""

    messages: tuple[TreeMessage, ...]
    partial: bool = False

    @property
    def text(self) -> str:
        """The bodies, without headers."""
        return "\n\n".join(message.text for message in self.messages)

    @property
    def turns(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(message.turn for message in self.messages))

    @property
    def tokens(self) -> int:
        return _count(self.messages)

    @property
    def id(self) -> str:
        """Made of source, turns and body: the same evidence is the same chunk."""
        turns = ",".join(map(str, self.turns))
        return sha256(f"{SOURCE_ID}\n{turns}\n{self.text}".encode()).hexdigest()[:32]


def clean_message(role: Role, text: str) -> str:
    """Return what a model or the tree is given of a message: replies lose markup, both their image markers."""
    return strip_tool_markup(text) if role is Role.ASSISTANT else strip_image_markers(text)


def prepare_input(messages: Sequence[TreeMessage]) -> tuple[TreeMessage, ...]:
    """Return the messages that go in, cleaned; what is left empty is skipped."""
    cleaned = (
        TreeMessage(turn=each.turn, role=each.role, at=each.at, text=clean_message(each.role, each.text))
        for each in messages
    )
    return tuple(each for each in cleaned if each.text.strip())


def admits(messages: Sequence[TreeMessage]) -> bool:
    """Whether a segment is worth keeping: its user said more than courtesy."""
    return any(not is_acknowledgement(each.text) for each in messages if each.role is Role.USER)


def cut_chunks(messages: Sequence[TreeMessage], max_tokens: int = MAX_CHUNK_TOKENS) -> tuple[Chunk, ...]:
    """Pack whole messages in order while their bodies fit; one that is too long gets chunks of its own."""
    chunks: list[Chunk] = []
    packed: list[TreeMessage] = []
    for message in messages:
        if not message.text.strip():
            continue
        fits = _count((*packed, message)) <= max_tokens
        if packed and not fits:
            chunks.append(Chunk(messages=tuple(packed)))
            packed = []
        if estimate_tokens(message.text) > max_tokens:
            chunks += _split_message(message, max_tokens)
        else:
            packed.append(message)
    if packed:
        chunks.append(Chunk(messages=tuple(packed)))
    return tuple(chunks)


def is_due(level: int, *, items: int, tokens: int, oldest_days: float) -> bool:
    """Whether a buffer is sealed: `level` 0 holds chunks; `oldest_days` is how long its oldest item has waited."""
    if items <= 0:
        return False
    full = items >= SEAL_ITEMS or (level == 0 and tokens >= SEAL_TOKENS)
    return full or oldest_days > SEAL_AFTER_DAYS


def _count(messages: Sequence[TreeMessage]) -> int:
    return estimate_tokens("".join(message.text for message in messages))


def _split_message(message: TreeMessage, max_tokens: int) -> Iterator[Chunk]:
    for piece in _split_text(message.text, max_tokens):
        part = TreeMessage(turn=message.turn, role=message.role, at=message.at, text=piece)
        yield Chunk(messages=(part,), partial=True)


def _split_text(text: str, max_tokens: int) -> list[str]:
    """Cut a text at blank lines, then lines, then characters, into the fewest pieces that fit."""
    pieces = _pack(_paragraphs(text), max_tokens, lambda part: _pack(_lines(part), max_tokens, _cut(max_tokens)))
    return [piece.strip("\n") for piece in pieces if piece.strip()]


def _pack(parts: Sequence[str], max_tokens: int, divide: Callable[[str], list[str]]) -> list[str]:
    """Join parts while they fit; one that does not fit alone is divided further."""
    packed: list[str] = []
    current = ""
    for part in parts:
        if estimate_tokens((current + part).strip("\n")) <= max_tokens:
            current += part
            continue
        if current:
            packed.append(current)
        current = part
        if estimate_tokens(part.strip("\n")) > max_tokens:
            *done, current = divide(part)
            packed += done
    return [*packed, current] if current else packed


def _paragraphs(text: str) -> list[str]:
    pieces = _BLANK_LINES.split(text)
    return ["".join(pieces[i : i + 2]) for i in range(0, len(pieces), 2)]


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _cut(max_tokens: int) -> Callable[[str], list[str]]:
    """Cut by characters: each piece is the longest that fits."""

    def divide(text: str) -> list[str]:
        pieces: list[str] = []
        while text:
            low, high = 1, min(len(text), 4 * max(1, max_tokens))
            while low < high:  # the longest head that fits; one character always goes
                middle = (low + high + 1) // 2
                low, high = (middle, high) if estimate_tokens(text[:middle]) <= max_tokens else (low, middle - 1)
            pieces.append(text[:low])
            text = text[low:]
        return pieces or [""]

    return divide
