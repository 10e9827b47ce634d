"""A segment in its first and last sentence that tell something of the user, in their words.

Greetings, questions and what is said to the other's address are left out where there is more.
Pure but for reading `resources/rules/stopwords.*.toml`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from core.archivist.markers import hide_quoted, is_acknowledgement
from core.archivist.topic_words import introduces
from core.archivist.topics import MAX_TEXT, capitalise, says_something
from core.archivist.words import all_phrases, fold, is_cjk
from core.text.clauses import fold as fold_letters
from core.text.clauses import has_cjk, load_grammars

SUMMARY_CHARACTERS = 160  # of each of the two sentences
Test = Callable[[str], bool]
_SENTENCE = re.compile(r"[^\n.!?…。！？]*(?:[.](?=\S)[^\n.!?…。！？]*)*[.!?…。！？]*")
_MARKUP = re.compile(r"^[\s#>*+-]+|\*\*|__")
_GREETING = re.compile("[你您]好")


def summarise(texts: Sequence[str]) -> str:
    """Return the first and the last sentence that say something, each cut at 160 characters."""
    spoken = [sentence for text in texts for sentence in _sentences(text) if not is_acknowledgement(sentence)]
    if not spoken:
        return ""
    first, last = map(_trim, _find_ends(spoken))
    return first if fold(first) == fold(last) else f"{first}\n{last}"


def _find_ends(spoken: Sequence[str]) -> tuple[str, str]:
    """Return the first and the last sentence of the best sort there is; those between are not looked at."""
    sorts: tuple[tuple[Test, ...], ...] = ((_reads_alone, _is_own), (_reads_alone,), (_is_own,), ())
    for worth in (says_something, _names_nobody):
        for sort in sorts:
            # from cheap to dear
            tests = (*reversed(sort), worth)
            first = next((s for s in spoken if all(test(s) for test in tests)), None)
            if first is not None:
                return first, next(s for s in reversed(spoken) if all(test(s) for test in tests))
    return spoken[0], spoken[0]


def _names_nobody(sentence: str) -> bool:
    return not introduces(sentence)


def _reads_alone(sentence: str) -> bool:
    """Say whether a sentence tells something by itself: no question, nothing to the other's address, no "that …"."""
    if sentence.endswith(("?", "？")):
        return False
    words = [word.strip(".,!?'\"") for word in fold(sentence).split()]
    address = all_phrases("stopwords", "address")
    if words and words[0] in all_phrases("stopwords", "pointing"):
        return False
    if any(word in address for word in words):
        return False
    spoken = _GREETING.sub("", sentence)  # left out before what is told
    return not (_cjk_phrases("address").search(spoken) or _cjk_phrases("pointing").match(spoken))


@cache
def _cjk_phrases(key: str) -> re.Pattern[str]:
    found = sorted(phrase for phrase in all_phrases("stopwords", key) if is_cjk(phrase))
    return re.compile("|".join(map(re.escape, found)) or "(?!)")


def _is_own(sentence: str) -> bool:
    """Say whether a sentence is about the user: that is what a summary is for."""
    own = all_phrases("stopwords", "own")
    return any(word in own for word in fold(sentence).split()) or _cjk_phrases("own").search(sentence) is not None


def _ends_opening(opening: str) -> bool:
    return not opening.rstrip()[-1:].isalnum() and _reads_alone(opening)


def _without_opening(sentence: str) -> str:
    """Leave out "Hello friend," and the like before what is told."""
    for grammar in load_grammars():
        if grammar.is_cjk == has_cjk(sentence) and grammar.language in ("en", "zh"):
            while lead := grammar.lead.match(fold_letters(sentence)):
                opening = sentence[: lead.end()]
                links = fold(opening) in all_phrases("stopwords", "connectives")
                if opening in ("", sentence) or not (links or _ends_opening(opening)):
                    break  # part of what is told ("So much …"), or said to the other ("Thank you, …")
                sentence = sentence[lead.end() :]
    return capitalise(sentence)


def _sentences(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(hide_quoted(text[:MAX_TEXT], "…", quotes=False)):
        sentence = " ".join(_MARKUP.sub("", match.group().strip()).split())
        if any(c.isalnum() for c in sentence):
            yield _without_opening(sentence)


def _trim(sentence: str) -> str:
    if len(sentence) <= SUMMARY_CHARACTERS:
        return sentence
    cut = sentence[: SUMMARY_CHARACTERS - 1]
    at_space = cut.rfind(" ")
    return (cut[:at_space] if at_space > SUMMARY_CHARACTERS // 2 else cut).rstrip(" ,;:，、") + "…"
