"""Word lists that rules look for: `resources/rules/words.*.toml`, one file a language.

Read once, on first use. Everything is folded as the texts are that it is compared with (NFKC,
case folded). A language is added by a file, without code.
"""

import tomllib
import unicodedata
from functools import cache
from pathlib import Path

from core.paths import find_resources


def fold(text: str) -> str:
    """Return the matching copy of a text: NFKC, case folded, apostrophes straight."""
    if text.isascii():  # most of English: nothing to normalise
        return text.lower().replace("`", "'")
    folded = unicodedata.normalize("NFKC", text).casefold()
    return folded.replace("’", "'").replace("‘", "'").replace("ʼ", "'").replace("`", "'")


@cache
def languages() -> tuple[str, ...]:
    """Languages that have a file of words, in the order of their names."""
    return tuple(_files())


@cache
def words_of(language: str, kind: str) -> frozenset[str]:
    """One language's words of a kind; empty where the file has none."""
    return frozenset(map(fold, _texts(_files()[language].get(kind, ()))))


@cache
def words(kind: str) -> frozenset[str]:
    """The words of a kind in all languages."""
    return frozenset().union(*(words_of(language, kind) for language in languages()))


@cache
def groups(kind: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """Lists of word groups, such as pairs of antonyms or the twelve months, of all languages."""
    found: list[tuple[frozenset[str], ...]] = []
    for content in _files().values():
        listed = content.get(kind, ())
        if not isinstance(listed, list):
            continue
        rows = listed if listed and isinstance(listed[0], list) else [listed]
        found += [tuple(frozenset(map(fold, str(entry).split())) for entry in row) for row in rows]
    return tuple(found)


@cache
def table(kind: str) -> dict[str, str]:
    """A table of all languages, turned round where a value lists words: word -> key, or key -> number."""
    found: dict[str, str] = {}
    for content in _files().values():
        section = content.get(kind, {})
        if isinstance(section, dict):
            for key, value in section.items():
                if isinstance(value, str):
                    found.update((fold(word), key) for word in value.split())
                else:
                    found[fold(key)] = str(value)
    return found


@cache
def _files() -> dict[str, dict[str, object]]:
    folder: Path = find_resources() / "rules"
    found = sorted(folder.glob("words.*.toml"))
    return {path.name.split(".")[1]: tomllib.loads(path.read_text(encoding="utf-8")) for path in found}


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split()
    return [str(entry) for entry in value] if isinstance(value, (list, tuple)) else []
