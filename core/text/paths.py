"""References in a text: file paths and addresses, as written.

Pure. Understands CJK text glued to a path, Windows folders with blanks, and what only looks like
a path (`and/or`, `24/7`, product and host names). The lists are in `resources/rules/paths.toml`.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from core.paths import find_resources

_CACHED_LENGTH = 4_000  # characters; an item, not a document

Span = tuple[int, int, str]  # start, end, the reference as written

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_STOPS = "，。；：、！？（）“”‘’《》【】「」『』〈〉〔〕…—～·"
_ADDRESS = re.compile(rf"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"'`|{_CJK_STOPS}]+")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_WINDOWS = re.compile(
    rf"""(?:(?<![A-Za-z0-9])[A-Za-z]:\\|\\\\[\w.-]+\\)
    (?:[^\\/:*?"<>|\s.,;{_CJK_STOPS}]+(?:[ ][^\\/:*?"<>|\s.,;{_CJK_STOPS}]+)*(?:\.[^\\/:*?"<>|\s,;{_CJK_STOPS}]*)?\\)*
    [^\\/:*?"<>|\s,;()\[\]{{}}'`{_CJK_STOPS}]*""",
    re.VERBOSE,
)
_CANDIDATE = re.compile(rf"[^\s\"'`()\[\]{{}}<>,;|=→{_CJK_STOPS}]+")
_HINT = re.compile(r"[./\\]|[A-Z]\w{4}|[a-z]{4}file")  # no reference without one of these
_LINE_NUMBER = re.compile(r":\d+(?::\d+)?$")
_EXTENSION = re.compile(r"[^.]\.([A-Za-z][A-Za-z0-9]{0,11}|7z)$")
_AFTER_EXTENSION = re.compile(rf"(\.(?:[A-Za-z][A-Za-z0-9]{{0,11}}|7z))[{_CJK}].*$")
_AFTER_ASCII = re.compile(rf"([A-Za-z0-9_])[{_CJK}]+$")
_BEFORE_ASCII = re.compile(rf"^.*[{_CJK}](?=[A-Za-z_][^{_CJK}]*$)")
_BEFORE_START = re.compile(rf"^[{_CJK}]+(?=(?:\.{{1,2}}|~)[/\\])")
_BEFORE_ROOT = re.compile(rf"^[{_CJK}]+(?=/([A-Za-z]+)(?:/|$))")
_BEFORE_DOT_FILE = re.compile(rf"^[{_CJK}]+(?=\.[A-Za-z_])")
_DOT_FILE = re.compile(r"\.[A-Za-z_][\w-]*(?:\.[\w-]+)*$")
_LETTER_START = re.compile(r"[^\W\d]|\.\w")
_SHARED_OBJECT = re.compile(r"lib[\w+.-]+\.so(?:\.\d+)*$")


def find_paths(text: str) -> tuple[str, ...]:
    """Return the paths and addresses of a text in order, each once, as written."""
    return tuple(dict.fromkeys(reference for _, _, reference in find_path_spans(text)))


def find_path_spans(text: str) -> tuple[Span, ...]:
    """Return where each path and address of a text stands, repeats included."""
    return _cached_spans(text) if len(text) <= _CACHED_LENGTH else _find_spans(text)


@lru_cache(maxsize=2_048)
def _cached_spans(text: str) -> tuple[Span, ...]:
    return _find_spans(text)


def _find_spans(text: str) -> tuple[Span, ...]:
    if not _HINT.search(text):
        return ()
    spans: list[Span] = []
    rest = text
    for sign, pattern, clean in (("://", _ADDRESS, _clean_address), ("@", _EMAIL, None), ("\\", _WINDOWS, _clean_end)):
        if sign not in rest:
            continue
        for found in pattern.finditer(rest):
            reference = clean(found[0]) if clean else ""
            if reference and len(reference) > 3:
                spans.append((found.start(), found.start() + len(reference), reference))
        rest = pattern.sub(lambda found: " " * len(found[0]), rest)
    spans += _plain_spans(rest)
    return tuple(sorted(spans))


def covers(old_reference: str, text: str) -> bool:
    """Whether a text still names a reference: the same, or a longer path that ends in it."""
    return any(_same_or_longer(_slashes(old_reference), _slashes(new)) for new in find_paths(text))


def find_missing(old_references: Iterable[str], text: str) -> tuple[str, ...]:
    """Return the references a text no longer names.

    Three or more of one folder count as named by the folder's own path or address.
    """
    named = [_slashes(reference) for reference in find_paths(text)]
    covered = {ending for new in named for ending in _endings(new)}
    missing = [old for old in old_references if _slashes(old) not in covered]
    folders: dict[str, list[str]] = defaultdict(list)
    for old in missing:
        folder = _slashes(old).rstrip("/").rpartition("/")[0]
        folders[folder].append(old)
    folded = {f for f, olds in folders.items() if f and len(olds) >= 3 and _names_folder(f, named, text)}
    return tuple(old for old in missing if _slashes(old).rstrip("/").rpartition("/")[0] not in folded)


def _names_folder(folder: str, named: list[str], text: str) -> bool:
    if any(_same_or_longer(folder, new.rstrip("/")) for new in named):
        return True
    # "core/store" alone is no path by the rules, but it does name the folder.
    pattern = rf"(?<![\w./]){re.escape(folder)}(?![\w/.-]*[\w-])"
    return "/" in folder and re.search(pattern, _slashes(text)) is not None


def _endings(new: str) -> Iterator[str]:
    """Yield all that a reference covers (`_same_or_longer`): itself and its ends from each slash on."""
    yield new
    place = new.find("/")
    while place >= 0:
        yield new[place:]
        yield new[place + 1 :]
        place = new.find("/", place + 1)


def _same_or_longer(old: str, new: str) -> bool:
    return new == old or new.endswith(old if old.startswith("/") else f"/{old}")


def _slashes(reference: str) -> str:
    plain = reference.replace("\\", "/")
    return plain[2:] if plain.startswith("./") else plain


def _clean_address(address: str) -> str:
    host_end = address.find("/", address.find("://") + 3)
    host = address if host_end < 0 else address[:host_end]
    if glued := re.search(rf"[{_CJK}]", host):
        address = address[: glued.start()]
    address = _AFTER_EXTENSION.sub(r"\1", address) if host_end > 0 else address
    address = _trim_address(address)
    return address if not address.endswith("://") else ""


def _trim_address(address: str) -> str:
    """Cut closing punctuation; a bracket stays where the address itself opened it."""
    surplus = {close: address.count(close) - address.count(opened) for close, opened in _OPEN.items()}
    end = len(address)
    while end and (address[end - 1] in ".,;:!?*'\"" or surplus.get(address[end - 1], 0) > 0):
        if address[end - 1] in surplus:
            surplus[address[end - 1]] -= 1
        end -= 1
    return address[:end]


_OPEN = {")": "(", "]": "[", "}": "{"}


def _clean_end(path: str) -> str:
    path = path.rstrip(".:!?*")
    return _AFTER_EXTENSION.sub(r"\1", _LINE_NUMBER.sub("", path))


def _plain_spans(text: str) -> Iterator[Span]:
    for found in _CANDIDATE.finditer(text):
        raw = found[0]
        if not _HINT.search(raw):
            continue
        path = raw.strip("*").rstrip(".:!?*").lstrip(":")
        path = _LINE_NUMBER.sub("", path).rstrip(".:!?")
        path = _cut_neighbours(path.partition("#")[0] if not path.startswith("#") else path)
        if path and (_is_slashed(path) if "/" in path or "\\" in path else _is_name(path)):
            start = found.start() + raw.find(path)
            yield start, start + len(path), path


def _cut_neighbours(path: str) -> str:
    """Cut CJK text that is glued to a path; what is part of a name stays."""
    if path.isascii():
        return path
    path = _AFTER_EXTENSION.sub(r"\1", path)
    path = _BEFORE_START.sub("", path)
    root = _BEFORE_ROOT.match(path)
    if root and root[1] in _lists()["roots"]:
        return _AFTER_ASCII.sub(r"\1", path[root.end() :])
    first, slash, rest = path.partition("/")
    dot_file = _BEFORE_DOT_FILE.match(first)
    if dot_file and not slash and (first.endswith(".env") or not _has_known_extension(first)):
        return first[dot_file.end() :]
    stem, dot, extension = first.partition(".") if not slash else (first, "", "")
    if cut := _BEFORE_ASCII.match(stem):
        stem = stem[cut.end() :]
    path = stem + dot + extension + slash + rest
    return path if _EXTENSION.search(path) else _AFTER_ASCII.sub(r"\1", path)


def _is_slashed(path: str) -> bool:
    """Whether a candidate with a slash is a path."""
    plain = path.replace("\\", "/")
    segments = [segment for segment in plain.split("/") if segment]
    if not segments or not any(map(str.isalpha, plain)):
        return False
    last = segments[-1]
    if plain.startswith(("./", "../", "~/")) or _EXTENSION.search(last) or last in _lists()["names"]:
        return True
    if plain.startswith("/"):
        return len(segments) >= 2 or segments[0] in _lists()["roots"]
    if plain.endswith("/"):
        return len(plain) > 2 and _LETTER_START.match(segments[0]) is not None
    if len(segments) >= 3:
        return segments[0][0].isascii() and all(map(_LETTER_START.match, segments))
    if len(segments) == 2 and all(map(_LETTER_START.match, segments)):
        return segments[0] in _lists()["folders"] or any("." in s.strip(".") or "_" in s for s in segments)
    return False


def _is_name(name: str) -> bool:
    """Whether a candidate without a slash is a file."""
    if name in _lists()["names"]:
        return True
    if name.casefold() in _lists()["products"] or "@" in name or ":" in name:
        return False
    if name.startswith("."):
        ending = name.rpartition(".")[2].casefold()
        only_ending = name.count(".") == 1 and (
            ending in _lists()["domains"] or (ending in _lists()["extensions"] and ending != "env")
        )
        return bool(_DOT_FILE.match(name)) and not only_ending and len(name) > 2
    return _has_known_extension(name) or _SHARED_OBJECT.match(name) is not None


def _has_known_extension(name: str) -> bool:
    found = _EXTENSION.search(name)
    if not found or found[1].casefold() not in _lists()["extensions"]:
        return False
    stem = name[: found.start(1) - 1]
    if len(found[1]) == 1 and found[1] not in "ch" and (found[1].isupper() or len(stem.rpartition(".")[2]) == 1):
        return False  # a.m, G.E.M
    return any(char.isalnum() for char in stem)


@cache
def _lists() -> dict[str, frozenset[str]]:
    file = find_resources() / "rules" / "paths.toml"
    content: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: frozenset(listed.split()) for name, listed in content.items()}


def is_domain_ending(word: str) -> bool:
    """Whether a word ends host names (`com`, `cn` …)."""
    return word in _lists()["domains"]
