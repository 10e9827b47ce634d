"""Segments changed by hand: merged, split, renamed, and taken back. Bounds are turns; what follows is made anew.

Each change is recorded with the rows before and after it. Taking one back restores what the rows said; a segment
that was open then and has grown since keeps what came.
"""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.model import BoundaryReason, SegmentId, SessionId, TurnId
from core.storage import recaps
from core.storage.database import Connection

What = Literal["merge", "split", "rename"]
Columns = dict[str, Any]  # of one row, by name


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a new stretch is called and says, until it is summed up."""

    title: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A recorded change."""

    id: int
    session_id: SessionId
    what: What
    before: tuple[Columns, ...]
    after: tuple[Columns, ...]


def find_before(c: Connection, segment_id: SegmentId) -> SegmentId | None:
    """Return the segment that comes before one in its conversation."""
    row = c.execute(
        "SELECT e.segment_id FROM segments s JOIN segments e ON e.session_id = s.session_id"
        " AND e.first_turn < s.first_turn WHERE s.segment_id = ? ORDER BY e.first_turn DESC LIMIT 1",
        (segment_id,),
    ).fetchone()
    return SegmentId(row[0]) if row else None


def merge(c: Connection, earlier: SegmentId, later: SegmentId, named: Named, *, at: float) -> int:
    """Make one segment of two neighbours; returns the change's number. An open one stays open."""
    first, second = _load(c, earlier), _load(c, later)
    keep, gone = (second, first) if second["status"] == "open" else (first, second)
    by_user = next((row["title"] for row in (first, second) if row["titled_by_user"]), None)
    c.execute("UPDATE tree_chunks SET segment_id = ? WHERE segment_id = ?", (keep["segment_id"], gone["segment_id"]))
    c.execute("DELETE FROM segments WHERE segment_id = ?", (gone["segment_id"],))
    changed = {
        **{name: first[name] for name in ("first_turn", "start_ts", "opened_by", "gap_s")},
        **{name: second[name] for name in ("last_user_ts", "closed_by")},
        "last_turn": second["last_turn"] or second["first_turn"],
        "end_ts": second["end_ts"] if second["end_ts"] is not None else first["end_ts"],
        "turn_count": first["turn_count"] + second["turn_count"],
        "title": named.title if by_user is None else by_user,
        "titled_by_user": int(by_user is not None),
        "revision": 1 + max(first["revision"], second["revision"]),
        **_unfinished(keep, named),
        "held_turn": None,
        "held_vector": None,
    }
    _update(c, keep["segment_id"], changed)
    return _record(c, "merge", (first, second), [keep["segment_id"]], at=at)


def split(c: Connection, segment_id: SegmentId, turn: TurnId, parts: tuple[Named, Named], *, at: float) -> int | None:
    """Cut a segment before one of its turns; returns the change's number, None if it cannot be cut there.

    An open segment goes on as its second part; the first one is closed.
    """
    whole = _load(c, segment_id)
    session_id, last = SessionId(whole["session_id"]), TurnId(whole["last_turn"] or whole["first_turn"])
    head = _measure(c, session_id, TurnId(whole["first_turn"]), TurnId(turn - 1))
    tail = _measure(c, session_id, turn, last)
    if head is None or tail is None or tail["first_turn"] != turn:
        return None
    is_open = whole["status"] == "open"
    revision = whole["revision"] + 1
    opened = {"opened_by": BoundaryReason.HAND, "gap_s": None}
    fresh = f"seg-{uuid.uuid4()}"
    plain = {"centroid": None, "vectors": 0, "model": None, "held_turn": None, "held_vector": None}
    head_only = {"closed_by": BoundaryReason.HAND, **head, **plain, **_unfinished(whole, parts[0], closed=True)}
    tail_only = {**opened, **tail, **plain, **_unfinished(whole, parts[1]), "titled_by_user": 0}
    for row, named in ((head_only, parts[0]), (tail_only, parts[1])):
        row.update(title=named.title, revision=revision)
    if whole["titled_by_user"]:
        head_only["title"] = whole["title"]
    own, other = (tail_only, head_only) if is_open else (head_only, tail_only)
    _update(c, segment_id, own)
    _insert(c, {**whole, **other, "segment_id": fresh, "created_at": at, "updated_at": at, "finalised": -1})
    stretch = recaps.get(c, SegmentId(fresh))
    if stretch is not None:
        recaps.ask_to_finalise(c, stretch, at=at)
    return _record(c, "split", (whole,), [segment_id, fresh], at=at)


def rename(c: Connection, segment_id: SegmentId, title: str, *, by_user: bool, at: float) -> int:
    """Set a segment's title; `by_user` False gives it back to the program. Returns the change's number."""
    before = _load(c, segment_id)
    _update(c, segment_id, {"title": title, "titled_by_user": int(by_user)})
    return _record(c, "rename", (before,), [segment_id], at=at)


def get_edit(c: Connection, edit_id: int) -> Edit | None:
    """Return a change that is not undone yet."""
    row = c.execute(
        "SELECT session_id, what, before_json, after_json FROM segment_edits WHERE id = ? AND NOT undone", (edit_id,)
    ).fetchone()
    if row is None:
        return None
    session_id, what, before, after = row
    return Edit(
        id=edit_id,
        session_id=SessionId(session_id),
        what=what,
        before=tuple(map(_thaw, json.loads(before))),
        after=tuple(map(_thaw, json.loads(after))),
    )


def undo(c: Connection, edit: Edit, *, at: float) -> bool:
    """Take a change back; False if its segments were changed by hand again, or are gone."""
    now = [_find(c, row["segment_id"]) for row in edit.after]
    if any(row is None or row["first_turn"] != then["first_turn"] for row, then in zip(now, edit.after, strict=True)):
        return False
    rows = [row for row in now if row is not None]
    if edit.what == "rename":
        _update(c, rows[0]["segment_id"], {name: edit.before[0][name] for name in ("title", "titled_by_user")})
    else:
        _put_back(c, edit, rows, at=at)
    c.execute("UPDATE segment_edits SET undone = 1 WHERE id = ?", (edit.id,))
    return True


def _put_back(c: Connection, edit: Edit, rows: Sequence[Columns], *, at: float) -> None:
    """Let the rows of before stand again; the last one may have grown or closed since."""
    latest = max(rows, key=lambda row: int(row["first_turn"]))
    revision = 1 + max(int(row["revision"]) for row in rows)
    restored = [{**row, "revision": revision, "finalised": -1} for row in edit.before]
    last = restored[-1]
    for name in ("last_turn", "end_ts", "last_user_ts", "status", "closed_by", "updated_at"):
        last[name] = latest[name]
    measured = _measure(
        c, edit.session_id, TurnId(last["first_turn"]), TurnId(latest["last_turn"] or latest["first_turn"])
    )
    last.update(measured or {})
    keep = {row["segment_id"] for row in restored}
    anchor = restored[-1]["segment_id"]
    if latest["status"] == "open":  # one open segment at any moment: it steps aside while the others are written
        _update(c, latest["segment_id"], {"status": "stale"})
    for row in restored:
        row["status"] = "open" if row is last and latest["status"] == "open" else "stale"
        row.update(held_turn=None, held_vector=None)
        _delete_or_update(c, row)
    for row in rows:
        if row["segment_id"] not in keep:
            c.execute("UPDATE tree_chunks SET segment_id = ? WHERE segment_id = ?", (anchor, row["segment_id"]))
            c.execute("DELETE FROM segments WHERE segment_id = ?", (row["segment_id"],))
    for row in restored:
        stretch = recaps.get(c, SegmentId(row["segment_id"]))
        if stretch is not None and stretch.status != "open":
            recaps.ask_to_finalise(c, stretch, at=at)


def _delete_or_update(c: Connection, row: Columns) -> None:
    if _find(c, row["segment_id"]) is None:
        _insert(c, row)
    else:
        _update(c, row["segment_id"], {name: value for name, value in row.items() if name != "segment_id"})


def _unfinished(row: Columns, named: Named, *, closed: bool = False) -> Columns:
    """What a stretch is before its work is done again; an open one stays open."""
    status = "open" if row["status"] == "open" and not closed else "stale"
    return {
        "status": status,
        "summary": "" if status == "open" else named.summary,
        "summary_source": "" if status == "open" else "heuristic",
        "summary_model": None,
        "summary_error": "",
        "attempts": 0,
        "next_try_at": None,
        "keywords": "",
    }


def _measure(c: Connection, session_id: SessionId, first: TurnId, last: TurnId) -> Columns | None:
    """Return bounds, count and times of the indexed turns in a range; None if it holds none."""
    row = c.execute(
        "SELECT min(turn), max(turn), count(DISTINCT turn), min(ts) FILTER (WHERE role = 'user'),"
        " max(ts) FILTER (WHERE role <> 'user'), max(ts) FILTER (WHERE role = 'user')"
        " FROM episodic WHERE session_id = ? AND turn BETWEEN ? AND ?",
        (session_id, first, last),
    ).fetchone()
    if row is None or not row[2]:
        return None
    low, high, count, start, end, last_user = row
    return {
        "first_turn": low,
        "last_turn": high if high > low else None,
        "turn_count": count,
        "start_ts": start,
        "end_ts": end,
        "last_user_ts": last_user,
    }


def _record(c: Connection, what: What, before: Sequence[Columns], after: Sequence[str], *, at: float) -> int:
    rows = sorted((_load(c, SegmentId(i)) for i in after), key=lambda row: int(row["first_turn"]))
    session_id = before[0]["session_id"]
    c.execute(
        "INSERT INTO segment_edits(session_id, at, what, before_json, after_json) VALUES (?, ?, ?, ?, ?)",
        (session_id, at, what, json.dumps(list(map(_freeze, before))), json.dumps(list(map(_freeze, rows)))),
    )
    return c.last_insert_rowid()


def _names(c: Connection) -> list[str]:
    return [name for (name,) in c.execute("SELECT name FROM pragma_table_info('segments')")]


def _find(c: Connection, segment_id: str) -> Columns | None:
    names = _names(c)
    row = c.execute(f"SELECT {', '.join(names)} FROM segments WHERE segment_id = ?", (segment_id,)).fetchone()
    return None if row is None else dict(zip(names, row, strict=True))


def _load(c: Connection, segment_id: SegmentId) -> Columns:
    row = _find(c, segment_id)
    assert row is not None, "the caller looked"
    return row


def _update(c: Connection, segment_id: str, values: Mapping[str, Any]) -> None:
    names = ", ".join(f"{name} = ?" for name in values)
    c.execute(f"UPDATE segments SET {names} WHERE segment_id = ?", (*values.values(), segment_id))


def _insert(c: Connection, values: Mapping[str, Any]) -> None:
    marks = ", ".join("?" * len(values))
    c.execute(f"INSERT INTO segments({', '.join(values)}) VALUES ({marks})", tuple(values.values()))


def _freeze(row: Columns) -> Columns:
    return {name: {"hex": value.hex()} if isinstance(value, bytes) else value for name, value in row.items()}


def _thaw(row: Columns) -> Columns:
    return {name: bytes.fromhex(value["hex"]) if isinstance(value, dict) else value for name, value in row.items()}
