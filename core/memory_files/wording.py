"""What the writer says to the user: why nothing was written, and what to know of what was."""

from pathlib import Path

from core.errors import MemoryFileBusyError, MemoryFileError


def describe_links(file: str) -> str:
    """Say that a file has a second name."""
    return f"{file} has a second name (a hard link), which keeps the old text when Keepsake writes."


def describe_moved(count: int, place: str) -> str:
    """Say that entries made room for newer ones."""
    if count == 1:
        return f"The oldest entry made room and is now in {place}."
    return f"The {count} oldest entries made room and are now in {place}."


def describe_conflicts(count: int) -> str:
    """Say that lines had been changed by both sides."""
    places = "one place" if count == 1 else f"{count} places"
    return f"In {places} the text had been changed again since; the later lines were kept."


def make_busy(pid: int | None) -> MemoryFileBusyError:
    """Return the error of a lock that was held for too long."""
    who = f"process {pid}" if pid is not None else "another task"
    return MemoryFileBusyError(
        f"The memory files are being written by {who} for longer than usual, so nothing was written. Try again later.",
        pid=pid,
    )


def make_no_folder(workspace: Path, why: str) -> MemoryFileError:
    """Return the error of a folder that cannot be opened."""
    return MemoryFileError(
        f"The folder of the memory files, {workspace}, cannot be opened ({why}). Nothing was written. Check that it "
        "exists and that you may write to it."
    )
