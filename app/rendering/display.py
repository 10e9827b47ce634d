"""Text as a text document can bear it: no control characters, nothing Qt uses for itself, bounded length."""

import re

PAGE_CHARS = 12_000  # shown at once of one message; measured: laying out 1 MB takes seconds, this 20 ms
UNBROKEN_PAGE_CHARS = 3_000  # where no space allows a line to end, which is laid out in quadratic time

# C0 and C1 controls but tab and newline; lone surrogates; U+FFFC and U+FDD0..FDEF, which a text document
# reads as its own marks (embedded object, start and end of a frame); non-characters.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffc\ufdd0-\ufdef\ufffe\uffff]"
)  # fmt: skip
_UNBROKEN = re.compile("[!-~]{1500}")
_BREAKS = re.compile("\r\n|[\r\u2028\u2029\x0b\x0c\x85]")


def clean(text: str) -> str:
    """Return `text` with line ends as `\\n` and what cannot be shown replaced by a visible sign."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSHOWABLE.sub(_sign, _BREAKS.sub("\n", text))


def one_line(text: str, limit: int = 300) -> str:
    """Return the start of `text` as one showable line; an ellipsis says that there is more."""
    line = " ".join(clean(text[: limit * 2]).split())
    return line if len(line) <= limit and len(text) <= limit * 2 else line[: limit - 1].rstrip() + "…"


def cut_page(text: str, limit: int = PAGE_CHARS) -> tuple[str, str]:
    """Split `text` into what to show at once and the rest, at a line end or space if one is near."""
    if _UNBROKEN.search(text, 0, limit):
        limit = min(limit, UNBROKEN_PAGE_CHARS)
    if len(text) <= limit:
        return text, ""
    at = max(text.rfind("\n", limit - 2_000, limit), text.rfind(" ", limit - 200, limit)) + 1
    at = at or limit
    return text[:at], text[at:]


def _sign(match: re.Match[str]) -> str:
    code = ord(match.group())
    return chr(0x2400 + code) if code < 0x20 else "\N{REPLACEMENT CHARACTER}"
