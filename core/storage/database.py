"""The store's one connection and the thread that owns it.

All SQL of a process runs on this thread. A use case is one `write`: a single `BEGIN IMMEDIATE`
transaction that is committed whole or not at all, and never held while a model is awaited.
Other processes share the file through WAL and a busy timeout.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import apsw

from core.errors import StorageError
from core.storage import migrations

T = TypeVar("T")
Connection = apsw.Connection
Row = tuple[Any, ...]  # what SQL hands back: STRICT tables vouch for the types

WAL_RETRY_S = 0.02
CLOSED = "The store is closed. Start Keepsake again; nothing was lost."
BUSY_TIMEOUT_MS = 10_000  # longer than any transaction of ours; past it something is wrong


class Database:
    """Owns the connection; `open` before anything else, `aclose` last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="database")
        self._connection: Connection | None = None
        self._closed = False

    async def open(self) -> None:
        """Open the file and bring its schema up to date.

        Raises `StorageError` in words; `NewerSchemaError` if a newer program wrote the file.
        """
        await self._run(self._open)

    async def write(self, work: Callable[[Connection], T], *, repeatable: bool = False) -> T:
        """Run `work` in one immediate transaction on the database thread.

        When this returns the disk has it. A `repeatable` write need not wait for that: a power cut may
        take it back, whole and with all that came after it, and what it did is then done again.
        """
        return await self._run(lambda: self._in_transaction(work, repeatable=repeatable))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work`, which must not write, on the database thread."""
        return await self._run(lambda: work(self._connected()))

    def write_from_thread(self, work: Callable[[Connection], T]) -> T:
        """Do as `write` does, for a worker thread; never call it on a thread that runs a loop."""
        try:
            return self._thread.submit(lambda: self._in_transaction(work)).result()
        except apsw.Error as error:
            raise _explain(error, self._path) from error

    async def aclose(self) -> None:
        """Finish what is queued, checkpoint, close."""
        if self._closed:
            return
        await self._run(self._close)
        self._closed = True
        self._thread.shutdown(wait=False)

    async def _run(self, job: Callable[[], T]) -> T:
        if self._closed:
            raise StorageError(CLOSED)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, job)
        except apsw.Error as error:
            raise _explain(error, self._path) from error

    def _connected(self) -> Connection:
        if self._connection is None:
            raise StorageError(CLOSED)
        return self._connection

    def _open(self) -> None:
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            _switch_to_wal(connection)
            # FULL, not NORMAL: what the user typed must survive a power cut (spec/desktop.md 3.0 no. 2)
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            connection.enable_load_extension(True)
            connection.load_extension(_find_vector_extension())
            connection.enable_load_extension(False)
            migrations.migrate(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _in_transaction(self, work: Callable[[Connection], T], *, repeatable: bool = False) -> T:
        connection = self._connected()
        if repeatable:
            connection.execute("PRAGMA synchronous=NORMAL")  # in WAL mode: commit without waiting for the disk
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        finally:
            if repeatable:
                connection.execute("PRAGMA synchronous=FULL")
        return result

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _find_vector_extension() -> str:
    """Return the path of sqlite-vec's library; importing its package would load numpy, which takes 0.1 s."""
    spec = find_spec("sqlite_vec")
    if spec is None or spec.origin is None:
        raise StorageError("The installation is incomplete: sqlite-vec is missing. Nothing was changed; set up again.")
    return str(Path(spec.origin).parent / "vec0")


def _switch_to_wal(connection: Connection) -> None:
    """Put the file in WAL mode, which is for good; several processes may open a new file at once."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while connection.pragma("journal_mode") != "wal":
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            # SQLite does not wait here: two that hold a read lock would wait for each other
            if time.monotonic() > deadline:
                raise
            time.sleep(WAL_RETRY_S)


def read_data_version(connection: Connection) -> int:
    """Return a number that changes when another connection commits (`PRAGMA data_version`)."""
    version: int = connection.pragma("data_version")
    return version


def _explain(error: apsw.Error, path: Path) -> StorageError:
    """Put a SQLite error into words for the user."""
    match error:
        case apsw.FullError():
            text = (
                f"The disk is full: {path.parent} could not be written. Everything saved before is intact. "
                "Free some space and try again."
            )
        case apsw.BusyError() | apsw.LockedError():
            text = (
                "Another process has kept the store locked for ten seconds. Nothing was changed; "
                "try again when it has finished."
            )
        case apsw.NotADBError() | apsw.CorruptError():
            text = (
                f"{path} is damaged or not a Keepsake store. It was left as it is. Put a backup in its place, "
                "or choose another folder with --data-dir."
            )
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            text = (
                f"{path} cannot be opened for writing. Nothing was changed. Check the permissions of "
                f"{path.parent}, or choose another folder with --data-dir."
            )
        case apsw.IOError():
            text = f"Reading or writing {path} failed ({error}). What was saved before is intact; check the disk."
        case _:
            return StorageError(f"The store refused an operation ({error}). Nothing was changed.")
    return StorageError(text)
