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
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core.model import Role, SessionId, TurnId

Redact = Callable[[str], str]

TWINS_FOLDER = PurePosixPath("memory_tree/content/episodic")
SYNCS_AT_ONCE = 8
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


# Below, paths are strings: a replay publishes thousands of twins, and `Path` costs more than the calls themselves.


def write_temporary(folder: str, data: bytes) -> str:
    """Write a file under a name that `sweep_temporaries` knows, synced; returns its path."""
    temporary = os.path.join(folder, f".tmp-{os.urandom(8).hex()}")
    _write_new(temporary, data)
    return temporary


def _give_name(folder: str, temporary: str, data: bytes, first_number: int) -> int:
    """Give a written twin the first free number from `first_number` on and return that."""
    number = first_number
    while True:
        try:
            _publish(temporary, os.path.join(folder, name_of(number)), data)
            return number
        except FileExistsError:
            number += 1


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
        self._workspace = workspace
        self._root = workspace.joinpath(*TWINS_FOLDER.parts)
        self._redact = redact
        self._lock = threading.Lock()
        self._next: dict[str, int] = {}
        self._pool = ThreadPoolExecutor(SYNCS_AT_ONCE, thread_name_prefix="twins")  # its threads come when needed

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False)

    def write(self, *twins: Twin) -> tuple[PurePosixPath, ...]:
        """Publish twins and return their paths below the workspace; raise `OSError` if that fails.

        When this returns all are on disk, whole and under their names: the folders are synced once, at the end.
        """
        paths = tuple(self._publish(twins))
        for folder in dict.fromkeys(path.parent.name for path in paths):
            _sync_folder(str(self._root / folder))
        return paths

    def sweep(self, now: float) -> int:
        """Remove what crashes left behind, for the start of a process; `now` in s. Returns how many files."""
        return sweep_temporaries(self._workspace, now)

    def _publish(self, twins: Sequence[Twin]) -> Iterator[PurePosixPath]:
        names = {each: folder_name(each, self._redact) for each in {twin.session_id for twin in twins}}
        folders = [names[twin.session_id] for twin in twins]
        texts = [render_twin(twin).encode("utf-8", "replace") for twin in twins]
        paths = {name: str(self._root / name) for name in folders}
        temporaries: list[str] = []
        try:
            for name in paths:
                self._number(name)
            self._write_all([paths[name] for name in folders], texts, temporaries)
            for name, temporary, data in zip(folders, temporaries, texts, strict=True):
                yield TWINS_FOLDER / name / name_of(self._name(name, paths[name], temporary, data))
        except OSError:
            with self._lock:
                for name in folders:
                    self._next.pop(name, None)  # the folder may be gone or read-only: look again next time
            raise
        finally:
            for temporary in temporaries:
                remove(temporary)

    def _write_all(self, folders: Sequence[str], texts: Sequence[bytes], temporaries: list[str]) -> None:
        """Write each text under a temporary name of its own; the names are noted as they come to be."""
        if len(texts) < 2:
            temporaries += map(write_temporary, folders, texts)
            return
        # syncs that wait together share the disk's journal: forty cost little more than one
        started = [
            self._pool.submit(write_temporary, folder, data) for folder, data in zip(folders, texts, strict=True)
        ]
        wait(started)
        failures = [error for each in started if (error := each.exception()) is not None]
        temporaries += [each.result() for each in started if each.exception() is None]
        if failures:
            raise failures[0]

    def _number(self, name: str) -> None:
        """Make a folder and find its next number, once a process."""
        with self._lock:
            if name not in self._next:
                folder = self._root / name
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._next[name] = int(next_name(os.listdir(folder)).removesuffix(".md"))

    def _name(self, name: str, folder: str, temporary: str, data: bytes) -> int:
        """Give a written twin its name, the next that is free."""
        with self._lock:
            first = self._next.get(name, 0)
            self._next[name] = first + 1
        number = _give_name(folder, temporary, data, first)
        with self._lock:
            self._next[name] = max(self._next.get(name, 0), number + 1)
        return number


def _write_new(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY, 0o600)
    try:
        try:
            left = memoryview(data)
            while left:
                left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        remove(path)  # a full disk: the name is ours, and nothing is better than half
        raise


def remove(path: str) -> None:
    """Remove a file that may be gone."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _publish(temporary: str, final: str, data: bytes) -> None:
    """Give the written file its final name, never replacing one."""
    try:
        os.link(temporary, final)
    except FileExistsError:
        raise
    except OSError:
        # No hard links on this disk (FAT, some network shares): claim the name exclusively instead.
        # A crash here can leave a short file; the check against the database rewrites it.
        _write_new(final, data)


def _sync_folder(folder: str) -> None:
    if os.name == "nt":  # folders cannot be opened there; NTFS journals its names
        return
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
