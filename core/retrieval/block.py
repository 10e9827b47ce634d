"""The text of a recall block: quoted data with date and conversation, from `resources/prompts/recall.*`.

Pure but for the prompt files. What is quoted can neither close the block nor speak as somebody else: every line of
it is marked, and what looks like a tag or a template's token is written with look-alikes.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache

from core.paths import find_resources

MAX_TEXT_CHARS = 900  # of one quoted turn
FRAME_CHARS = 400  # what the block's own words may take

_TOKEN = re.compile(r"<(?=[/|!?a-zA-Z])|\[(?=/?INST\]|/?SYS)", re.IGNORECASE)
_LOOK_ALIKES = {"<": "‹", "[": "⁅"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """Something to quote: who says it (user, assistant, recap, preference), where and when (s)."""

    kind: str
    title: str
    at: float
    text: str


def render_block(quotes: Sequence[Quote], language: str) -> str:
    """Return the block in a language (English where there is no prompt file); "" for nothing."""
    if not quotes:
        return ""
    known = language.split("-")[0] if language.split("-")[0] in _frames() else "en"
    return _read_prompt(known).replace("{items}", "\n".join(render_quote(quote, known) for quote in quotes))


def render_quote(quote: Quote, language: str) -> str:
    """Return one item of a block: its introduction, then its lines, marked."""
    frame = _frames().get(language.split("-")[0], _frames()["en"])
    title = " ".join(_neutralise(quote.title).split()) or frame["untitled"]
    day = datetime.fromtimestamp(quote.at, UTC).date().isoformat()
    head = frame[quote.kind].format(date=day, title=title)
    lines = [f"> {line}" for line in _neutralise(clip(quote.text)).splitlines() if line.strip()]
    return "\n".join((f"- {head}", *lines))


def clip(text: str) -> str:
    """Return the beginning of a text, cut at a word."""
    text = text.strip()
    if len(text) <= MAX_TEXT_CHARS:
        return text
    cut = text[:MAX_TEXT_CHARS]
    return (cut.rsplit(" ", 1)[0] if " " in cut[MAX_TEXT_CHARS // 2 :] else cut) + "…"


def _neutralise(text: str) -> str:
    return _TOKEN.sub(lambda found: _LOOK_ALIKES[found.group()], text)


@cache
def _frames() -> dict[str, dict[str, str]]:
    path = find_resources() / "prompts" / "recall.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _read_prompt(language: str) -> str:
    return (find_resources() / "prompts" / f"recall.{language}.md").read_text(encoding="utf-8").strip()
