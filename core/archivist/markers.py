"""Phrases that open a message and announce another topic, and messages that have no topic.

Rests on `resources/rules/boundaries.<language>.toml`; all languages are tried, whatever the
conversation's. Pure apart from reading those files once.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from core.archivist.words import APOSTROPHES, CJK, RuleFile, all_phrases, fold, load_rules, phrases

_HIDDEN = "ᚠ"  # stands for code and quotes: a letter, so that it counts as a word
_COVERS = tuple(
    re.compile(pattern, re.MULTILINE | re.DOTALL)
    for pattern in (
        r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)",  # fenced code, closed or not
        r"(`+)(?!`)[^\n]*?(?<!`)\1(?!`)",  # inline code
        r"^[ \t]*>[^\n]*$",  # block quotes
        r"\"[^\"\n]+\"",
        r"“[^”\n]+[”“]",
        r"«[^»\n]+»",
        r"»[^«\n]+«",
        r"„[^“”\n]+[“”]",
        r"「[^」\n]+」",
        r"『[^』\n]+』",
        r"‘[^‘’\n]{0,300}\s[^‘\n]{0,300}?’(?!\w)",  # two or more words: one is more often an apostrophe
    )
)
_COVERED = re.compile(r"[`~>\"“”«»„「『‘]")  # a sign that each of them needs
_CODE_COVERS = 3  # the first of them hide code and block quotes
_LINE_BREAK = re.compile(r"\s*\n\s*")
_SPACES = re.compile(r"[^\S\n]+")
_LIST_MARK = re.compile(r"(?:\d{1,3}|[a-z])[.)](?=\s)")
_KEYCAP = re.compile("\\d\ufe0f?\u20e3")
_OPENING_CHARACTERS = 5_000  # the rest of a huge message is not read: a marker stands at its opening
_NOT_WORD = re.compile(r"[\W_]+")
# A hyphen or dot between two letters joins them (topic-based, topic.py); it separates nothing.
_SEPARATOR = re.compile(r"\s*(?:[,;!?–—…。、¿¡]|:(?!:)|\n)|\s+[-.]|[-.](?![^\W_])")
_SENTENCE_PART = re.compile(r"[^,:;!?–—…。、\n]*?(?=[,:;!?–—…。、\n]|[-.](?![^\W_])|\s[-.]|$)")
_PUNCTUATION = re.compile(r"\s*[,:;.!?\-–—…。、~\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    """One language's patterns; each matches at a position and ends behind the phrase."""

    topic: re.Pattern[str] | None
    follows_topic: re.Pattern[str]
    object: re.Pattern[str] | None
    object_new: frozenset[str]
    finite_verbs: frozenset[str]
    refers_back: frozenset[str]
    aside: re.Pattern[str] | None
    question_word: re.Pattern[str] | None
    aside_free: re.Pattern[str] | None


def opens_topic(text: str) -> bool:
    """Whether the message opens with a phrase that announces another topic."""
    copy = _matching_copy(text[:_OPENING_CHARACTERS])
    return any(_marks(copy, start, language) for start in _openings(copy) for language in _languages())


def is_acknowledgement(text: str) -> bool:
    """Whether a text has no topic of its own: agreement, thanks, a greeting, emoji, or nothing."""
    return _is_made_of(fold(text[:_OPENING_CHARACTERS]), _small_talk())


def hide_quoted(text: str, placeholder: str, *, quotes: bool = True) -> str:
    """Replace code and block quotes, and quoted spans unless `quotes` is False: they are not the user's words."""
    if not _COVERED.search(text):  # most texts: one look instead of one for each kind
        return text
    for cover in _COVERS if quotes else _COVERS[:_CODE_COVERS]:
        text = cover.sub(placeholder, text)
    return text


def _matching_copy(text: str) -> str:
    text = _KEYCAP.sub(" ", hide_quoted(text, f" {_HIDDEN} "))
    if text.isascii():
        copy = text.replace("`", "'").lower()
    else:
        copy = unicodedata.normalize("NFKC", text.translate(APOSTROPHES)).casefold()
    copy = copy.replace("*", "").replace("__", "")  # emphasis
    return _SPACES.sub(" ", _LINE_BREAK.sub("\n", copy)).strip()


def _openings(copy: str) -> Iterable[int]:
    """Where a marker may stand: the start, and behind one or two lead-ins."""
    start = _skip_marks(copy, 0)
    yield start
    for _ in range(2):
        lead = _lead_in().match(copy, start)
        if lead is None:
            return
        end = lead.end()
        spaced = lead.lastgroup == "spaced" and copy[end : end + 1].isspace()
        if not spaced and _PUNCTUATION.match(copy, end) is None:
            return
        start = _skip_marks(copy, end)
        yield start


def _skip_marks(copy: str, start: int) -> int:
    """Pass white space, list marks, emoji and punctuation."""
    while True:
        before = start
        if mark := _LIST_MARK.match(copy, start):
            start = mark.end()
        if other := _NOT_WORD.match(copy, start):
            start = other.end()
        if start == before:
            return start


def _marks(copy: str, start: int, language: _Language) -> bool:
    if (found := language.topic and language.topic.match(copy, start)) and language.follows_topic.match(
        copy, found.end()
    ):
        return True
    if found := language.object and language.object.match(copy, start):
        return _announces(copy, found, language)
    if found := language.aside and language.aside.match(copy, start):
        question = language.question_word and language.question_word.match(copy, found.end())
        if question or _SEPARATOR.match(copy, found.end()):
            return _has_content(copy[found.end() :])
    found = language.aside_free and language.aside_free.match(copy, start)
    return bool(found) and _has_content(copy[found.end() :] if found else "")


def _announces(copy: str, found: re.Match[str], language: _Language) -> bool:
    """Whether an object follows, and not as the subject of a statement or as the work at hand."""
    clause = _SENTENCE_PART.match(copy, found.end())
    words = set(re.findall(r"[^\W_]+(?:'[^\W_]+)*", clause.group() if clause else ""))
    if not words or words & language.finite_verbs:
        return False
    return found.group() not in language.object_new or not words & language.refers_back


def _has_content(rest: str) -> bool:
    return not _is_made_of(rest, _small_talk())


def _is_made_of(folded: str, known: re.Pattern[str]) -> bool:
    position = 0
    while position < len(folded):
        if gap := _NOT_WORD.match(folded, position):
            position = gap.end()
        elif match := known.match(folded, position):
            position = match.end()
        else:
            return False
    return True


@cache
def _small_talk() -> re.Pattern[str]:
    keys = ("acknowledgements", "courtesy", "greetings")
    return _need(frozenset().union(*(all_phrases("boundaries", key) for key in keys)))


@cache
def _lead_in() -> re.Pattern[str]:
    spaced, plain = (_need(all_phrases("boundaries", key)) for key in ("lead_ins_spaced", "lead_ins"))
    return re.compile(f"(?P<spaced>{spaced.pattern})|(?P<plain>{plain.pattern})")


@cache
def _languages() -> tuple[_Language, ...]:
    return tuple(_compile(rules) for _, rules in load_rules("boundaries"))


def _compile(rules: RuleFile) -> _Language:
    spaceless = bool(rules.get("spaceless", False))
    after = _any_of(phrases(rules, "continuations"))
    # In a script without spaces a space is itself a separator; elsewhere the words need one before them.
    follows = [r"\s*$", _SEPARATOR.pattern, *([r"\s"] if spaceless else [])]
    if after is not None:
        follows.append(after.pattern if spaceless else rf"\s+(?:{after.pattern})")
    if rules.get("any_continuation", False):
        follows.append("")
    question = _any_of(phrases(rules, "question_words"))
    return _Language(
        topic=_any_of(phrases(rules, "topic")),
        follows_topic=re.compile("|".join(f"(?:{part})" for part in follows)),
        object=_any_of(phrases(rules, "object")),
        object_new=frozenset(phrases(rules, "object_new")),
        finite_verbs=frozenset(phrases(rules, "finite_verbs")),
        refers_back=frozenset(phrases(rules, "refers_back")),
        aside=_any_of(phrases(rules, "aside")),
        question_word=re.compile(rf"\s*(?:{question.pattern})") if question else None,
        aside_free=_any_of(phrases(rules, "aside_free")),
    )


def _need(known: Iterable[str]) -> re.Pattern[str]:
    pattern = _any_of(known)
    if pattern is None:
        raise ValueError("resources/rules/boundaries.*.toml hold no lead-ins or no acknowledgements")
    return pattern


def _any_of(known: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern for any of the phrases, the longest first, as whole words where the script has spaces."""
    ordered = sorted(known, key=lambda phrase: (-len(phrase), phrase))
    if not ordered:
        return None
    whole = "|".join(
        re.escape(phrase) + ("" if re.search(f"[{CJK}]$", phrase) else r"(?![^\W_]|'[^\W_])") for phrase in ordered
    )
    return re.compile(f"(?:{whole})")
