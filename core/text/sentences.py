"""Sentences and clauses of a text, in scripts with and without blanks.

Pure. A full stop inside a number, a file name, an address or after an abbreviation ends nothing;
lines and list items are sentences of their own; a closed code fence stays in one piece.
"""

import re
from collections.abc import Iterator
from functools import cache

from core.text.fences import split_fences
from core.text.items import strip_marker
from core.text.wordlists import fold, groups, words

_CLOSERS = "\"'”’»)）]】」』*_"
_STOP = re.compile(
    rf"(?P<cjk>[。！？]+[。！？!?…]*[{re.escape(_CLOSERS)}]*)"
    rf"|(?P<stop>(?:[.!?…]+|\.{{2,}})[!?！？]*[{re.escape(_CLOSERS)}]*)(?=\s+(?P<next>\S+)|\s*$|[\u3040-\u30ff\u3400-\u9fff])"
)
_LAST_WORD = re.compile(r"[^\s(（\[\"'“„«]+$")
_CLAUSE_END = re.compile(r"[;；]\s*")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}$")  # p.m, u.s
_INITIAL = re.compile(r"[^\W\d_]")


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text in order, without list markers and outer blanks."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return tuple(_pieces(text))


def split_clauses(text: str) -> tuple[str, ...]:
    """Return the clauses of a text: its sentences, cut at semicolons too."""
    found = (clause.strip() for sentence in split_sentences(text) for clause in _CLAUSE_END.split(sentence))
    return tuple(clause for clause in found if clause)


def _pieces(text: str) -> Iterator[str]:
    for fenced, piece in split_fences(text):
        if fenced:
            yield piece.strip()
        else:
            yield from _split_lines(piece)


def _split_lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line.strip():
            yield from _split_line(strip_marker(line))


def _split_line(line: str) -> Iterator[str]:
    start = 0
    for stop in _STOP.finditer(line):
        if stop["cjk"] is None and not _ends(line[start : stop.start()], stop):
            continue
        if sentence := line[start : stop.end()].strip():
            yield sentence
        start = stop.end()
    if rest := line[start:].strip():
        yield rest


def _ends(before: str, stop: re.Match[str]) -> bool:
    """Whether a Latin stop ends the sentence `before` it."""
    following = stop["next"]
    if following is None or stop["stop"][0] in "!?":
        return True
    found = _LAST_WORD.search(before[-64:])
    word = fold(found[0]) if found else ""
    capital = following.lstrip(_CLOSERS + "“„«(（[")[:1].isupper()
    if not stop["stop"].startswith(".") or stop["stop"].startswith(".."):
        return capital or not following[0].isalpha()
    if word in _abbreviations() or (len(word) == 1 and _INITIAL.match(word) and word != "i"):
        return word == "no" and not following[0].isdigit()
    if word in words("abbreviations_mid") or _DOTTED.match(word):
        return capital or not following[0].isalnum()
    if word.isdigit() and len(word) <= 2:  # an ordinal, as in "3. Mai"
        return fold(following.rstrip(".,;:!?")) not in _month_names()
    return True


@cache
def _abbreviations() -> frozenset[str]:
    return words("abbreviations")


@cache
def _month_names() -> frozenset[str]:
    return frozenset(name for months in groups("months") for month in months for name in month)
