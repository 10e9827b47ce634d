"""Locks between processes: one app per data folder, one writer per workspace.

Rests on filelock's native locks: the system drops them when a process ends, however it ends, so a
file left behind by a crash locks nothing. The holder's process id is inside the file, for others
to name; it means something only while the lock is held.
"""

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from core.errors import DataFolderError, FolderInUseError

if TYPE_CHECKING:
    from filelock import FileLock

# Windows locks the file's first byte, which then nobody else can read: the id stands behind it.
_PID_OFFSET = 1
_PID_BYTES = 20
_POLL_S = 0.01


class OwnedLock:
    """An exclusive lock on a file that says inside who holds it. Not reentrant; one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: FileLock | None = None

    def acquire(self, timeout_s: float) -> bool:
        """Take the lock; False when another process keeps it for longer than `timeout_s`.

        Raises `OSError` when the file cannot be made, or is a link or no regular file.
        """
        from filelock import FileLock, Timeout

        self._refuse_special_file()
        lock = FileLock(self.path, mode=0o600, poll_interval=_POLL_S, on_acquired=_write_pid, thread_local=False)
        try:
            lock.acquire(timeout=timeout_s)
        except Timeout:
            return False
        self._lock = lock
        return True

    def release(self) -> None:
        """Give the lock back; nothing happens when it is not held."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def _refuse_special_file(self) -> None:
        try:
            mode = self.path.lstat().st_mode
        except FileNotFoundError:
            return
        if not stat.S_ISREG(mode):
            kind = "a symbolic link" if stat.S_ISLNK(mode) else "not a regular file"
            raise OSError(f"{self.path.name} is {kind}")


class AppLock:
    """Held by the one app that has a data folder open. Keep the object: dropping it gives the folder back."""

    def __init__(self, path: Path) -> None:
        self._lock = OwnedLock(path)

    def acquire(self) -> None:
        """Take the data folder; raise `FolderInUseError` at once when another app has it."""
        path = self._lock.path
        try:
            held = self._lock.acquire(0)
        except OSError as error:
            raise DataFolderError(
                f"Keepsake cannot lock its data folder with {path} ({error.strerror or error}). Nothing was "
                "changed. Give yourself write access to that file, or remove it if it is a link."
            ) from error
        if not held:
            pid = read_owner(path)
            who = f" (process {pid})" if pid is not None else ""
            raise FolderInUseError(
                f"Keepsake is already open on this data folder{who}. Use that window, or close it and start again.",
                pid=pid,
            )

    def release(self) -> None:
        """Give the folder back."""
        self._lock.release()

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def read_owner(path: Path) -> int | None:
    """Return the process id inside a lock file: its holder's, or the last one's if nobody holds it."""
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(_PID_OFFSET)
            digits = file.read(_PID_BYTES)
    except OSError:
        return None
    text = (digits or b"").strip()
    return int(text) if text.isdigit() else None


def is_running(pid: int) -> bool:
    """Whether a process of this machine has this id; True as well where that cannot be told."""
    if os.name == "nt":
        return True  # there, os.kill ends the process whatever the signal
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _write_pid(descriptor: int) -> None:
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, b" " * _PID_OFFSET + f"{os.getpid()}\n".encode("ascii"))
