"""The steps that put a new text in a file's place, and those that clear up after a crash.

The new text is written beside the old one and the two names are exchanged in one system call, so
that whatever stood in the file at that instant is in our hands: if it is not what we read, an
editor saved in between, its text becomes the base, and the write is done anew. Where there is no
exchange (some network disks, Windows) a link and a rename do nearly the same.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from core.errors import MemoryFileError
from core.memory_files.folder import Folder, Snapshot, digest, random_name
from core.memory_files.history import NewChange
from core.model import TurnId

HISTORY = ".history"
KEEP_REPLACED = 20  # replaced files a memory file keeps in .history/
_TEMPORARY = ".tmp-"
_NOTE = ".note-"
_MARK_DIGITS = 16  # of the content's hash
_NEW_MODE = 0o600

OnStep = Callable[[str], None]
STEPS = ("create", "write", "sync", "note", "exchange", "sync_folder", "keep", "record", "settle")


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """The text a write starts from, and the file that held it when it was read."""

    text: str
    snapshot: Snapshot | None  # None: there is no file

    @property
    def links(self) -> int:
        return self.snapshot.links if self.snapshot else 1


class ChangedMeanwhile(Exception):  # noqa: N818  (a signal inside this package, not an error)
    """The file changed between reading and writing; `base` is what to start from now."""

    def __init__(self, base: Base) -> None:
        super().__init__("changed between reading and writing")
        self.base = base


def read_base(folder: Folder, file: str) -> Base:
    """Read a file; raise `MemoryFileError` if it is a link, no regular file, or not UTF-8."""
    snapshot = folder.read(file)
    return Base(text=decode(file, snapshot.data) if snapshot else "", snapshot=snapshot)


def decode(file: str, data: bytes) -> str:
    """Return the text of a file, byte order mark and line endings as they are."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise MemoryFileError(
            f"{file} is not UTF-8 text (byte {error.start}), so Keepsake leaves it alone. Nothing was changed. Save it "
            "as UTF-8 in your editor to let Keepsake read it."
        ) from error


def encode(file: str, text: str) -> bytes:
    """Return a text as the file's bytes."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MemoryFileError(
            f"The text for {file} holds a broken character at position {error.start}. Nothing was written. Remove it "
            "and try again."
        ) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    """What a write is about to do, on disk before it is done."""

    change: NewChange
    temporary: str  # in .history/: the new text before the exchange, the replaced file behind it
    replaced: str  # the name the replaced file keeps there

    @property
    def after(self) -> str:
        return digest(encode(self.change.file, self.change.after))

    @property
    def before(self) -> str:
        return digest(encode(self.change.file, self.change.before))


def publish(folder: Folder, history: Folder, base: Base, change: NewChange, on_step: OnStep) -> None:
    """Put `change.after` in the place of `base`; raise `ChangedMeanwhile` if the file is no longer that.

    When it returns the text is on disk, and the note stays until `settle`.
    """
    stamp = f"{round(change.at * 1000):014d}"
    note = _Note(
        change=change,
        temporary=random_name(_TEMPORARY),
        replaced=f"{change.file}.{stamp}-{random_name('')[:8]}{_mark(encode(change.file, change.before))}",
    )
    data = encode(change.file, change.after)
    attempted = False
    try:
        _write_new(history, note.temporary, data, base.snapshot.mode if base.snapshot else _NEW_MODE, on_step)
        on_step("note")
        _write_note(history, note)
        now = read_base(folder, change.file)
        if not _same(base, now):
            raise ChangedMeanwhile(now)
        on_step("exchange")
        attempted = True
        swapped = _put_in_place(folder, history, note, base)
    except BaseException:
        with contextlib.suppress(OSError, MemoryFileError):
            if not attempted or not _happened(folder, history, note):
                settle(folder, history, change.file)
        raise
    on_step("sync_folder")
    folder.sync()
    on_step("keep")
    late = _keep_replaced(folder, history, note) if swapped else _put_back_late(folder, history, note)
    if late is not None:
        raise ChangedMeanwhile(late)


def settle(folder: Folder, history: Folder, file: str) -> NewChange | None:
    """Clear what a write left behind; return the change of an earlier one that reached the file.

    Call it under the lock: at the start of a write (a crash may have left a note, and the change may
    be missing from the records) and once a change is recorded.
    """
    note = _read_note(history, file)
    if note is None:
        _sweep(history)
        return None
    happened = _happened(folder, history, note)
    if happened and history.read(note.temporary) is not None:
        happened = _keep_replaced(folder, history, note) is None
    if not happened:
        history.unlink(note.temporary)
        _unlink_unused(folder, history, note)
    history.unlink(_NOTE + file)
    _sweep(history)
    _prune(history, file)
    return note.change if happened else None


def find_late(history: Folder, file: str) -> Iterator[tuple[str, str, str]]:
    """Yield (name, mark of what it held when it was replaced, text now) of replaced files that were written since.

    An editor that had the file open when we replaced it writes there. Call `acknowledge_late` once its text is safe.
    """
    for name in history.names():
        mark = name.rpartition("~")[2] if name.startswith(f"{file}.") and "~" in name else ""
        if not mark:
            continue
        kept = history.read(name)
        if kept is not None and digest(kept.data)[:_MARK_DIGITS] != mark and kept.data:
            with contextlib.suppress(MemoryFileError):  # half a character so far: the next write looks again
                yield name, mark, decode(file, kept.data)


def acknowledge_late(history: Folder, name: str, text: str, file: str) -> None:
    """Note that what an editor wrote into a replaced file is in the file now."""
    history.replace(name, history, name.rpartition("~")[0] + _mark(encode(file, text)))


def keep_moved(history: Folder, file: str, entries: Sequence[str]) -> str:
    """Put entries that made room behind those that did before; returns the name of that file."""
    name = f"older-{file}"
    held = history.read(name)
    text = (decode(name, held.data) if held else "") + "".join(f"{entry}\n" for entry in entries)
    temporary = random_name(_TEMPORARY)
    _write_new(history, temporary, encode(name, text), _NEW_MODE, lambda step: None)
    history.replace(temporary, history, name)
    history.sync()
    return name


def _mark(data: bytes) -> str:
    """What the end of a replaced file's name says of its content."""
    return f"~{digest(data)[:_MARK_DIGITS]}"


def _happened(folder: Folder, history: Folder, note: _Note) -> bool:
    """Whether the new text got its place: then the temporary name holds the replaced file, or nothing."""
    left = history.read(note.temporary)
    if left is None:
        return True
    current = folder.read(note.change.file)
    return left.digest != note.after or (current is not None and current.identity == left.identity)


def _put_in_place(folder: Folder, history: Folder, note: _Note, base: Base) -> bool:
    """Give the new text the file's name; True when the temporary name now holds what was replaced."""
    file = note.change.file
    if base.snapshot is None:
        try:
            history.link(note.temporary, folder, file)  # never over a file that has just appeared
        except FileExistsError:
            raise ChangedMeanwhile(read_base(folder, file)) from None
        except OSError:  # no hard links on this disk
            history.replace(note.temporary, folder, file)
        history.unlink(note.temporary)
        return False
    if history.exchange(note.temporary, folder, file):
        return True
    with contextlib.suppress(OSError):
        folder.link(file, history, note.replaced)
    history.replace(note.temporary, folder, file)
    return False


def _keep_replaced(folder: Folder, history: Folder, note: _Note) -> Base | None:
    """Keep the replaced file in .history/, or put it back and return it when it is not what was read.

    It is not when an editor saved between our reading and the exchange. Should the editor have saved
    yet again by now, its newest text is what ends up in place.
    """
    file = note.change.file
    left = history.read(note.temporary)
    while left is not None and left.digest not in (note.before, note.after):
        if not history.exchange(note.temporary, folder, file):
            break
        late = read_base(folder, file)
        left = history.read(note.temporary)
        if left is not None and left.digest == note.after:
            history.unlink(note.temporary)
            history.unlink(_NOTE + file)
            return late
    if left is not None and left.digest == note.after:
        history.unlink(note.temporary)  # a second name of the new file
    elif left is not None:
        history.replace(note.temporary, history, note.replaced)
    return None


def _put_back_late(folder: Folder, history: Folder, note: _Note) -> Base | None:
    """Without an exchange: put the replaced file back if an editor wrote into it meanwhile."""
    left = history.read(note.replaced)
    if left is None or left.digest == note.before:
        return None
    history.replace(note.replaced, folder, note.change.file)
    history.unlink(_NOTE + note.change.file)
    return read_base(folder, note.change.file)


def _unlink_unused(folder: Folder, history: Folder, note: _Note) -> None:
    """Remove the link to a file that was not replaced after all."""
    kept, current = history.read(note.replaced), folder.read(note.change.file)
    if kept is not None and current is not None and kept.identity == current.identity:
        history.unlink(note.replaced)


def _same(a: Base, b: Base) -> bool:
    if a.snapshot is None or b.snapshot is None:
        return a.snapshot is b.snapshot
    return a.snapshot.identity == b.snapshot.identity and a.snapshot.data == b.snapshot.data


def _write_new(folder: Folder, name: str, data: bytes, mode: int, on_step: OnStep) -> None:
    on_step("create")
    descriptor = folder.create(name, mode)
    with os.fdopen(descriptor, "wb") as file:
        on_step("write")
        file.write(data)
        file.flush()
        on_step("sync")
        os.fsync(file.fileno())


def _write_note(history: Folder, note: _Note) -> None:
    data = json.dumps(asdict(note), ensure_ascii=True).encode("ascii")
    temporary = random_name(_TEMPORARY)
    _write_new(history, temporary, data, _NEW_MODE, lambda step: None)
    history.replace(temporary, history, _NOTE + note.change.file)
    history.sync()


def _read_note(history: Folder, file: str) -> _Note | None:
    stored = history.read(_NOTE + file)
    if stored is None:
        return None
    fields = json.loads(stored.data)
    change = fields.pop("change")
    turns = tuple(TurnId(turn) for turn in change.pop("turns"))
    return _Note(change=NewChange(**change, turns=turns), **fields)


def _sweep(history: Folder) -> None:
    """Remove temporaries that no note speaks of: new texts that never got their place."""
    names = history.names()
    notes = [_read_note(history, name.removeprefix(_NOTE)) for name in names if name.startswith(_NOTE)]
    spoken_of = {note.temporary for note in notes if note is not None}
    for name in names:
        if name.startswith(_TEMPORARY) and name not in spoken_of:
            history.unlink(name)


def _prune(history: Folder, file: str) -> None:
    replaced = [name for name in history.names() if name.startswith(f"{file}.")]
    for name in replaced[:-KEEP_REPLACED]:
        history.unlink(name)
