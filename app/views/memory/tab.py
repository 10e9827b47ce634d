"""The Memory tab: versions, what the checks did, the seven sections, and what can be done with a line."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.rendering.memory_rows import Act, Draft, LineAction, RowKind, build_rows, describe_update, summarise
from app.theme import Look
from app.views.base import make_button, make_label
from app.views.decisions import DecisionNote
from app.views.memory.actions import ActionBar
from app.views.memory.commits import CommitNotice
from app.views.memory.list import MemoryList
from app.views.memory.versions import VersionBar
from core.model import LineState, MemoryDiff, MemoryVersion, Section, WorkingMemory
from core.wording import count


class MemoryTab(QWidget):
    """Shows a version; on the newest, lines can be changed."""

    turn_requested = Signal(int)
    version_chosen = Signal(int)
    update_requested = Signal()
    acted = Signal(LineAction)
    undo_requested = Signal()
    redo_requested = Signal()
    restore_requested = Signal(int)
    difference_requested = Signal(int)
    copy_requested = Signal(str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._memory: WorkingMemory | None = None
        self._remember = True
        self._message = ""
        self._opened: set[Section] = set()
        self._draft: Draft | None = None
        self.versions = VersionBar(look)
        self.note = DecisionNote(look)
        self.commits = CommitNotice(look)
        self._note_row = QVBoxLayout()
        self._note_row.addWidget(self.commits)
        self._note_row.addWidget(self.note)
        self.list = MemoryList(look)
        self.list.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.actions_ = ActionBar(look)
        self._build_footer()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.versions)
        column.addLayout(self._note_row)
        column.addWidget(self.list, 1)
        column.addWidget(self.actions_)
        column.addWidget(self._footer)
        self._join()
        look.changed.connect(self._on_look)
        self._on_look()
        self.show_memory(None, 0.0)

    def _build_footer(self) -> None:
        self._pending = make_label("", "muted", wrap=True)
        self.update_button = make_button(
            "Update now", "small", self.update_requested.emit, tip="Take in what is pending"
        )
        self._footer = QWidget()
        self._footer_row = QHBoxLayout(self._footer)
        self._footer_row.addWidget(self._pending, 1)
        self._footer_row.addWidget(self.update_button)

    def _join(self) -> None:
        rows, versions = self.list, self.versions
        for mine, theirs in (
            (rows.turn_requested, self.turn_requested),
            (rows.acted, self.acted),
            (rows.undo_requested, self.undo_requested),
            (rows.redo_requested, self.redo_requested),
            (rows.copy_requested, self.copy_requested),
            (versions.version_chosen, self.version_chosen),
            (versions.restore_requested, self.restore_requested),
            (versions.difference_requested, self.difference_requested),
            (versions.undo_requested, self.undo_requested),
        ):
            mine.connect(theirs)
        rows.fold_requested.connect(self._on_fold)
        rows.draft_wanted.connect(self.start_line)
        rows.draft_ended.connect(self._end_draft)
        rows.current_changed.connect(self._show_actions)
        self.actions_.chosen.connect(self._on_action)

    # -- what is shown -----------------------------------------------------------------------------

    def show_memory(self, memory: WorkingMemory | None, now: float) -> None:
        """Show a version of the memory, or seven empty sections."""
        before = self._memory
        same = before is not None and memory is not None and before.session_id == memory.session_id
        glow = same and _is_live(before) and _is_live(memory)
        if not same:
            self._message, self._opened, self._draft = "", set(), None
            self.list.verticalScrollBar().setValue(0)
        elif before is not None and memory is not None and memory.version > before.version:
            self._message = ""
        self._keep_typed(memory)
        self._memory = memory
        self._show_rows(glow=glow)
        if not same:
            self.list.scrollToTop()
        self.versions.show_memory(memory, now)
        if memory is not None:
            self.note.show_decisions(memory.decisions, memory.cause, mode=memory.mode, notes=memory.notes)
        else:
            self.note.show_decisions((), "")
        self.note.setVisible(self.note.has_words and _is_live(memory))
        self._show_footer()
        if glow and before is not None and memory is not None and memory.version > before.version:
            self._announce(describe_update(memory))

    def _announce(self, text: str) -> None:
        """Say aloud what an update did, once."""
        if text and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def show_versions(self, versions: tuple[MemoryVersion, ...]) -> None:
        """Take what is known of all versions."""
        self.versions.show_versions(versions)

    def show_difference(self, diff: MemoryDiff) -> None:
        """Show how an old version differs from the newest."""
        self.versions.show_difference(diff)

    def set_remember(self, remember: bool) -> None:
        """Whether this conversation enters memory at all."""
        self._remember = remember
        self._show_footer()

    def set_updating(self, updating: bool) -> None:
        """An update asked for by the user is running."""
        self.update_button.setText("Updating…" if updating else "Update now")
        self.update_button.setEnabled(not updating)

    def show_message(self, text: str) -> None:
        """What came of an update that changed nothing, or of an edit that could not be made."""
        self._message = text
        self._show_footer()

    def start_line(self, section: Section, text: str = "") -> None:
        """Open a new line in a section."""
        self._draft = Draft(section=section, text=text)
        self._show_rows(glow=False)
        self.list.edit_row(f"{RowKind.DRAFT}:{section}", text)

    def keep_text(self, action: LineAction) -> None:
        """An edit failed: give the user back what was typed, over the line or, if that is gone, as a new line."""
        text = action.new_text or action.text
        key = f"{RowKind.LINE}:{action.section}:line:{action.text}"
        if action.act is Act.EDIT and self.list.edit_row(key, text):
            return
        self.start_line(action.section, text)

    # -- inside ------------------------------------------------------------------------------------

    def _keep_typed(self, memory: WorkingMemory | None) -> None:
        """A line that goes while it is edited leaves the typed text as a new line of its section."""
        typed = self.list.editing_text()
        if typed is None:
            return
        if memory is None or self._memory is None or memory.session_id != self._memory.session_id:
            self.list.abandon_edit()  # leaving the box has saved it
            return
        row, text = typed
        if row.kind is RowKind.DRAFT:
            self._draft = Draft(section=row.section, text=text)
        elif row.key not in {new.key for new in build_rows(memory)}:
            self.list.abandon_edit()
            if text.strip() != row.text.strip():
                self._draft = Draft(section=row.section, text=text)
                self._message = "The line you were editing has changed. Your text is kept as a new line."

    def _show_rows(self, *, glow: bool) -> None:
        drafting = self._draft is not None and self.list.rows.find(f"{RowKind.DRAFT}:{self._draft.section}").isValid()
        rows = build_rows(self._memory, opened=self._opened, draft=self._draft, editable=_is_live(self._memory))
        self.list.show_rows(rows, glow=glow)
        self.list.setAccessibleDescription(summarise(self._memory))
        if self._draft is not None and not drafting and self._draft.text:
            self.list.edit_row(f"{RowKind.DRAFT}:{self._draft.section}", self._draft.text)

    def _show_actions(self) -> None:
        self.actions_.show_row(self.list.current_row())

    def _show_footer(self) -> None:
        memory = self._memory
        lines = sum(line.state is LineState.PENDING for s in (memory.sections if memory else ()) for line in s.lines)
        live = _is_live(memory)
        if self._message:
            text = self._message
        elif not self._remember:
            text = "Temporary: nothing of this conversation is remembered."
        elif lines and live:
            text = f"{count(lines, 'line')} pending, {'enters' if lines == 1 else 'enter'} with the next update"
        else:
            text = ""
        self._pending.setText(text)
        self.update_button.setVisible(self._remember and live and lines > 0)
        self._footer.setVisible(bool(text))

    def _end_draft(self) -> None:
        self._draft = None
        self._show_rows(glow=False)

    def _on_fold(self, section: Section) -> None:
        self._opened ^= {section}
        self._show_rows(glow=False)

    def _on_action(self, act: Act) -> None:
        if act is not Act.EDIT:
            self.list.setFocus()
        self.list.act(act)

    def _on_look(self) -> None:
        px = self._look.px
        self._note_row.setContentsMargins(px(12), px(8), px(12), 0)
        self._note_row.setSpacing(px(8))
        self.commits.restyle()
        self._footer_row.setContentsMargins(px(14), px(6), px(14), px(8))
        self._footer_row.setSpacing(px(10))
        self.versions.restyle()
        self.actions_.restyle()
        self.list.restyle()


def _is_live(memory: WorkingMemory | None) -> bool:
    return memory is None or memory.version == memory.newest
