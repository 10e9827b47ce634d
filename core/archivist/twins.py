"""Markdown twins: one readable file beside every indexed message, written once and never changed.

Files only; the database stays what is read. A twin is published whole or not at all, never over
another file, and its folder's name carries nothing the redactor would take out.
"""

import contextlib
import hashlib
import json
import os
import re
import stat
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core.model import Role, SessionId, TurnId

Redact = Callable[[str], str]

TWINS_FOLDER = PurePosixPath("memory_tree/content/episodic")
STALE_TEMPORARY_S = 3600
_FOLDER_CHARACTERS = 64
_DIGEST_CHARACTERS = 12
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_DEVICE = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)")
_NUMBERED = re.compile(r"([0-9]+)\.md")
_TEMPORARY = re.compile(r"\.tmp-[0-9a-f]{16}")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would rewrite line endings without it


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """What a twin says about its message. `seq` is 0 for the user's message, 1 for the reply."""

    session_id: SessionId
    turn: TurnId
    role: Role
    timestamp_ms: int
    text: str
    cost_microdollars: int = 0
    lesson: str | None = None
    tool_calls_json: str | None = None
    replaces: str | None = None  # name of the file an edited message had before

    @property
    def seq(self) -> int:
        return 0 if self.role is Role.USER else 1


def folder_name(session_id: str, redact: Redact) -> str:
    """Return the folder of a session's twins: safe on every disk, and one a session."""
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]
    if redact(session_id) != session_id:
        return f"s-{digest}"
    name = _UNSAFE.sub("_", session_id)[:_FOLDER_CHARACTERS]
    # Disks that ignore letter case would let Chat and chat share a folder.
    plain = name == session_id and name != "" and not _DEVICE.fullmatch(name)
    return name if plain and name == name.lower() else f"{name}-{digest}"


def next_name(existing: Iterable[str]) -> str:
    """Return the next free file name: highest number + 1, from 0; other names are ignored."""
    numbers = [int(match.group(1)) for name in existing if (match := _NUMBERED.fullmatch(name))]
    return name_of(max(numbers, default=-1) + 1)


def name_of(number: int) -> str:
    """Return the file name of a number: six digits, more where needed."""
    return f"{number:06d}.md"


def twin_path(session_id: str, existing: Iterable[str], redact: Redact) -> PurePosixPath:
    """Return the path of a session's next twin below the workspace."""
    return TWINS_FOLDER / folder_name(session_id, redact) / next_name(existing)


def render_twin(twin: Twin) -> str:
    """Return the file's text: front matter, a blank line, the message as it is, one newline."""
    fields: list[tuple[str, object]] = [
        ("session_id", twin.session_id),
        ("turn", twin.turn),
        ("seq", twin.seq),
        ("timestamp_ms", twin.timestamp_ms),
        ("role", twin.role.value),
        ("cost_microdollars", twin.cost_microdollars),
    ]
    optional = (("lesson", twin.lesson), ("tool_calls_json", twin.tool_calls_json), ("replaces", twin.replaces))
    fields += [(key, value) for key, value in optional if value is not None]
    front = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields)
    return f"---\n{front}---\n\n{twin.text}\n"


def publish_twin(folder: Path, text: str, first_number: int) -> int:
    """Write a twin under the first free number from `first_number` on and return that number.

    When this returns the file is on disk whole; a crash leaves no part of it under its final name.
    Raises `OSError` when the folder cannot be written.
    """
    number = _publish_unsynced(folder, text, first_number)
    _sync_folder(folder)
    return number


def _publish_unsynced(folder: Path, text: str, first_number: int) -> int:
    data = text.encode("utf-8", "replace")
    temporary = folder / f".tmp-{os.urandom(8).hex()}"
    _write_new(temporary, data)
    number = first_number
    try:
        while True:
            try:
                _publish(temporary, folder / name_of(number), data)
                break
            except FileExistsError:
                number += 1
    finally:
        temporary.unlink(missing_ok=True)
    return number


def sweep_temporaries(workspace: Path, now: float) -> int:
    """Remove temporaries older than an hour (left by a crash); return how many."""
    removed = 0
    for path in workspace.joinpath(*TWINS_FOLDER.parts).glob("*/.tmp-*"):
        with contextlib.suppress(OSError):
            info = path.lstat()
            old = now - info.st_mtime > STALE_TEMPORARY_S
            if old and stat.S_ISREG(info.st_mode) and _TEMPORARY.fullmatch(path.name):
                path.unlink()
                removed += 1
    return removed


class TwinWriter:
    """Publishes twins of a workspace; lists a session's folder once a process. Thread-safe."""

    def __init__(self, workspace: Path, redact: Redact) -> None:
        self._root = workspace.joinpath(*TWINS_FOLDER.parts)
        self._redact = redact
        self._lock = threading.Lock()
        self._next: dict[str, int] = {}

    def write(self, *twins: Twin) -> tuple[PurePosixPath, ...]:
        """Publish twins and return their paths below the workspace; raise `OSError` if that fails.

        When this returns all are on disk, whole and under their names: the folders are synced once, at the end.
        """
        paths = tuple(map(self._publish, twins))
        for folder in dict.fromkeys(path.parent.name for path in paths):
            _sync_folder(self._root / folder)
        return paths

    def _publish(self, twin: Twin) -> PurePosixPath:
        name = folder_name(twin.session_id, self._redact)
        folder = self._root / name
        with self._lock:
            if name not in self._next:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._next[name] = int(next_name(os.listdir(folder)).removesuffix(".md"))
            first = self._next[name]
            self._next[name] = first + 1
        try:
            number = _publish_unsynced(folder, render_twin(twin), first)
        except OSError:
            with self._lock:
                self._next.pop(name, None)  # the folder may be gone or read-only: look again next time
            raise
        with self._lock:
            self._next[name] = max(self._next.get(name, 0), number + 1)
        return TWINS_FOLDER / name / name_of(number)


def _write_new(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)  # a full disk: the name is ours, and nothing is better than half
        raise


def _publish(temporary: Path, final: Path, data: bytes) -> None:
    """Give the written file its final name, never replacing one."""
    try:
        os.link(temporary, final)
    except FileExistsError:
        raise
    except OSError:
        # No hard links on this disk (FAT, some network shares): claim the name exclusively instead.
        # A crash here can leave a short file; the check against the database rewrites it.
        _write_new(final, data)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there; NTFS journals its names
        return
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
