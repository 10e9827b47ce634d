"""What the checks did with the last update of memory, in words; the whole list on demand."""

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.rendering.display import one_line
from app.rendering.words import guard_summary
from app.theme import Look
from app.views.base import Scroll, make_label, set_property
from core.model import Decision

MAX_LIST_HEIGHT = 220  # design pixels
_MADE = {
    "write": "The model wrote this update.",
    "select": "The model chose these lines from what was said.",
    "heuristics": "This update was made without a model.",
}
_DONE = {"KEEP": "left as it was", "UPDATE": "rewritten", "APPEND": "added to"}


class DecisionNote(QFrame):
    """One sentence; "Show decision" opens what was decided for every section."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._decisions: tuple[Decision, ...] = ()
        self._given: tuple[tuple[Decision, ...], str, str, tuple[str, ...]] | None = None
        self._headline, self._reason = "", ""
        self._text = make_label("", "note-text", wrap=True)
        self._text.setTextFormat(Qt.TextFormat.RichText)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self._text.linkActivated.connect(self._on_toggle)
        self._list_text = make_label("", "note-text", wrap=True)
        self._list = Scroll(look, margins=0, spacing=0)
        self._list.column.addWidget(self._list_text)
        self._list.setAccessibleName("Decisions")
        self._list.hide()
        self.has_words = False  # whether there is anything to say
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._text)
        self._column.addWidget(self._list)
        look.changed.connect(self._on_look)
        self._on_look()
        self.show_decisions((), "")

    def show_decisions(
        self, decisions: Sequence[Decision], cause: str, *, mode: str = "", notes: Sequence[str] = ()
    ) -> None:
        """Show what was decided and what went wrong, or nothing if no update has been made."""
        given = (tuple(decisions), cause, mode, tuple(notes))
        if self._given == given:
            return
        self._given = given
        headline, reason = guard_summary(decisions)
        if notes:
            headline, reason = headline or "Update not complete.", " ".join([*notes, reason]).strip()
        if not headline and not reason and cause:
            reason = f"Last update: {cause[0].lower()}{cause[1:].rstrip('.')}."
        self._headline, self._reason = headline, reason
        self._decisions = tuple(decisions)
        self.has_words = bool(headline or reason)
        self.setVisible(self.has_words)
        set_property(self, "kind", "note" if headline else "quiet-note")
        for label in (self._text, self._list_text):
            label.style().unpolish(label)
            label.style().polish(label)
        self._list_text.setText("\n".join(part for part in (_MADE.get(mode, ""), describe_all(decisions)) if part))
        self._write()

    def _write(self) -> None:
        colours = self._look.theme.colours
        parts = []
        if self._headline:
            parts.append(f'<span style="color:{colours["warning"]}; font-weight:600">{escape(self._headline)}</span>')
        parts.append(escape(one_line(self._reason, 400)))
        if self._decisions:
            word = "Hide" if self._list.isVisibleTo(self) else "Show"
            many = "decision" if len(self._decisions) == 1 else "decisions"
            colour = colours["text" if self._headline else "muted"]
            parts.append(f'<a href="#" style="color:{colour}">{word} {many}</a>')
        self._text.setText(" ".join(part for part in parts if part))
        self._text.setAccessibleName(f"{self._headline} {self._reason}".strip())

    def _on_toggle(self) -> None:
        self._list.setVisible(not self._list.isVisibleTo(self))
        self._fit_list()
        self._write()

    def _fit_list(self) -> None:
        """As tall as its text, up to a third of a small window; the rest scrolls."""
        width = max(self._look.px(200), self.width() - self._look.px(24))
        needed = self._list_text.heightForWidth(width) + self._look.px(4)
        self._list.setFixedHeight(min(needed, self._look.px(MAX_LIST_HEIGHT)))

    def _on_look(self) -> None:
        self._write()
        px = self._look.px
        self._column.setContentsMargins(px(10), px(7), px(10), px(6))
        self._column.setSpacing(px(2))


def describe_all(decisions: Sequence[Decision]) -> str:
    """A line for every section that something happened to, and one for those left as they were."""
    quiet = [d for d in decisions if d.applied == d.asked == "KEEP" and not (d.reason or _named(d))]
    lines = [_describe(d) for d in decisions if d not in quiet]
    if quiet:
        lines.append(f"Left as they were: {', '.join(d.section.value for d in quiet)}.")
    return "\n".join(lines)


def _named(decision: Decision) -> tuple[str, ...]:
    return (*decision.restored, *decision.carried, *decision.parked, *decision.skipped)


def _describe(decision: Decision) -> str:
    """`Open Issues: added to. 1 restored: “…”. reason`"""
    parts = [f"{decision.section.value}: {_DONE.get(decision.applied, decision.applied.lower())}."]
    if decision.asked != decision.applied:
        parts.append(f"Asked for: {_DONE.get(decision.asked, decision.asked.lower())}.")
    for word, lines in (
        ("Restored", decision.restored),
        ("Carried over", decision.carried),
        ("Set aside", decision.parked),
        ("Left out", decision.skipped),
    ):
        if lines:
            parts.append(f"{word}: " + "; ".join(f"“{one_line(line, 120)}”" for line in lines) + ".")
    if decision.reason:
        parts.append(decision.reason)
    return " ".join(parts)
