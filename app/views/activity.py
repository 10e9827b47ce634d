"""The Activity tab: what works now, waits, failed and was done, by which process, and what memory still lacks."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.rendering.display import one_line
from app.rendering.words import ago
from app.rendering.words_activity import doing, done, health_lines, step, took, tries, wait
from app.theme import Look
from app.views.base import ElidedLabel, Scroll, make_button, make_label
from core.activity import Activity, DoneJob, Outcome, QueuedJob, StepSuccess
from core.wording import count

SHOWN_WAITING = 12
SHOWN_DONE = 30
REST = "Nothing to do. Memory is up to date."
NO_LOG = "Nothing was done yet. What Keepsake does after a message stands here, with the process that did it."


class _Row(QWidget):
    """A line of what and where, a muted line below, and a button where something can be done."""

    def __init__(self, look: Look, what: str, where: str, note: str, *, tone: str = "muted") -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, look.px(3), 0, look.px(3))
        column.setSpacing(look.px(1))
        self.head = QHBoxLayout()
        self.head.setSpacing(look.px(8))
        self.head.addWidget(make_label(what, "line"))
        self.head.addWidget(ElidedLabel(one_line(where, 120), "muted"), 1)
        column.addLayout(self.head)
        if note:
            column.addWidget(make_label(note, tone, wrap=True))
        self.setAccessibleName(". ".join(filter(None, (what, where, note))))


class _Card(QFrame):
    """A heading, a button beside it, and rows."""

    def __init__(self, look: Look, heading: str) -> None:
        super().__init__()
        self._look = look
        self.setProperty("kind", "card")
        self.setAccessibleName(heading)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(look.px(13), look.px(10), look.px(13), look.px(10))
        self._column.setSpacing(look.px(2))
        self.head = QHBoxLayout()
        self.heading = make_label(heading, "heading")
        self.head.addWidget(self.heading, 1)
        self._column.addLayout(self.head)
        self._rows: list[QWidget] = []

    def set_rows(self, rows: Sequence[QWidget]) -> None:
        """Show these rows; the card goes where there are none."""
        for row in self._rows:
            row.hide()
            row.deleteLater()
        self._rows = list(rows)
        for row in rows:
            self._column.addWidget(row)
        self.setVisible(bool(rows))


class ActivityTab(QWidget):
    """Cards, those that ask for attention first."""

    retry_requested = Signal(int)
    retry_all_requested = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._shown: tuple[Activity, float] = (Activity(), 0.0)
        self._rest = make_label(REST, "lead", wrap=True)
        self._failed = _Card(look, "Given up")
        self._retry_all = make_button(
            "Try all again", "small", self.retry_all_requested.emit, tip="Also those that wait for their next try"
        )
        self._failed.head.addWidget(self._retry_all)
        self._running = _Card(look, "At work now")
        self._waiting = _Card(look, "Waiting")
        self._health = _Card(look, "What memory still lacks")
        self._done = _Card(look, "Done last")
        self._steps = _Card(look, "Last time each step worked")
        self.area = Scroll(look)
        self.area.setAccessibleName("Activity")
        cards = (self._failed, self._running, self._waiting, self._health, self._done, self._steps)
        for widget in (self._rest, *cards):
            self.area.column.addWidget(widget)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.area)
        look.changed.connect(self._on_look)
        self.show_activity(*self._shown)

    def show_activity(self, activity: Activity, now: float) -> None:
        """Show how things stand at a time, in s."""
        self._shown = (activity, now)
        place = self.area.verticalScrollBar().value()
        self.setUpdatesEnabled(False)
        busy = bool(activity.running or activity.waiting or activity.failed)
        self._rest.setVisible(not busy)
        self._rest.setText(REST if activity.recent else NO_LOG)
        self._failed.set_rows([self._make_failed(job) for job in activity.failed])
        self._running.set_rows([self._make_running(job, now) for job in activity.running])
        self._waiting.set_rows(self._make_waiting(activity, now))
        self._health.set_rows([self._make_lack(tone, text) for tone, text in health_lines(activity.health)])
        self._done.set_rows([self._make_done(entry, now) for entry in activity.recent[:SHOWN_DONE]])
        newest = sorted(activity.successes, key=lambda each: -each.at)
        self._steps.set_rows([self._make_step(each, now) for each in newest])
        self.setUpdatesEnabled(True)
        self.area.fit()
        self.area.verticalScrollBar().setValue(place)

    def _make_failed(self, job: QueuedJob) -> QWidget:
        row = _Row(self._look, doing(job.kind), job.title, f"{tries(job.attempts)}: {_reason(job)}", tone="error")
        name = f"Try again: {doing(job.kind)}"
        row.head.addWidget(make_button("Try again", "small", lambda: self.retry_requested.emit(job.id), name=name))
        return row

    def _make_running(self, job: QueuedJob, now: float) -> QWidget:
        since = ago(job.started_at, now)
        begun = "began just now" if since == "just now" else f"began {since}"
        note = " · ".join(filter(None, (job.progress, job.owner, begun)))
        return _Row(self._look, doing(job.kind), job.title, note)

    def _make_waiting(self, activity: Activity, now: float) -> list[QWidget]:
        shown = activity.waiting[:SHOWN_WAITING]
        rows: list[QWidget] = [self._make_waiting_row(job, now) for job in shown]
        total = sum(each.waiting + each.back_off for each in activity.counts)
        if total > len(shown) and shown:
            rows.append(make_label(f"and {count(total - len(shown), 'more job')}", "muted"))
        return rows

    def _make_waiting_row(self, job: QueuedJob, now: float) -> QWidget:
        note = wait(job, now) + (f" · {tries(job.attempts)}: {_reason(job)}" if job.error else "")
        row = _Row(self._look, doing(job.kind), job.title, note, tone="warning" if job.error else "muted")
        if job.error:
            again = make_button("Try now", "link", lambda: self.retry_requested.emit(job.id))
            again.setAccessibleName(f"Try now: {doing(job.kind)}")
            row.head.addWidget(again)
        return row

    def _make_lack(self, tone: str, text: str) -> QWidget:
        return make_label(("▲ " if tone == "warn" else "") + text, "warning" if tone == "warn" else "muted", wrap=True)

    def _make_done(self, entry: DoneJob, now: float) -> QWidget:
        note = " · ".join(filter(None, (ago(entry.at, now), entry.owner, took(entry.took_s))))
        bad = entry.outcome in (Outcome.FAILED, Outcome.GAVE_UP)
        if entry.error and bad:
            note += f"\n{one_line(entry.error, 300)}"
        return _Row(self._look, done(entry), entry.title, note, tone="error" if bad else "muted")

    def _make_step(self, success: StepSuccess, now: float) -> QWidget:
        return make_label(f"{step(success.kind)}: {ago(success.at, now)}, {success.owner}", "muted", wrap=True)

    def _on_look(self) -> None:
        self.show_activity(*self._shown)


def _reason(job: QueuedJob) -> str:
    return one_line(job.error, 300) or "no reason was noted"
