"""What was forgotten, as hashes: enough to keep it from coming back, and nothing to read."""

from collections.abc import Iterable

from core.storage.database import Connection


def add(c: Connection, hashes: Iterable[str], *, at: float) -> None:
    """Mark slots with their values as forgotten at a time (s)."""
    c.executemany(
        "INSERT INTO tombstones(hash, at) VALUES (?, ?) ON CONFLICT(hash) DO UPDATE SET at = excluded.at",
        [(each, at) for each in hashes],
    )


def lift(c: Connection, hashes: Iterable[str]) -> None:
    """Let what was forgotten be said again."""
    c.executemany("DELETE FROM tombstones WHERE hash = ?", [(each,) for each in hashes])


def load_all(c: Connection) -> frozenset[str]:
    """Return every hash."""
    return frozenset(str(each) for (each,) in c.execute("SELECT hash FROM tombstones"))


def count(c: Connection) -> int:
    """Return how many there are."""
    row = c.execute("SELECT count(*) FROM tombstones").fetchone()
    return int(row[0]) if row else 0
