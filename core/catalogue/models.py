"""The models the program knows by name, read from models.txt, and where their files are.

models.txt holds one INI block a model (its head explains the keys). In a source tree it lies beside resources/,
in a bundle beside or within it.
"""

import configparser
from dataclasses import dataclass
from pathlib import Path

from core.errors import ModelFileError

CHAT = "chat"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """One block of models.txt."""

    id: str
    name: str
    role: str  # chat or embedding
    source: str
    file: str
    sha256: str
    bytes: int
    context_tokens: int
    licence: str
    least_ram_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundModel:
    """A listed model whose file is there."""

    entry: ModelEntry
    path: Path


def parse_models(text: str) -> tuple[ModelEntry, ...]:
    """Return the entries of models.txt in order; raise `ModelFileError` naming the block and key that is wrong."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ModelFileError(f"The list of models cannot be read: {error.message.splitlines()[0]}") from error
    return tuple(_parse_entry(parser[block]) for block in parser.sections())


def _parse_entry(block: configparser.SectionProxy) -> ModelEntry:
    def text(key: str) -> str:
        value = block.get(key, "").strip()
        if not value:
            raise ModelFileError(f"The list of models is incomplete: [{block.name}] has no {key}.")
        return value

    def number(key: str) -> int:
        try:
            return int(text(key))
        except ValueError as error:
            raise ModelFileError(f"The list of models is wrong: {key} of [{block.name}] is not a number.") from error

    file = text("file")
    if file in {".", ".."} or "/" in file or "\\" in file:
        raise ModelFileError(f"The list of models is wrong: file of [{block.name}] is not a plain file name.")
    return ModelEntry(
        id=block.name,
        name=text("name"),
        role=text("role"),
        source=text("source"),
        file=file,
        sha256=text("sha256").lower(),
        bytes=number("bytes"),
        context_tokens=number("context"),
        licence=text("licence"),
        least_ram_bytes=number("least_ram_bytes"),
    )


def find_models_list(resources: Path) -> Path | None:
    """Return the path of models.txt: within `resources` or beside it."""
    candidates = (resources / "models.txt", resources.parent / "models.txt")
    return next((path for path in candidates if path.is_file()), None)


def load_models(resources: Path) -> tuple[ModelEntry, ...]:
    """Return the known models; none if there is no list."""
    path = find_models_list(resources)
    if path is None:
        return ()
    try:
        return parse_models(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFileError(f"The list of models {path} cannot be read ({error}).") from error


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
