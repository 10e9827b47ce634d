"""Tokens without pattern near a word that says they are secret: `the API key for staging is 9fK2…`.

A token counts by its look: sixteen characters or more that mix letters and digits as no word, path, date or version
does. Hashes and UUIDs look like it and are none as a rule: they count only where the words say so plainly.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from core.redaction.keywords import is_value
from core.redaction.rules import load_rules
from core.redaction.spans import Span

MIN_CHARACTERS = 16
BEFORE_CHARACTERS = 48  # how far before a token a word may stand
AFTER_CHARACTERS = 32  # "use 9fK2… as the access token"
RUN_CHARACTERS = 12  # of letters and digits without a sign between them
RUN_CHANGES = 4  # between digits, capitals and small letters in it
_TOKEN = re.compile(r"(?<![A-Za-z0-9_+/=.@-])(?=[A-Za-z0-9_+/=.-]*\d)[A-Za-z0-9_+/=.-]{16,}(?![A-Za-z0-9_@])")
_RUN = re.compile(r"[A-Za-z0-9]{12,}")
_HASH = re.compile(r"[0-9a-f]{7,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SENTENCE = re.compile(r"[\n.!?。！？](?=\s|$)|\n")
_KINDS = (
    ("token", ("token", "令牌", "トークン")),
    ("password", ("passw", "密码", "パスワード")),
    ("secret", ("secret",)),
)


def find_cued_tokens(text: str, lowered: str) -> Iterator[Span]:
    """Yield tokens that a word nearby gives away; `lowered` is the text in lower case."""
    rules = load_rules()
    if len(text) < MIN_CHARACTERS or not any(stem in lowered for stem in rules.stems):
        return
    for match in _TOKEN.finditer(text):
        token = match[0].rstrip(".")
        before = _SENTENCE.split(text[max(0, match.start() - BEFORE_CHARACTERS) : match.start()])[-1]
        after = _SENTENCE.split(text[match.end() : match.end() + AFTER_CHARACTERS])[0]
        cues = list(rules.cued.finditer(before))
        cue = cues[-1][0] if cues else ""
        between = before[cues[-1].end() :] if cues else before
        if not cue and (behind := re.match(r"[\"'`]?\s+(?:as|is|for|als|como|comme|是|作为)\b", after)):
            cued = rules.cued.search(after, behind.end())
            cue = cued[0] if cued else ""
        if not cue or rules.harmless.search(between) or not is_value(token):
            continue
        if _HASH.fullmatch(token):
            if rules.named.fullmatch(cue) is None or len(token) < MIN_CHARACTERS * 2:
                continue
        elif not looks_random(token):
            continue
        yield Span(match.start(), match.start() + len(token), _name_kind(cue.lower()))


def looks_random(token: str) -> bool:
    """Whether a token mixes letters and digits as no word, path, date or version does."""
    for match in _RUN.finditer(token):
        run = match[0]
        classes = [0 if c.isdigit() else 1 if c.isupper() else 2 for c in run]
        changes = sum(a != b for a, b in pairwise(classes))
        if changes >= RUN_CHANGES and 0 in classes and len(set(run)) > len(run) // 3:
            return True
    return False


def _name_kind(cue: str) -> str:
    return next((kind for kind, words in _KINDS if any(word in cue for word in words)), "api_key")
