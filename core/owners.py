"""Who works on a data folder: each process's name on the work it leases, and whether that process still lives.

A name is `app-PID-RANDOM` or `job-PID-RANDOM`, and a lock on a file of that name says that its process lives: the
system drops the lock however the process ends, so neither a reused process id nor a crash can deceive. Relies on
`core.locks`.
"""

import os
import re
import secrets
from pathlib import Path

from core.locks import OwnedLock, is_running

APP, JOB = "app", "job"
_NAME = re.compile(r"(app|job)-(\d+)-([0-9a-f]{8})")
_OLD_NAME = re.compile(r"(?:app|job)-(\d+)")  # of stores before names had locks
_SUFFIX = ".lock"
_WORDS = {APP: "Keepsake", JOB: "keepsake-jobs"}


class Owner:
    """This process's name; it counts as living from `acquire` to `release`."""

    def __init__(self, folder: Path, kind: str) -> None:
        """`folder` holds the locks; `kind` is APP or JOB."""
        self._folder = folder
        self._kind = kind
        self._lock: OwnedLock | None = None
        self.name = ""

    def acquire(self) -> None:
        """Take a name; raises `OSError` where the folder cannot be written."""
        self._folder.mkdir(parents=True, exist_ok=True)
        _sweep(self._folder)
        while self._lock is None:
            self.name = f"{self._kind}-{os.getpid()}-{secrets.token_hex(4)}"
            lock = OwnedLock(self._folder / f"{self.name}{_SUFFIX}")
            if lock.acquire(0) and lock.path.exists():  # a sweep may have come between making and locking it
                self._lock = lock

    def release(self) -> None:
        """Give the name up: what it still leases is free for others."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.path.unlink(missing_ok=True) if os.name != "nt" else None
            lock.release()


def is_gone(folder: Path, name: str) -> bool:
    """Whether the process of a name has ended; a name of another form is taken for living."""
    if _NAME.fullmatch(name) is None:
        old = _OLD_NAME.fullmatch(name)
        return old is not None and not is_running(int(old[1]))
    path = folder / f"{name}{_SUFFIX}"
    return not path.exists() or _is_free(path)


def is_app_running(folder: Path) -> bool:
    """Whether the app has the data folder open."""
    return any(not _is_free(path) for path in folder.glob(f"{APP}-*{_SUFFIX}"))


def describe_owner(name: str) -> str:
    """Return a name in words: `keepsake-jobs, pid 123`."""
    match = _NAME.fullmatch(name)
    return f"{_WORDS[match[1]]}, pid {match[2]}" if match else name


def _sweep(folder: Path) -> None:
    """Remove the files of processes that ended without doing so."""
    for path in folder.glob(f"*{_SUFFIX}"):
        if _is_free(path):
            path.unlink(missing_ok=True)


def _is_free(path: Path) -> bool:
    lock = OwnedLock(path)
    try:
        if not lock.acquire(0):
            return False
    except OSError:  # a link, or not ours to open: whoever made it is no process of Keepsake
        return True
    lock.release()
    return True
