"""The files of an archive: readable twins of what the store holds, each written whole or not at all.

Order and names are those of working-memory.md section 21; `.done` comes last. Every step of a write is
told to `on_step`, so that a test can end the process at each of them.
"""

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.sessions.archive_state import (
    ABSTRACT,
    DONE,
    MEMORY_DIFF,
    MESSAGES,
    META,
    OVERVIEW,
    ArchiveMeta,
    Phase1,
    StageState,
)

__all__ = [
    "ABSTRACT",
    "DONE",
    "MEMORY_DIFF",
    "MESSAGES",
    "META",
    "OVERVIEW",
    "ArchiveFolder",
    "OnStep",
    "ignore_step",
    "list_archives",
    "write_atomically",
]

PREFIX = "archive_"
OnStep = Callable[[str], None]  # called after "written", "synced", "renamed", "folder synced" or "committed"


def ignore_step(step: str) -> None:
    """The hook of a program that nobody tests."""


@dataclass(frozen=True, slots=True)
class ArchiveFolder:
    """`sessions/<session>/archive_NNN`; making one touches nothing."""

    session: Path
    number: int
    on_step: OnStep = ignore_step

    @property
    def path(self) -> Path:
        return self.session / f"{PREFIX}{self.number:03}"

    def make(self) -> None:
        """Make the folder unless it is there."""
        self.path.mkdir(parents=True, exist_ok=True)

    def claim(self) -> bool:
        """Make the folder as its only maker; False if it is there already."""
        self.session.mkdir(parents=True, exist_ok=True)
        try:
            self.path.mkdir()
        except FileExistsError:
            return False
        return True

    def remove(self) -> None:
        """Remove the folder and what is in it; a link in its place is left alone."""
        if self.path.is_dir() and not self.path.is_symlink():
            shutil.rmtree(self.path)

    def list_files(self) -> frozenset[str]:
        """Return the names in the folder, none where it is missing."""
        try:
            return frozenset(os.listdir(self.path))
        except OSError:
            return frozenset()

    def clear_temporaries(self) -> None:
        """Remove what writes that were cut off have left."""
        for name in self.list_files():
            if name.startswith(".") and name.endswith(".tmp"):
                (self.path / name).unlink(missing_ok=True)

    def write(self, name: str, text: str) -> None:
        """Write one file: temporary beside it, flushed, synced, renamed."""
        write_atomically(self.path / name, text, self.on_step)

    def sync(self) -> None:
        """Make the renames of a phase durable; each file's text was synced before its own."""
        sync_folder(self.path)
        self.on_step("folder synced")

    def write_json(self, name: str, value: Mapping[str, object]) -> None:
        """Write an object, a line a key: as readable as indented all through, in a tenth of the time."""
        rows = (f"  {json.dumps(key)}: {json.dumps(part, ensure_ascii=False)}" for key, part in value.items())
        self.write(name, "{\n" + ",\n".join(rows) + "\n}\n")

    def write_lines(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        self.write(name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    def write_session(self, value: object) -> None:
        """Write the conversation's own `.meta.json`."""
        write_atomically(self.session / META, json.dumps(value, ensure_ascii=False) + "\n", self.on_step)

    def read_meta(self) -> dict[str, Any]:
        """Return the archive's `.meta.json`, empty where it is missing or damaged."""
        try:
            value = json.loads((self.path / META).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def hash_overview(self) -> str:
        """Return the SHA-256 of the document in the folder, "" where there is none."""
        try:
            return sha256((self.path / OVERVIEW).read_bytes()).hexdigest()
        except OSError:
            return ""


def read_states(meta: dict[str, Any]) -> ArchiveMeta | None:
    """Return the states in a `.meta.json`; None where it was missing or damaged."""
    if not meta:
        return None
    return ArchiveMeta(
        phase1=str(meta.get("phase1", Phase1.PREPARING)),
        wm=str(meta.get("wm", StageState.PENDING)),
        extraction=str(meta.get("extraction", StageState.PENDING)),
    )


def list_archives(session: Path) -> list[int]:
    """Return the numbers of the archive folders of a conversation."""
    try:
        names = os.listdir(session)
    except OSError:
        return []
    found = [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)]
    return sorted(int(number) for number in found if number.isascii() and number.isdigit())


def write_atomically(target: Path, text: str, on_step: OnStep = ignore_step) -> None:
    """Replace a file of ours so that a reader or a crash sees the old text or the new one, whole."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            on_step("written")
            os.fsync(file.fileno())
            on_step("synced")
        os.replace(temporary, target)
        on_step("renamed")
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to the disk."""
    if os.name == "nt":  # Windows has no handle for a folder to sync
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
