"""Saved prefixes: what a model has read of a conversation, as files below `state/kv/`, readable by their owner only.

A file holds a line of JSON, the tokens, and llama.cpp's state of them. It is a cache: whatever is wrong with one, it
is removed and the prompt is read again. Names are hashes, so that a conversation's files are found without opening
any. Knows nothing of llama.cpp; used by the model process, and by the program to forget a conversation.
"""

import hashlib
import json
import logging
import os
import sys
import zlib
from array import array
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

log = logging.getLogger(__name__)

SUFFIX = ".kv"
PART_SUFFIX = ".part"
FORMAT = 1
KEPT_FILES = 4
KEPT_BYTES = 1 << 30
TOKEN_BYTES = array("i").itemsize
_HEAD_LIMIT_BYTES = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedState:
    """What a model knows of some tokens, in order from the first."""

    tokens: list[int]
    data: memoryview  # llama.cpp's own form


def forget_files(folder: Path, conversation: str) -> None:
    """Remove a conversation's files, of all models."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in folder.iterdir():
            if path.name.startswith(_name(conversation)):
                path.unlink(missing_ok=True)


def _name(conversation: str) -> str:
    return hashlib.sha256(conversation.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class StateFiles:
    """The files of one model."""

    def __init__(self, folder: Path, model: str) -> None:
        """`model` names the model and all that makes its states fit: its file, the library's version."""
        self._folder = folder
        self._model = hashlib.sha256(model.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for part in folder.glob(f"*{PART_SUFFIX}"):  # of a process that was killed
            part.unlink(missing_ok=True)

    def _path(self, conversation: str) -> Path:
        return self._folder / f"{_name(conversation)}-{self._model}{SUFFIX}"

    def read_tokens(self, conversation: str) -> list[int]:
        """Return the tokens that are saved, [] if none are; the state itself is not read."""
        return state.tokens if (state := self._read(conversation, whole=False)) is not None else []

    def read(self, conversation: str) -> SavedState | None:
        """Return what is saved, checked; None if there is nothing that can be used."""
        return self._read(conversation, whole=True)

    def _read(self, conversation: str, *, whole: bool) -> SavedState | None:
        path = self._path(conversation)
        try:
            with path.open("rb") as file:
                head = json.loads(file.readline(_HEAD_LIMIT_BYTES))
                if head["format"] != FORMAT or head["order"] != sys.byteorder:
                    raise ValueError("another format")
                if os.fstat(file.fileno()).st_size != file.tell() + head["tokens"] * TOKEN_BYTES + head["bytes"]:
                    raise ValueError("another length")
                tokens = array("i", file.read(head["tokens"] * TOKEN_BYTES))
                if not whole:
                    return SavedState(tokens=tokens.tolist(), data=memoryview(b""))
                data = memoryview(bytearray(head["bytes"]))
                file.readinto(data)
            if zlib.crc32(data, zlib.crc32(tokens)) != head["crc32"]:
                raise ValueError("a wrong checksum")
            return SavedState(tokens=tokens.tolist(), data=data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, MemoryError) as error:
            log.warning("the saved prefix %s cannot be used (%s); it is removed", path.name, error)
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return None

    def write(self, conversation: str, state: SavedState) -> bool:
        """Save a state in place of the last one, and drop the oldest files; return whether it could be saved."""
        if len(state.data) > KEPT_BYTES:
            return False
        path = self._path(conversation)
        part = path.with_suffix(PART_SUFFIX)
        tokens = array("i", state.tokens)
        head = {
            "format": FORMAT,
            "order": sys.byteorder,
            "tokens": len(tokens),
            "bytes": len(state.data),
            "crc32": zlib.crc32(state.data, zlib.crc32(tokens)),
        }
        try:
            part.unlink(missing_ok=True)
            with open(
                os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb"
            ) as f:
                f.write(json.dumps(head).encode("ascii") + b"\n")
                f.write(tokens.tobytes())
                f.write(state.data)
            part.replace(path)  # no fsync: after a power cut the checksum finds a file that is not whole
        except OSError as error:
            log.warning("a prefix could not be saved (%s)", error)
            with suppress(OSError):
                part.unlink(missing_ok=True)
            return False
        self._prune()
        return True

    def remove(self, conversation: str) -> None:
        """Remove what is saved of a conversation."""
        forget_files(self._folder, conversation)

    def _prune(self) -> None:
        size_bytes = 0
        for number, (path, bytes_) in enumerate(self._list_newest_first()):
            size_bytes += bytes_
            if number >= KEPT_FILES or size_bytes > KEPT_BYTES:
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    def _list_newest_first(self) -> Iterator[tuple[Path, int]]:
        found = []
        for path in self._folder.glob(f"*{SUFFIX}"):
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_mtime_ns, path, stat.st_size))
        for _, path, bytes_ in sorted(found, reverse=True):
            yield path, bytes_
