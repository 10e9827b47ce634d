"""The files of an archive: readable twins of what the store holds, each written whole or not at all.

Order and names are those of working-memory.md section 21; `.done` comes last.
"""

import json
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

META = ".meta.json"
MESSAGES = "messages.jsonl"
OVERVIEW = ".overview.md"
ABSTRACT = ".abstract.md"
DIFF = "memory_diff.json"
DONE = ".done"


@dataclass(frozen=True, slots=True)
class ArchiveFolder:
    """`sessions/<session>/archive_NNN`; making one touches nothing."""

    session: Path
    number: int

    @property
    def path(self) -> Path:
        return self.session / f"archive_{self.number:03}"

    def make(self) -> None:
        """Make the folder; one left by a crash before the commit point is taken over."""
        self.path.mkdir(parents=True, exist_ok=True)

    def exists(self, name: str) -> bool:
        return (self.path / name).exists()

    def write(self, name: str, text: str) -> None:
        """Write one file: temporary beside it, flushed, synced, renamed."""
        write_atomically(self.path / name, text)

    def sync(self) -> None:
        """Make the renames of a phase durable; each file's text was synced before its own."""
        sync_folder(self.path)

    def write_json(self, name: str, value: object) -> None:
        self.write(name, json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def write_lines(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        self.write(name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    def read_meta(self) -> dict[str, Any]:
        """Return the archive's `.meta.json`, empty where it is missing or damaged."""
        try:
            value = json.loads((self.path / META).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}


def write_atomically(target: Path, text: str) -> None:
    """Replace a file of ours so that a reader or a crash sees the old text or the new one, whole."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
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
