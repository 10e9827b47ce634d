"""A folder worked on by its handle: nothing follows a link, nothing leaves it.

On POSIX every step is relative to an open descriptor, so that a folder swapped for a link while we
work changes nothing. Windows has no such calls: there the same steps use paths, after refusing
links. All names are single components.
"""

import contextlib
import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from core.errors import MemoryFileError

MAX_FILE_BYTES = 4_000_000
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # a FIFO under the name must not hang us
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_BY_HANDLE = os.open in os.supports_dir_fd and os.name == "posix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A file as it was read: bytes and what tells it from another."""

    data: bytes
    identity: tuple[int, int]  # device, inode
    mode: int
    links: int

    @property
    def digest(self) -> str:
        return digest(self.data)


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hex."""
    return hashlib.sha256(data).hexdigest()


class Folder:
    """An open folder. Use as a context manager; raises `OSError` as the system does."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a folder that exists; a link in its place is refused."""
        if not _BY_HANDLE:
            if path.is_symlink() or not path.is_dir():
                raise NotADirectoryError(f"{path} is not a folder")
            return cls(path, None)
        return cls(path, os.open(path, os.O_RDONLY | _DIRECTORY | _NOFOLLOW))

    def subfolder(self, name: str) -> "Folder":
        """Open a folder inside, making it (private) if it is missing."""
        with contextlib.suppress(FileExistsError):
            os.mkdir(self._at(name), 0o700, dir_fd=self._descriptor)
        if self._descriptor is None:
            return Folder.open(self.path / name)
        flags = os.O_RDONLY | _DIRECTORY | _NOFOLLOW
        return Folder(self.path / name, os.open(name, flags, dir_fd=self._descriptor))

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self) -> list[str]:
        """Return the names inside, sorted."""
        return sorted(os.listdir(self.path if self._descriptor is None else self._descriptor))

    def read(self, name: str) -> Snapshot | None:
        """Read a regular file; None if there is none. Links, devices and huge files are refused."""
        with self._opened(name) as descriptor:
            if descriptor is None:
                return None
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise MemoryFileError(
                    f"{name} is not a regular file, so Keepsake leaves it alone. Nothing was changed."
                )
            data = bytearray()
            while piece := os.read(descriptor, 1 << 20):
                data += piece
                if len(data) > MAX_FILE_BYTES:
                    raise MemoryFileError(
                        f"{name} is larger than {MAX_FILE_BYTES // 1_000_000} MB, so Keepsake leaves it alone. "
                        "Nothing was changed. Move part of it into another file."
                    )
            return Snapshot(
                data=bytes(data),
                identity=(info.st_dev, info.st_ino),
                mode=stat.S_IMODE(info.st_mode),
                links=info.st_nlink,
            )

    def create(self, name: str, mode: int) -> int:
        """Make a new file for writing and return its descriptor; an existing name is an error."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY
        descriptor = os.open(self._at(name), flags, 0o600, dir_fd=self._descriptor)
        if mode != 0o600 and hasattr(os, "fchmod"):
            os.fchmod(descriptor, mode)
        return descriptor

    def link(self, name: str, target: "Folder", new: str) -> None:
        """Give a file a second name that must be free."""
        os.link(self._at(name), target._at(new), src_dir_fd=self._descriptor, dst_dir_fd=target._descriptor)

    def replace(self, name: str, target: "Folder", new: str) -> None:
        """Rename a file, replacing what has that name."""
        os.replace(self._at(name), target._at(new), src_dir_fd=self._descriptor, dst_dir_fd=target._descriptor)

    def exchange(self, name: str, target: "Folder", other: str) -> bool:
        """Swap two files' names in one step; False where the system or disk cannot."""
        if self._descriptor is None or target._descriptor is None:
            return False
        return _exchange(self._descriptor, name, target._descriptor, other)

    def unlink(self, name: str) -> None:
        """Remove a file; nothing happens if there is none."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._descriptor)

    def sync(self) -> None:
        """Make the names in the folder durable (on Windows the file system does)."""
        if self._descriptor is not None:
            os.fsync(self._descriptor)

    @contextlib.contextmanager
    def _opened(self, name: str) -> Iterator[int | None]:
        try:
            if not _NOFOLLOW and (self.path / name).is_symlink():
                raise _refuse_link(name)
            flags = os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _BINARY
            descriptor = os.open(self._at(name), flags, dir_fd=self._descriptor)
        except FileNotFoundError:
            yield None
            return
        except OSError as error:
            if (self.path / name).is_symlink():
                raise _refuse_link(name) from error
            raise
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _at(self, name: str) -> str:
        if name in ("", ".", "..") or "/" in name or os.sep in name or "\0" in name:
            raise ValueError(f"{name!r} is not a name inside a folder")
        return name if self._descriptor is not None else str(self.path / name)


def random_name(prefix: str) -> str:
    """Return a name nobody can guess."""
    return f"{prefix}{os.urandom(8).hex()}"


def _refuse_link(name: str) -> MemoryFileError:
    return MemoryFileError(
        f"{name} is a symbolic link, so Keepsake leaves it alone. Nothing was changed. Replace the link by a file "
        "to let Keepsake write to it."
    )


def _exchange(folder: int, name: str, other_folder: int, other: str) -> bool:
    """Call the system's exchange of two names, which Python does not offer."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    function, flag = ("renameatx_np", 2) if sys.platform == "darwin" else ("renameat2", 2)
    call = getattr(library, function, None)
    if call is None:
        return False
    call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    call.restype = ctypes.c_int
    return bool(call(folder, os.fsencode(name), other_folder, os.fsencode(other), flag) == 0)
