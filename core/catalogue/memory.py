"""How much memory is free for a model: what the system says, and what a container allows."""

import ctypes
import sys
from pathlib import Path

PROC, CGROUP = Path("/proc"), Path("/sys/fs/cgroup")
_NO_LIMIT_BYTES = 1 << 60  # cgroup 1 writes a huge number for "none"


def read_free_bytes(proc: Path = PROC, cgroup: Path = CGROUP) -> int | None:
    """Return the bytes that can be used without swapping; None where the system does not tell.

    On Linux the smaller one of MemAvailable and what the process's cgroup still allows.
    """
    if sys.platform == "win32":
        return _read_windows()
    if sys.platform == "darwin":
        return _read_macos()
    limits = [_read_available(proc), _read_cgroup(proc, cgroup)]
    known = [limit for limit in limits if limit is not None]
    return max(0, min(known)) if known else None


def _read_available(proc: Path) -> int | None:
    try:
        for line in (proc / "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None


def _read_cgroup(proc: Path, cgroup: Path) -> int | None:
    """Return what the tightest cgroup above this process leaves: its limit, less what is used and not just cache."""
    try:
        lines = (proc / "self" / "cgroup").read_text().splitlines()
    except OSError:
        return None
    free: list[int] = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, names = cgroup, ("memory.max", "memory.current", "")
        elif "memory" in controllers.split(","):
            base = cgroup / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
        else:
            continue
        folder = base / path.lstrip("/")
        for each in (folder, *folder.parents):
            if (left := _read_group(each, *names)) is not None:
                free.append(left)
            if each == base:
                break
    return min(free, default=None)


def _read_group(folder: Path, limit_name: str, used_name: str, prefix: str) -> int | None:
    try:
        text = (folder / limit_name).read_text().strip()
        limit = int(text) if text != "max" else _NO_LIMIT_BYTES
        if limit >= _NO_LIMIT_BYTES:
            return None
        used = int((folder / used_name).read_text())
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        cached = sum(int(statistics.get(f"{prefix}{name}_file", 0)) for name in ("active", "inactive"))
        return limit - used + cached  # pages of files go when memory is wanted
    except (OSError, ValueError):
        return None


def _read_windows() -> int | None:
    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_uint32),
            ("load", ctypes.c_uint32),
            *(
                (name, ctypes.c_uint64)
                for name in ("total", "free", "page", "page_free", "virtual", "virtual_free", "extended")
            ),
        )

    status = Status(length=ctypes.sizeof(Status))
    library = getattr(ctypes, "windll", None)
    if library is None or not library.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(status.free)


def _read_macos() -> int | None:
    """Pages that are free or only hold files."""
    try:
        library = ctypes.CDLL(None)
        counts = [_read_sysctl(library, name) for name in ("vm.page_free_count", "vm.page_pageable_external_count")]
        size = _read_sysctl(library, "hw.pagesize")
    except (OSError, AttributeError):
        return None
    return sum(count for count in counts if count is not None) * size if size and counts[0] is not None else None


def _read_sysctl(library: ctypes.CDLL, name: str) -> int | None:
    value, length = ctypes.c_uint64(0), ctypes.c_size_t(8)
    failed = library.sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(length), None, ctypes.c_size_t(0))
    return None if failed else int(value.value)
