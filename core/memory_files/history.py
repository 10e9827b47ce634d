"""What the writer needs to remember of its writes. The store is the caller's (it speaks SQL)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.model import FileChange, TurnId

OUTSIDE_ACTOR = "you (in another editor)"
OUTSIDE_CAUSE = "Edited outside Keepsake"
OWN_ACTOR = "you"
KEPT_CHANGES = 1_000  # that are looked at; older ones stay in the store


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChange:
    """A write that happened and is to be recorded; the fields are those of `FileChange`."""

    file: str
    at: float  # s since the epoch
    actor: str
    cause: str
    turns: tuple[TurnId, ...]
    before: str
    after: str
    undoes: int | None = None


class HistoryStore(Protocol):
    """Durable record of writes. Called under the write lock, from a worker thread.

    `record` commits before it returns: "saved" is said only after it. A change whose `undoes` is
    set marks that change as undone.
    """

    def last_change(self, file: str) -> FileChange | None:
        """Return the newest change of a file."""

    def changes(self, file: str, *, limit: int = KEPT_CHANGES) -> Sequence[FileChange]:
        """Return the changes of a file, newest first, at most `limit`."""

    def find_change(self, change_id: int) -> FileChange | None:
        """Return one change."""

    def record(self, change: NewChange) -> FileChange:
        """Store a change durably and return it with its id."""


def is_users(actor: str) -> bool:
    """Whether a change was made by the user, in the app or elsewhere."""
    return actor == OWN_ACTOR or actor.startswith("you ")
