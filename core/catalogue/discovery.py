"""Finds the models that other programs hold on this machine: reads folders, manifests and headers, changes nothing.

A file counts once, however many names and programs lead to it. Files for pictures (mmproj), later parts of split
models and broken files are left out.
"""

import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.catalogue.facts import ModelFacts, find_parts, is_later_part, is_projector, read_facts
from core.catalogue.places import Place
from core.errors import ModelFileError

log = logging.getLogger(__name__)

DEEPEST = 8  # folders below a program's own
MOST_ENTRIES = 20_000  # that are looked at in one place
_MODEL_LAYER = "application/vnd.ollama.image.model"
_MANIFEST_BYTES = 1 << 20
_DIGEST = re.compile(r"sha256[:-]([0-9a-f]{64})")
_HASH_NAME = re.compile(r"(?:sha256-)?([0-9a-f]{64})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """A usable model in another program's folder."""

    path: Path
    program: str
    name: str
    facts: ModelFacts


@dataclass(frozen=True, slots=True)
class _Candidate:
    path: Path
    name: str = ""  # "": the file's own


def discover(places: tuple[Place, ...], known: tuple[Path, ...] = ()) -> tuple[Discovered, ...]:
    """Return the models in these places, by program and name; what is the same file as a known one is left out."""
    seen = {key for path in known for key in _identify(path)}
    found: list[Discovered] = []
    for place in places:
        for candidate in sorted(_list_candidates(place), key=lambda each: (each.name, str(each.path))):
            keys = _identify(candidate.path)
            if not keys or seen & keys:
                continue
            try:
                facts = read_facts(candidate.path)
            except ModelFileError as error:
                log.info("%s holds a file that cannot be used: %s", place.program, error)
                continue
            seen |= keys
            name = candidate.name or facts.name
            found.append(Discovered(path=candidate.path, program=place.program, name=name, facts=facts))
    return tuple(found)


def _list_candidates(place: Place) -> list[_Candidate]:
    match place.layout:
        case "ollama":
            return list(_read_manifests(place.folder))
        case _:
            return [
                _Candidate(path)
                for path in _walk(place.folder)
                if path.suffix.lower() == ".gguf" and not is_later_part(path) and not is_projector(path)
            ]


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, shallow ones first; links to folders are not followed."""
    waiting, looked = [(folder, 0)], 0
    while waiting:
        here, depth = waiting.pop(0)
        try:
            with os.scandir(here) as entries:
                for entry in sorted(entries, key=lambda each: each.name):
                    looked += 1
                    if looked > MOST_ENTRIES:
                        log.warning("%s holds more than %d files; the rest was not looked at", folder, MOST_ENTRIES)
                        return
                    if entry.is_dir(follow_symlinks=False):
                        if depth < DEEPEST:
                            waiting.append((Path(entry.path), depth + 1))
                    elif entry.is_file():
                        yield Path(entry.path)
        except OSError as error:
            log.info("%s cannot be looked into (%s)", here, error)


def _read_manifests(folder: Path) -> Iterator[_Candidate]:
    """Yield Ollama's models: each manifest names the blob that holds the weights."""
    manifests = folder / "manifests"
    for file in _walk(manifests):
        digest = _read_model_digest(file)
        if digest is None:
            continue
        blob = folder / "blobs" / f"sha256-{digest}"
        if not blob.is_file():  # older versions wrote a colon
            blob = folder / "blobs" / f"sha256:{digest}"
        if blob.is_file():
            yield _Candidate(blob, _name_manifest(file.relative_to(manifests)))


def _read_model_digest(file: Path) -> str | None:
    try:
        if file.stat().st_size > _MANIFEST_BYTES:
            return None
        layers = json.loads(file.read_text("utf-8"))["layers"]
        digests = [str(layer["digest"]) for layer in layers if layer["mediaType"] == _MODEL_LAYER]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    match = _DIGEST.fullmatch(digests[0]) if len(digests) == 1 else None
    return match[1] if match else None


def _name_manifest(path: Path) -> str:
    """Return a model's name as Ollama writes it: qwen3:4b, someone/model:tag, hf.co/someone/model:tag."""
    *folders, tag = path.parts
    if folders[:2] == ["registry.ollama.ai", "library"]:
        folders = folders[2:]
    elif folders[:1] == ["registry.ollama.ai"]:
        folders = folders[1:]
    return f"{'/'.join(folders)}:{tag}"


def _identify(path: Path) -> set[tuple[object, ...]]:
    """Return what tells files apart: device and inode, and the sha256 where the file's name is one."""
    try:
        parts = find_parts(path)
        target = parts[0].resolve()
        stat = target.stat()
    except (OSError, ModelFileError):
        return set()
    keys: set[tuple[object, ...]] = {(stat.st_dev, stat.st_ino) if stat.st_ino else (str(target),)}
    if match := _HASH_NAME.match(target.name):
        keys.add((match[1],))
    return keys
