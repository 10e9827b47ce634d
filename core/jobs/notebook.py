"""Entries into MEMORY.md and SKILL.md: one at a time, each once, never what the user took out or asked to forget.

Blocking: every function runs on the files thread, given the writer. Relies on the writer's locks and history.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from core.archivist.entries import strip_entry, word_entry
from core.memory_files.documents import Edit, Outcome, entry_key
from core.memory_files.outline import split_lines
from core.memory_files.writer import Cause, MemoryFileWriter, WriteResult
from core.profile.forgetting import hide_forgotten
from core.text.language import detect_language
from core.working_memory.heuristic_terms import is_repeat

MEMORY_FILE, SKILL_FILE = "MEMORY.md", "SKILL.md"
# by category and language
HEADINGS = {
    "fact": {"en": "About you", "zh": "关于你"},
    "preference": {"en": "About you", "zh": "关于你"},
    "pattern": {"en": "Ways of working", "zh": "做法"},
    "mistake": {"en": "Mistakes", "zh": "教训"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is to be kept: `former` are values that it replaces."""

    category: str
    text: str
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryResult:
    """What became of an entry; `reason` is a word. Written is only what the log holds."""

    outcome: Outcome
    reason: str = ""
    bytes_written: int = 0
    lines: tuple[int, ...] = ()

    @property
    def is_written(self) -> bool:
        return self.outcome is Outcome.WRITTEN


def write_entry(
    writer: MemoryFileWriter,
    entry: Entry,
    cause: Cause,
    *,
    forgotten: frozenset[str],
    file: str = MEMORY_FILE,
    section: str | None = None,
) -> EntryResult:
    """Append an entry, or let it take the place of a value of ours that it replaces."""
    if hide_forgotten(entry.text, forgotten) != entry.text:
        return EntryResult(outcome=Outcome.REFUSED, reason="forgotten")
    held = [words for line in split_lines(writer.read(file)) if (words := strip_entry(line))]
    if is_repeat(entry.text, held):
        return EntryResult(outcome=Outcome.DUPLICATE)
    if entry.former and (replaced := _replace(writer, file, entry, cause)) is not None:
        return replaced
    if entry_key(entry.text) in _keys_once_held(writer, file):
        return EntryResult(outcome=Outcome.REFUSED, reason="taken_out_before")
    heading = section or choose_heading(entry.category, entry.text)
    return _as_result(writer.append(file, word_entry(entry.category, entry.text), cause, section=heading))


def replace_section(
    writer: MemoryFileWriter, file: str, section: str, entries: Iterable[Entry], cause: Cause, forgotten: frozenset[str]
) -> EntryResult:
    """Write a section's entries anew; the user's lines stay."""
    wanted = list(entries)
    if any(hide_forgotten(entry.text, forgotten) != entry.text for entry in wanted):
        return EntryResult(outcome=Outcome.REFUSED, reason="forgotten")
    content = "\n".join(word_entry(entry.category, entry.text) for entry in wanted)
    return _as_result(writer.replace_section(file, section, content, cause))


def _replace(writer: MemoryFileWriter, file: str, entry: Entry, cause: Cause) -> EntryResult | None:
    """Put an entry where the program once wrote what held before; None where it did not, or the user changed it."""
    old, own = {entry_key(text) for text in entry.former}, writer.own_lines(file)

    def apply(current: str) -> Edit:
        lines = split_lines(current)
        for i, line in enumerate(lines):
            if line.rstrip() in own and entry_key(strip_entry(line)) in old:
                ending = line[len(line.rstrip("\r\n")) :]
                lines[i] = word_entry(entry.category, entry.text) + ending
                return Edit(text="".join(lines), outcome=Outcome.WRITTEN, lines=(i + 1,))
        return Edit(text=current, outcome=Outcome.DUPLICATE)

    result = writer.change(file, apply, cause)
    return _as_result(result) if result.outcome is Outcome.WRITTEN else None


def _keys_once_held(writer: MemoryFileWriter, file: str) -> Collection[str]:
    """Return what stood in the file at some time: what is not there now was taken out or moved to the history."""
    lines = {
        line for change in writer.changes(file) for line in (*change.after.split("\n"), *change.before.split("\n"))
    }
    return {entry_key(strip_entry(line)) for line in lines} - {""}


def choose_heading(category: str, text: str) -> str:
    """Return the heading an entry stands under where none was asked for, in its language."""
    words = HEADINGS[category]
    return words.get(detect_language(text, "en").split("-")[0], words["en"])


def _as_result(result: WriteResult) -> EntryResult:
    written = result.outcome is Outcome.WRITTEN and result.change is not None
    return EntryResult(
        outcome=result.outcome if written or result.outcome is not Outcome.WRITTEN else Outcome.REFUSED,
        reason=result.reason,
        bytes_written=result.bytes_written,
        lines=result.lines,
    )
