"""Does the text of a model deserve to become memory: evidence, placeholders, degeneration.

Pure; working-memory rule 13. A line is supported if its hard anchors occur in what was said.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from core.text.anchors import Prepared, find_anchors, is_present, prepare
from core.text.items import strip_marker
from core.text.keys import item_key, normalise
from core.text.wordlists import words

__all__ = ["Evidence", "check_evidence", "is_degenerate", "is_placeholder"]

_ONLY_SIGNS = re.compile(r"[\W_]*|\W*\d\W*")
_WRAPPER = re.compile(
    r"</?(?:think|thinking|reasoning|tool_call|tool_use|function_call|tool_response|tool_result"
    r"|working_memory|update_working_memory|section_size_warnings)\b[^<>\n]{0,80}>"
    r"|<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>",
    re.IGNORECASE,
)
_OP_KEY = re.compile(r"[\"'“”]op[\"'“”]\s*[::]|^\s*[{,]\s*op\s*:", re.IGNORECASE | re.MULTILINE)
_LONGEST_PIECE, _IN_A_ROW = 60, 4
_LOOP = re.compile(rf"(.{{1,{_LONGEST_PIECE}}}?)\1{{{_IN_A_ROW - 1},}}", re.DOTALL)
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2,}")
_WORD = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+(?:['.-][^\W_]+)*")
_LOOP_PROBE = 4_000  # characters; a loop that fills half of a text shows at its front or end
_MIN_REPEATS = 3  # of one line
_MANY_WORDS = re.compile(r"[\W_]*(?:[^\W_]+[\W_]+){5}[^\W_]")  # more than any placeholder has
_MIN_WORDS = 20
_MIN_VARIETY = 0.2
_PROBED_WORDS = 400  # a long text repeats its small words anyway


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whether a line is supported, and the canonical anchors that nothing supports."""

    supported: bool
    missing: tuple[str, ...]


def check_evidence(line: str, turn_texts: Iterable[str | Prepared]) -> Evidence:
    """Return whether all hard anchors of a line occur in the texts it may rest on."""
    sources = [prepare(text) if isinstance(text, str) else text for text in turn_texts]
    missing = [
        anchor.text.casefold()
        for anchor in find_anchors(line).hard
        if not any(is_present(anchor, source) for source in sources)
    ]
    return Evidence(not missing, tuple(missing))


def is_placeholder(text: str, section: str = "") -> bool:
    """Whether a text only fills a place: none, tbd, 同上, dots, one digit, or the section's own name."""
    if not text.strip():
        return True
    if "\n" not in text and _MANY_WORDS.match(text):
        return False
    lines = [strip_marker(line.strip().lstrip("#")) for line in text.splitlines() if line.strip()]
    name = _section_key(section)
    return all(_is_placeholder_line(line, name) for line in lines)


def is_degenerate(text: str, section: str = "Current State") -> bool:
    """Whether a text is no content: a placeholder, an echo of markup, or a loop."""
    if is_placeholder(text, section):
        return True
    if (("<" in text or "[" in text) and _WRAPPER.search(text)) or ("op" in text.lower() and _OP_KEY.search(text)):
        return True
    return _repeats_lines(text) or _loops(text) or (_lacks_variety(text) and not _is_list(text))


def _is_placeholder_line(line: str, section: str) -> bool:
    if _MANY_WORDS.match(line):
        return False
    plain = unicodedata.normalize("NFKC", line).strip()
    key = normalise(plain.strip("()[]{}<>\"'` "))
    return _ONLY_SIGNS.fullmatch(plain) is not None or key in _placeholders() or (key == section and bool(key))


@lru_cache(maxsize=64)
def _section_key(section: str) -> str:
    return normalise(section)


@cache
def _placeholders() -> frozenset[str]:
    return frozenset(normalise(word) for word in words("placeholders")) | {""}


def _repeats_lines(text: str) -> bool:
    keys = _line_keys(text)
    return len(keys) >= _MIN_REPEATS and max(Counter(keys).values()) >= _MIN_REPEATS


def _is_list(text: str) -> bool:
    """Whether a text is a list of lines that all differ, as tables of like facts are."""
    keys = _line_keys(text)
    return len(keys) >= _MIN_REPEATS and len(set(keys)) == len(keys)


def _line_keys(text: str) -> list[str]:
    """The keys of the lines, those of list items under the text that other readers remember them by."""
    return [key for line in text.splitlines() if (key := item_key(strip_marker(line)))]


def _loops(text: str) -> bool:
    """Whether a short piece, four or more times in a row, makes up half of the text."""
    text = text.strip()
    if len(text) > 2 * _LOOP_PROBE:
        text = text[:_LOOP_PROBE] + "\x00" + text[-_LOOP_PROBE:]
    if not _may_loop(text):
        return False
    looped = sum(len(found[0]) for found in _LOOP.finditer(text) if found[1].strip(" -=_*#|\n\t"))
    return looped * 2 >= len(text) and looped > 0


def _may_loop(text: str) -> bool:
    """Whether any piece of up to 60 characters stands four times in a row; a hundredth of the pattern's time.

    The text as one large number, compared with itself moved by a piece's length: where they agree over three
    lengths, four pieces are alike. Characters take one, two or four bytes each; a false alarm is possible, a
    miss is not.
    """
    if len(text) < _IN_A_ROW:
        return False
    width, data = 4, b""
    for width, code in ((1, "latin-1"), (2, "utf-16-le")):
        data = text.encode(code, "replace")
        if text.isascii() or (width == 2 and len(data) == 2 * len(text)):
            break
    else:
        width, data = 4, text.encode("utf-32-le", "replace")
    number = int.from_bytes(data, "little")
    for length in range(1, min(_LONGEST_PIECE, len(text) // _IN_A_ROW) + 1):
        same = (number ^ (number >> (8 * length * width))).to_bytes(len(data), "little")
        if same.find(bytes((_IN_A_ROW - 1) * length * width), 0, len(data) - length * width) >= 0:
            return True
    return False


def _lacks_variety(text: str) -> bool:
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = _WORD.findall(folded) + [run[n : n + 2] for run in _CJK_RUN.findall(folded) for n in range(len(run) - 1)]
    return len(found) >= _MIN_WORDS and all(
        len(set(piece)) < _MIN_VARIETY * len(piece) for piece in (found[:_PROBED_WORDS], found[-_PROBED_WORDS:])
    )
