"""Words as the Archivist compares them: the matching copy, terms without stop words, rule files.

Pure but for reading the rule files that ship with the program, once a process
(`resources/rules/*.toml`, one file a language; a new language needs no code).
"""

import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from core.paths import find_resources

RuleFile = Mapping[str, object]

APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ`", "'"))
_SPACES = re.compile(r"\s+")
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0002ebef"
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ENDING = re.compile(r"(.{3,})(?:ing|ed)|(.*(?:s|x|z|ch|sh))es|(.{2,}[^su])s")
KNOWN_WORDS = 20_000  # whose stems are kept: a conversation says the same words again and again
KNOWN_TEXTS = 64  # the last messages are compared with each new one
STEM_CHARACTERS = 6  # longer words are compared by their first six characters


@cache
def cjk_run() -> re.Pattern[str]:
    """A run of Chinese, Japanese or Korean characters (compiled at first use: it takes milliseconds)."""
    return re.compile(f"[{CJK}]+")


def fold(text: str) -> str:
    """Return the matching copy of one line: NFKC, case-folded, apostrophes straight, white space collapsed."""
    if text.isascii():  # most of English: nothing to normalise
        return " ".join(text.lower().replace("`", "'").split())
    folded = unicodedata.normalize("NFKC", text).casefold().translate(APOSTROPHES)
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", folded)).strip()


def strip_accents(text: str) -> str:
    """Remove Latin, Greek and Cyrillic accents; marks that make another letter in other scripts stay."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f"))


@cache
def load_rules(kind: str) -> tuple[tuple[str, RuleFile], ...]:
    """Read every `<kind>.<language>.toml`; pairs of language and content, by language."""
    import tomllib

    files = sorted((find_resources() / "rules").glob(f"{kind}.*.toml"))
    return tuple((f.name.split(".")[1], tomllib.loads(f.read_text(encoding="utf-8"))) for f in files)


def phrases(rules: RuleFile, key: str) -> tuple[str, ...]:
    """Return a rule file's list of phrases, folded; () where it has none."""
    value = rules.get(key, [])
    if not isinstance(value, list):
        raise ValueError(f"rule {key!r} must be a list, not {value!r}")
    return tuple(fold(str(item)) for item in value)


@cache
def all_phrases(kind: str, key: str) -> frozenset[str]:
    """Return the folded phrases of all languages under one key."""
    return frozenset(phrase for _, rules in load_rules(kind) for phrase in phrases(rules, key))


@cache
def stop_words() -> frozenset[str]:
    """Grammar words of all languages, folded."""
    return all_phrases("stopwords", "words")


@cache
def function_characters() -> frozenset[str]:
    """CJK characters that are grammar; a pair holding one is no term."""
    return frozenset(c for _, rules in load_rules("stopwords") for c in str(rules.get("function_characters", "")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a text is about: stems of words with spaces between them, and pairs of CJK characters."""

    words: frozenset[str]
    pairs: frozenset[str]

    def __len__(self) -> int:
        return len(self.words) + len(self.pairs)


def find_terms(texts: Iterable[str]) -> Terms:
    """Return the distinct terms of some texts, stop words and function characters left out."""
    read = [_read_terms(text) for text in texts]
    nothing = frozenset[str]()
    return Terms(words=nothing.union(*(t.words for t in read)), pairs=nothing.union(*(t.pairs for t in read)))


@lru_cache(maxsize=KNOWN_TEXTS)
def _read_terms(text: str) -> Terms:
    folded, grammar = fold(text), stop_words()
    if folded.isascii():
        stems = {stem(token) for token in _WORD.findall(folded) if len(token) >= 3 and token not in grammar}
        return Terms(words=frozenset(stems), pairs=frozenset())
    words: set[str] = set()
    pairs: set[str] = set()
    for token in split_words(folded):
        if is_cjk(token):
            pairs.update(_pairs(token))
        elif len(token) >= 3 and token not in grammar:
            words.add(stem(token))
    return Terms(words=frozenset(words), pairs=frozenset(pairs))


def split_words(folded: str) -> Iterator[str]:
    """Yield words and CJK runs of a folded text, in order."""
    for match in _WORD.finditer(folded):
        token = match.group()
        if token.isascii():
            yield token
        else:
            position = 0
            for run in cjk_run().finditer(token):
                yield from filter(None, (token[position : run.start()].strip("'"), run.group()))
                position = run.end()
            yield from filter(None, (token[position:].strip("'"),))


@lru_cache(maxsize=KNOWN_WORDS)
def stem(word: str) -> str:
    """Cut a folded word to what its forms share: plural, -ed and -ing go, then six characters stay."""
    word = strip_accents(word.removesuffix("'s"))
    match = _ENDING.fullmatch(word)
    if match is not None:
        word = next(part for part in match.groups() if part)
    return re.sub(r"(?:ie|y)$", "i", word)[:STEM_CHARACTERS]


def is_cjk(token: str) -> bool:
    """Whether a token is a run of Chinese, Japanese or Korean characters."""
    return not token.isascii() and cjk_run().fullmatch(token) is not None


def _pairs(run: str) -> Iterator[str]:
    grammar = function_characters()
    for first, second in itertools.pairwise(run):
        if first not in grammar and second not in grammar:
            yield first + second
