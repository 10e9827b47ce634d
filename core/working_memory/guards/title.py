"""Session Title: a new title only for the same topic.

Pure. Topics are compared by words that mean something: numbers alone, stop words and the names
of things every chat has ("plan", "notes") do not make two titles one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.model import ParkedLine
from core.text.evidence import is_placeholder
from core.text.items import strip_marker
from core.text.keys import normalise
from core.text.terms import stem
from core.text.wordlists import words
from core.working_memory.document import make_safe
from core.working_memory.guards.outcome import Context, Outcome, kept, updated
from core.working_memory.operations import Append, Update
from core.working_memory.parked import ParkReason, park
from core.working_memory.rules import load_rules

_CJK_RUN = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_WORD = re.compile(r"[^\W_](?:[\w+#]|[.](?=\w))*")
_ITALIC = re.compile(r"(?:\*[^*]+\*|_[^_]+_)$")
_FUNCTION_KANA = frozenset("のをがはにでともへや")


def guard_title(operation: Update | Append, old: str, parked: tuple[ParkedLine, ...], context: Context) -> Outcome:
    """Accept a title that shares a word with the old one; appending only fills an empty title."""
    before = read_title(old)
    lines = operation.items if isinstance(operation, Append) else operation.content.split("\n")
    titles = [title for line in lines if (title := read_title(line))]
    if not titles:
        return kept(old, parked)
    if isinstance(operation, Append) and before:
        return _refuse(titles, old, parked, "A title is one line, so nothing was added to it.")
    if context.locked:
        return _refuse(titles, old, parked, "You locked the title, so it was kept.")
    if before and not is_same_topic(before, titles[0]):
        reason = "The new title shares no word with the old one, so the old one was kept."
        return _refuse(titles, old, parked, reason)
    return updated(titles[0], park(parked, titles[1:], ParkReason.NOT_APPLIED))


def _refuse(titles: Sequence[str], old: str, parked: tuple[ParkedLine, ...], reason: str) -> Outcome:
    """Keep the old title; what was proposed waits for the user."""
    others = [title for title in titles if title != read_title(old)]
    outcome = kept(old, park(parked, others, ParkReason.NOT_APPLIED), reason)
    return replace(outcome, newly_parked=tuple(others))


def read_title(text: str) -> str:
    """Return the title in a text: its first line that is neither blank nor a description."""
    for line in make_safe(text).split("\n"):
        plain = line.strip()
        if not plain or _ITALIC.match(plain):
            continue
        plain = strip_marker(plain).lstrip("#").strip().strip("\"'“”‘’「」『』《》`").strip()
        if plain and not is_placeholder(plain):
            return plain
    return ""


def is_same_topic(old: str, new: str) -> bool:
    """Say whether two titles share at least one word that means something."""
    old_words, old_pairs = find_words(old)
    new_words, new_pairs = find_words(new)
    if not old_words and not old_pairs:
        return True
    if old_pairs and new_pairs:
        return bool(old_pairs & new_pairs)
    return bool(old_words & new_words)


def find_words(title: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the meaningful words of a title, and the pairs of characters of its CJK runs."""
    rules = load_rules()
    plain = " ".join(normalise(word) for word in title.split())  # one by one, so that C# stays a word
    function = words("function_characters") | _FUNCTION_KANA
    pairs = {
        run[i : i + 2]
        for run in _CJK_RUN.findall(plain)
        for i in range(len(run) - 1)
        if not function & set(run[i : i + 2])
    }
    found = {word.rstrip(".") for word in _WORD.findall(_CJK_RUN.sub(" ", plain))}
    meaningful = {
        stem(word)
        for word in found
        if len(word) > 1 and word not in rules.title_stop_words and not word.replace(".", "").isdigit()
    }
    return frozenset(meaningful - rules.title_stop_words), frozenset(pairs - rules.title_stop_pairs)
