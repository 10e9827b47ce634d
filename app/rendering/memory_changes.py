"""How two versions differ, as text: a sign, the words, the reason. Pure."""

from collections.abc import Iterator, Sequence
from html import escape

from app.rendering.display import one_line
from core.model import ChangeKind, LineChange

SIGNS = {
    ChangeKind.CAME: "+",
    ChangeKind.WENT: "−",
    ChangeKind.CHANGED: "~",
    ChangeKind.RESTORED: "↺",
    ChangeKind.LOCKED: "locked:",
    ChangeKind.UNLOCKED: "unlocked:",
}
_COLOURS = {ChangeKind.CAME: "added", ChangeKind.WENT: "removed", ChangeKind.RESTORED: "warning"}
SHOWN = 60


def changes_html(changes: Sequence[LineChange], colours: dict[str, str]) -> str:
    """Rich text of the differences, a heading a section; at most 60 lines."""
    return "<br>".join(_lines(changes, colours)) or "Nothing: both hold the same lines."


def changes_plain(changes: Sequence[LineChange]) -> str:
    """The same for a screen reader."""
    return "; ".join(f"{c.section}, {c.kind}: {one_line(c.after or c.before, 120)}" for c in changes[:SHOWN])


def _lines(changes: Sequence[LineChange], colours: dict[str, str]) -> Iterator[str]:
    section = None
    for change in changes[:SHOWN]:
        if change.section is not section:
            section = change.section
            yield f"<b>{escape(section)}</b>"
        yield _line(change, colours)
    if len(changes) > SHOWN:
        yield f"… and {len(changes) - SHOWN} more"


def _line(change: LineChange, colours: dict[str, str]) -> str:
    sign = f'<span style="color:{colours[_COLOURS.get(change.kind, "muted")]}">{SIGNS[change.kind]}</span>'
    before, after = escape(one_line(change.before, 200)), escape(one_line(change.after, 200))
    if change.kind is ChangeKind.CHANGED:
        words = f'<s style="color:{colours["muted"]}">{before}</s> {after}'
    elif change.kind is ChangeKind.WENT:
        words = f"<s>{before}</s>"
    else:
        words = after or before
    reason = f' <span style="color:{colours["muted"]}">({escape(one_line(change.reason, 200))})</span>'
    return f"{sign} {words}{reason if change.reason else ''}"
