"""The one function that every sink's text passes: secrets become marks that name their kind.

Idempotent. Detection reads a copy without zero-width characters and with full-width forms as
plain ones, so that neither hides a secret; all else of the text stays as it was.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from core.redaction.keywords import find_keyword_values, is_value
from core.redaction.numbers import find_checked_numbers
from core.redaction.rules import load_rules
from core.redaction.spans import Span, make_mark

KEPT_CHARACTERS = 4_000  # of texts whose outcome is kept for a while
_ZERO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_FULL_WIDTH = re.compile("[\uff01-\uff5e]")
_FULL_TO_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in "，；：！？（）"}


def redact(text: str) -> str:
    """Return the text with every secret replaced by its mark."""
    return _redact_short(text) if len(text) <= KEPT_CHARACTERS else redact_with_kinds(text)[0]


@lru_cache(maxsize=256)  # a message passes on its way to the index, the list and the archive
def _redact_short(text: str) -> str:
    return redact_with_kinds(text)[0]


def redact_with_kinds(text: str) -> tuple[str, Counter[str]]:
    """Return the redacted text and how many secrets of each kind it held."""
    if not text:
        return text, Counter()
    plain, places = _flatten(text)
    spans = _merge(sorted(_find(plain)))
    if not spans:
        return text, Counter()
    pieces: list[str] = []
    at = 0
    for span in spans:
        start, end = (places[span.start], places[span.end - 1] + 1) if places else (span.start, span.end)
        pieces += [text[at:start], make_mark(span.kind)]
        at = end
    return "".join([*pieces, text[at:]]), Counter(span.kind for span in spans)


def _find(text: str) -> Iterator[Span]:
    lowered = text.lower()
    for shape in load_rules().shapes:
        if not any(cue in text or cue in lowered for cue in shape.cues):
            continue
        for match in shape.pattern.finditer(text):
            start, end = match.span("value") if "value" in shape.pattern.groupindex else match.span()
            if is_value(text[start:end]):
                yield Span(start, end, shape.kind)
    yield from find_keyword_values(text)
    yield from find_checked_numbers(text)


def _flatten(text: str) -> tuple[str, list[int]]:
    """Return the copy that is searched, and each of its characters' place; no places where it is the text."""
    if not _ZERO_WIDTH.search(text) and not _FULL_WIDTH.search(text):
        return text, []
    places = [i for i, c in enumerate(text) if not _ZERO_WIDTH.match(c)]
    return "".join(text[i] for i in places).translate(_FULL_TO_PLAIN), places


def _merge(spans: list[Span]) -> list[Span]:
    """Join overlapping spans; the one that begins first names the kind."""
    merged: list[Span] = []
    for span in spans:
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            merged.append(span)
    return merged
