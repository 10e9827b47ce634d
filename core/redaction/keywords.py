"""Values that a keyword gives away: `password: …`, `API_KEY=…`, `--token …`, 密码是…."""

import re
from collections.abc import Iterator

from core.redaction.rules import Rules, load_rules
from core.redaction.spans import Span

_PLAIN_VALUE = re.compile(r"[^\s,;，；。、]+")
_CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}
LOOSE_CHARACTERS = 6
_TRAILING = ".!?)]}>\"'`”’」』！？）】》:"


def find_keyword_values(text: str, lowered: str) -> Iterator[Span]:
    """Yield the values that stand behind a keyword and its separator; `lowered` is the text in lower case."""
    rules = load_rules()
    if not any(stem in lowered for stem in rules.stems):
        return
    for match in rules.keyword.finditer(text):
        if match["blank"] is not None and match["option"] is None:
            continue  # a blank alone is no separator, except behind a command line option
        value = _find_value(text, match.end())
        if value is None:
            continue
        start, end = value
        if text[max(0, match.start() - 1)] in "?&":  # in the query of an address the next parameter stays
            end = min((i for sign in "&#" if (i := text.find(sign, start, end)) != -1), default=end)
        inner = text[start:end]
        if match["blank"] is not None and inner.startswith("-"):
            continue
        if not _counts(match, inner, rules):
            continue
        yield Span(start, end, _name_kind(match["name"], rules))


def is_value(text: str) -> bool:
    """Whether a text can be a secret: no placeholder, no reference to one, no mark."""
    return bool(text) and not load_rules().not_value.fullmatch(text)


def _find_value(text: str, at: int) -> tuple[int, int] | None:
    """The place of a value: inside its quotes, or up to white space or , ; and their like."""
    if at >= len(text):
        return None
    slashes = 0  # a quote inside quoted text is escaped, once or more
    while text.startswith("\\", at + slashes):
        slashes += 1
    closing = _CLOSING.get(text[at + slashes : at + slashes + 1])
    if closing is not None:
        closing = "\\" * slashes + closing
        at += slashes
        end = text.find(closing, at + 1)
        line_end = text.find("\n", at + 1)
        if end != -1 and (line_end == -1 or end < line_end):
            return at + 1, end
        at += 1
    match = _PLAIN_VALUE.match(text, at)
    if match is None or at >= len(text):
        return None
    end = match.end()
    # brackets that the value opens itself belong to it: os.environ["X"], ${X}, <your password>
    if text[at] == "<":
        close = text.find(">", at)
        return (at, close + 1) if close != -1 else (at, end)
    while end > at and text[end - 1] in _TRAILING and not _opens(text[at:end]):
        end -= 1
    return (at, end) if end > at else None


def _opens(value: str) -> bool:
    """Whether the last character closes a bracket that the value opened."""
    pairs = {")": "(", "]": "[", "}": "{"}
    last = value[-1]
    return last in pairs and value.count(pairs[last]) >= value.count(last)


def _counts(match: re.Match[str], value: str, rules: Rules) -> bool:
    if not value or rules.not_value.fullmatch(value):
        return False
    if match["copula"] is not None:
        return any(c.isdigit() for c in value)
    if match["option"] is not None:
        return True
    if match["loose"] is not None:
        return len(value) >= LOOSE_CHARACTERS and any(map(str.isalpha, value)) and any(not c.isalpha() for c in value)
    return match["strong"] is not None or any(not c.isalpha() for c in value)


def _name_kind(keyword: str, rules: Rules) -> str:
    return next((kind for kind, pattern in rules.kinds if pattern.search(keyword)), "password")
