"""The one function that every sink's text passes: secrets become marks that name their kind.

Idempotent. Detection reads a copy without zero-width characters and with full-width forms as
plain ones, so that neither hides a secret; all else of the text stays as it was.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from core.paths import find_resources
from core.redaction.cued import find_cued_tokens
from core.redaction.keywords import find_keyword_values, is_value
from core.redaction.numbers import find_checked_numbers
from core.redaction.rules import load_rules
from core.redaction.spans import Span, make_mark

CODE_VERSION = 2  # raised with what is found beyond the rules' file
KEPT_CHARACTERS = 4_000  # of texts whose outcome is kept for a while
_ZERO_WIDTH = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
# a token that goes on in the next line: behind a backslash, between quotes, or just wrapped. What follows the line's
# end must look like no word: a letter and a digit, or a capital inside
_DIVIDED = re.compile(
    r"[A-Za-z0-9_+/=-]{5}(?P<gap>(?:\\|[\"'][ \t]*[+.&\\]?|[ \t]*[+])?[ \t]*\r?\n[ \t]*(?:[+.][ \t]*)?[\"']?)"
    r"(?:(?=[A-Za-z0-9_+/=-]*\d)(?=[A-Za-z0-9_+/=-]*[A-Za-z])|(?=[A-Za-z0-9_+/=-]*[a-z][A-Z]))"
    r"[A-Za-z0-9_+/=-]{3,}(?=[\s\"'),;.\\]|$)"
)
_CONTACT = re.compile(
    r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w+])\+\d[\d ()/-]{7,18}\d(?!\w)"
    r"|(?<!\w)1[3-9]\d(?:[ -]?\d{4}){2}(?!\w)"
)
_DIGIT = re.compile(r"\d")
_FULL_WIDTH = re.compile("[\uff01-\uff5e]")
_FULL_TO_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in "，；：！？（）"}


@dataclass(slots=True)
class _Options:
    contacts: bool = False


_options = _Options()


def hide_contacts(wanted: bool) -> None:
    """Mask e-mail addresses and telephone numbers too (`learning.redact_contacts`), in this process from now on."""
    if _options.contacts != wanted:
        _options.contacts = wanted
        _redact_short.cache_clear()


def get_rules_version() -> str:
    """Return what changes when the rules, or what they are asked to mask, do: rows of older ones are scanned again."""
    digest = hashlib.sha256((find_resources() / "rules" / "redaction.toml").read_bytes())
    return f"{CODE_VERSION}-{digest.hexdigest()[:16]}{'-contacts' if _options.contacts else ''}"


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
    found = list(_find(plain))
    if "\n" in plain and (joined := _join_lines(plain)):
        found += [_place(span, joined[1]) for span in _find(joined[0])]
    spans = _merge(sorted(found))
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
    has_digit = _DIGIT.search(text) is not None
    for shape in load_rules().shapes:
        where = text if shape.cased else lowered
        if not any(cue in where for cue in shape.cues):
            continue
        for match in shape.pattern.finditer(text):
            start, end = match.span("value") if "value" in shape.pattern.groupindex else match.span()
            if is_value(text[start:end]):
                yield Span(start, end, shape.kind)
    yield from find_keyword_values(text, lowered)
    if has_digit:
        yield from find_cued_tokens(text, lowered)
        yield from find_checked_numbers(text)
    if _options.contacts:
        for match in _CONTACT.finditer(text):
            yield Span(match.start(), match.end(), "contact")


def _flatten(text: str) -> tuple[str, list[int]]:
    """Return the copy that is searched, and each of its characters' place; no places where it is the text."""
    if not _ZERO_WIDTH.search(text) and not _FULL_WIDTH.search(text):
        return text, []
    places = [i for i, c in enumerate(text) if not _ZERO_WIDTH.match(c)]
    return "".join(text[i] for i in places).translate(_FULL_TO_PLAIN), places


def _join_lines(text: str) -> tuple[str, list[int]] | None:
    """Return the copy in which tokens that a line's end divides are whole, with the places; None if there are none."""
    gaps = [match.span("gap") for match in _DIVIDED.finditer(text)]
    if not gaps:
        return None
    places: list[int] = []
    at = 0
    for start, end in gaps:
        places += range(at, start)
        at = end
    places += range(at, len(text))
    return "".join(text[i] for i in places), places


def _place(span: Span, places: list[int]) -> Span:
    return Span(places[span.start], places[span.end - 1] + 1, span.kind)


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
