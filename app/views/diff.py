"""A difference between two texts: added and removed lines by sign and colour."""

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy

from app.rendering.diff import DiffLine, LineKind, diff_lines
from app.rendering.display import clean
from app.theme import PT_PER_PX, Look

MAX_SHOWN = 120  # lines; the rest is named by its count
MAX_CHARS = 400  # of one line
_STYLES = {LineKind.ADDED: ("added", "added_soft"), LineKind.REMOVED: ("removed", "removed_soft")}


class DiffView(QLabel):
    """Lines of a difference; as tall as they are, wrapped, selectable."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)

    def show_difference(self, before: str, after: str) -> None:
        """Show what turned `before` into `after`."""
        lines = diff_lines(clean(before), clean(after))
        size = 12 * PT_PER_PX * self._look.zoom_percent / 100
        rows = "".join(self._row(line) for line in lines[:MAX_SHOWN])
        if len(lines) > MAX_SHOWN:
            rows += self._row(DiffLine(LineKind.SKIPPED, f"{len(lines) - MAX_SHOWN:,} more lines"))
        pad = self._look.px(3)
        self.setText(
            f'<table width="100%" cellspacing="0" cellpadding="{pad}" style="font-size:{size:.2f}pt">{rows}</table>'
        )
        added = sum(line.kind is LineKind.ADDED for line in lines)
        removed = sum(line.kind is LineKind.REMOVED for line in lines)
        self.setAccessibleName(f"{added} lines added, {removed} removed")

    def _row(self, line: DiffLine) -> str:
        colours = self._look.theme.colours
        sign_colour, ground = _STYLES.get(line.kind, ("muted", ""))
        fill = f' bgcolor="{colours[ground]}"' if ground else ""
        changed = line.kind in _STYLES
        text = escape(line.text[:MAX_CHARS]) or "&nbsp;"
        colour = colours["text" if changed else "muted"]
        return (
            f'<tr{fill}><td width="{self._look.px(12)}" style="color:{colours[sign_colour]}">'
            f'<b>{line.kind.value.replace(" ", "&nbsp;")}</b></td><td style="color:{colour}">{text}</td></tr>'
        )
