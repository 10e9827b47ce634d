"""The models the program knows by name, read from models.txt, and where their files are.

models.txt holds one INI block a model (its head explains the keys). In a source tree it lies beside resources/,
in a bundle beside or within it; a second one in the data folder is the user's. A block that is wrong is named by its
line and left out; the rest of the file counts.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

CHAT = "chat"
ROLES = (CHAT, "embedding")
FILE = "models.txt"
_HEADING = re.compile(r"\[(?P<id>[^\[\]]+)\]$")
_SHA256 = re.compile(r"[0-9a-f]{64}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One block of models.txt."""

    id: str
    name: str
    role: str  # chat or embedding
    source: str  # pypi:PACKAGE==VERSION, or an https address
    file: str
    sha256: str
    bytes: int
    context_tokens: int
    licence: str
    least_ram_bytes: int
    redirects: tuple[str, ...] = ()  # hosts that the source's host may send a download to
    by_user: bool = False

    @property
    def is_download(self) -> bool:
        """Whether the program can fetch it itself."""
        return not self.source.startswith("pypi:")

    @property
    def host(self) -> str:
        """The host that a download would ask, "" if there is none."""
        return (urlsplit(self.source).hostname or "") if self.is_download else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a models.txt holds, and what is wrong with it, one sentence each."""

    entries: tuple[ModelEntry, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundModel:
    """A listed model whose file is there."""

    entry: ModelEntry
    path: Path


class _WrongLineError(Exception):
    """A line of a block cannot be used."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


@dataclass(slots=True)
class _Block:
    id: str
    line: int
    values: dict[str, tuple[int, str]]  # key -> (line, value)

    def text(self, key: str) -> str:
        line, value = self.values.get(key, (self.line, ""))
        if not value:
            raise _WrongLineError(line, f"[{self.id}] has no {key}")
        return value

    def number(self, key: str) -> int:
        text = self.text(key)
        if not re.fullmatch(r"\d{1,15}", text, re.ASCII) or int(text) == 0:
            raise _WrongLineError(self.values[key][0], f"{key} of [{self.id}] is not a number above 0")
        return int(text)

    def check(self, key: str, *, holds: bool, reason: str) -> None:
        if not holds:
            raise _WrongLineError(self.values[key][0], f"{key} of [{self.id}] {reason}")


def parse_models(text: str, *, name: str = FILE, by_user: bool = False) -> Listing:
    """Return the models of a models.txt in order, and a sentence naming the line for each block that is left out."""
    entries: dict[str, ModelEntry] = {}
    blocks, wrong = _split(text)
    for block in blocks:
        try:
            if block.id in entries:
                raise _WrongLineError(block.line, f"[{block.id}] is there twice")
            entries[block.id] = _read_entry(block, by_user=by_user)
        except _WrongLineError as error:
            wrong.append(error)
    problems = tuple(
        f"{name}, line {error.line}: {error.reason}. This entry is left out; the others are used."
        for error in sorted(wrong, key=lambda error: error.line)
    )
    return Listing(entries=tuple(entries.values()), problems=problems)


def _split(text: str) -> tuple[list[_Block], list[_WrongLineError]]:
    """Return the blocks, and the lines that belong to none or are no `key = value`; a block with such a line goes."""
    blocks: list[_Block] = []
    wrong: list[_WrongLineError] = []
    spoiled: set[int] = set()
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        key, equals, value = line.partition("=")
        if heading := _HEADING.match(line):
            blocks.append(_Block(heading["id"].strip(), number, {}))
        elif not blocks:
            wrong.append(_WrongLineError(number, f"{line[:40]!r} stands before the first [name]"))
        elif not equals or not key.strip():
            wrong.append(_WrongLineError(number, f"{line[:40]!r} is not of the form key = value"))
            spoiled.add(len(blocks) - 1)
        else:
            blocks[-1].values[key.strip().lower()] = (number, value.strip())
    return [block for i, block in enumerate(blocks) if i not in spoiled], wrong


def _read_entry(block: _Block, *, by_user: bool) -> ModelEntry:
    file, role, sha256, source = (block.text(key) for key in ("file", "role", "sha256", "source"))
    plain = file not in {".", ".."} and not re.search(r'[/\\:*?"<>|\x00-\x1f]', file) and file.endswith(".gguf")
    block.check("file", holds=plain, reason="is not the plain name of a .gguf file")
    block.check("role", holds=role in ROLES, reason=f"is neither of {' and '.join(ROLES)}")
    block.check("sha256", holds=bool(_SHA256.match(sha256.lower())), reason="is not 64 hexadecimal digits")
    block.check("source", holds=_is_source(source), reason="is neither pypi:PACKAGE==VERSION nor an https address")
    return ModelEntry(
        id=block.id,
        name=block.text("name"),
        role=role,
        source=source,
        file=file,
        sha256=sha256.lower(),
        bytes=block.number("bytes"),
        context_tokens=block.number("context"),
        licence=block.text("licence"),
        least_ram_bytes=block.number("least_ram_bytes"),
        redirects=tuple(block.values.get("redirects", (0, ""))[1].replace(",", " ").lower().split()),
        by_user=by_user,
    )


def _is_source(source: str) -> bool:
    if source.startswith("pypi:"):
        return bool(re.fullmatch(r"pypi:[\w.-]+==[\w.!+-]+", source))
    try:
        parts = urlsplit(source)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host or "")))


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, by its name alone."""
    return host in {"localhost", "::1"} or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))


def find_models_list(resources: Path) -> Path | None:
    """Return the path of models.txt: within `resources` or beside it."""
    candidates = (resources / FILE, resources.parent / FILE)
    return next((path for path in candidates if path.is_file()), None)


def load_listing(resources: Path, data_folder: Path | None = None) -> Listing:
    """Return the shipped models and the user's; an id of the user's that ships too replaces it."""
    found = [
        (path, by_user)
        for path, by_user in ((find_models_list(resources), False), (data_folder and data_folder / FILE, True))
        if path is not None and path.is_file()
    ]
    entries: dict[str, ModelEntry] = {}
    problems: list[str] = []
    for path, by_user in found:
        listing = _read_list(path, by_user=by_user)
        entries |= {entry.id: entry for entry in listing.entries}
        problems += listing.problems
    return Listing(entries=tuple(entries.values()), problems=tuple(problems))


def _read_list(path: Path, *, by_user: bool) -> Listing:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Listing(problems=(f"The list of models {path} cannot be read ({error}). It is left out.",))
    return parse_models(text, name=str(path) if by_user else FILE, by_user=by_user)


def load_models(resources: Path) -> tuple[ModelEntry, ...]:
    """Return the models that ship; none if there is no list."""
    return load_listing(resources).entries


def find_model(resources: Path, models_folder: Path) -> FoundModel | None:
    """Return the first listed chat model that is there; a file of that name in the user's folder goes first."""
    for entry in load_models(resources):
        if entry.role != CHAT:
            continue
        for folder in (models_folder, resources / "models"):
            path = folder / entry.file
            if path.is_file():
                return FoundModel(entry=entry, path=path)
    return None


def match_files(entries: tuple[ModelEntry, ...]) -> Mapping[str, ModelEntry]:
    """Return the entries by the name of their file."""
    return {entry.file: entry for entry in reversed(entries)}
