"""Who may write a workspace's memory files: one thread of one process at a time. Blocking.

The file lock is for other processes; threads of this one would all hold it, so they take turns before it.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import MemoryFileError
from core.locks import OwnedLock, read_owner
from core.memory_files.wording import make_busy, make_no_folder

LOCK_NAME = ".memory-write.lock"

_locks: dict[Path, threading.Lock] = {}
_locks_guard = threading.Lock()


@contextmanager
def hold_workspace(workspace: Path, wait_s: float) -> Iterator[None]:
    """Hold both locks of a workspace, got within one time limit.

    Raises `MemoryFileBusyError` if another writer holds them longer, `MemoryFileError` if they cannot be taken; an
    `OSError` within becomes a `MemoryFileError` too.
    """
    folder = workspace.resolve()
    if not folder.is_dir():  # taking the lock would make it
        raise make_no_folder(workspace, "there is no such folder")
    with _locks_guard:
        ours = _locks.setdefault(folder, threading.Lock())
    deadline = time.monotonic() + wait_s
    if not ours.acquire(timeout=wait_s):
        raise make_busy(os.getpid())
    try:
        lock = OwnedLock(folder / LOCK_NAME)
        _take(lock, max(0.0, deadline - time.monotonic()))
        try:
            yield
        finally:
            lock.release()
    except OSError as error:
        raise MemoryFileError(
            f"The memory file could not be written ({error.strerror or error}). The text on disk is whole and "
            "as it was. Free some space or check your rights, then try again."
        ) from error
    finally:
        ours.release()


def _take(lock: OwnedLock, wait_s: float) -> None:
    try:
        held = lock.acquire(wait_s)
    except OSError as error:
        raise MemoryFileError(
            f"The memory files cannot be locked for writing ({error.strerror or error}). Nothing was written. "
            f"Check {lock.path}: it must be an ordinary file that you may write to."
        ) from error
    if not held:
        raise make_busy(read_owner(lock.path))
