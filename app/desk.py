"""Joins one open engine to one window: a presenter for each pane, signals to slots, notices to presenters."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, QTimer, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QGuiApplication

from app.pages import Pages
from app.presenters.activity import ActivityPresenter
from app.presenters.asking import AskingPresenter
from app.presenters.chat import ChatPresenter
from app.presenters.compact import CompactPresenter
from app.presenters.conversations import ConversationsPresenter
from app.presenters.files import FilesPresenter
from app.presenters.memory import MemoryPresenter
from app.presenters.profile import ProfilePresenter
from app.presenters.prompt import PromptPresenter
from app.presenters.segments import SegmentsPresenter
from app.presenters.status import StatusPresenter
from app.presenters.tree import TreePresenter
from app.rendering.display import one_line
from app.windows.asking import AskingPane
from app.windows.dropping import FileDrop, is_model_file
from app.windows.main_window import MainWindow
from core.changes import Changes
from core.model import Conversation, ModelStatus, Role, SessionId, TurnId

if TYPE_CHECKING:
    from core.engine import Engine

TICK_MS = 30_000  # "2 min ago" grows old


class ListPane:
    """The conversation list with its toast, as the presenter sees them."""

    def __init__(self, window: MainWindow, offer: Callable[[str], None]) -> None:
        self._window = window
        self._offer = offer

    def show_conversations(self, conversations: Sequence[Conversation], selected: SessionId | None) -> None:
        self._window.sidebar.show_conversations(conversations, selected, time.time())

    def select(self, session_id: SessionId | None) -> None:
        self._window.sidebar.select(session_id)

    def offer_undo(self, session_ids: Sequence[SessionId], titles: Sequence[str]) -> None:
        title = one_line(titles[-1], 40)
        one = f"“{title}” deleted." if title else "Conversation deleted."
        text = one if len(session_ids) == 1 else f"{len(session_ids)} conversations deleted."
        self._offer(text)


class StatusPane:
    """The status line and the header's model chip, as the presenter sees them."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window

    def show_model(self, status: ModelStatus) -> None:
        self._window.status_line.show_model(status)
        self._window.chat.show_model(status)

    def show_memory_state(self, text: str) -> None:
        self._window.status_line.show_memory_state(text)

    def show_problems(self, problems: tuple[str, ...]) -> None:
        self._window.status_line.show_problems(problems)


class Desk(QObject):
    """Lives as long as the engine is open; `aclose` saves the draft and ends every task."""

    def __init__(self, engine: "Engine", window: MainWindow, state: QSettings) -> None:
        super().__init__(window)
        self._window = window
        self._state = state
        self.engine = engine
        report = window.toast.show_text
        self.list = ConversationsPresenter(
            engine,
            ListPane(window, lambda text: self._offer_undo(self.list.undo_delete, text)),
            report=report,
            on_open=self._on_open,
        )
        self.chat = ChatPresenter(engine, window.chat, report=report, create=self.list.create)
        self.memory = MemoryPresenter(
            engine.memory,
            window.memory,
            report=report,
            offer_undo=lambda text: self._offer_undo(self.memory.undo, text),
            clock=time.time,
        )
        self.compact = CompactPresenter(engine.commits, window.memory.commits, report=report, clock=time.time)
        self.segments = SegmentsPresenter(
            engine.segments,
            window.segments,
            report=report,
            offer_undo=lambda text: self._offer_undo(self.segments.undo, text),
            clock=time.time,
        )
        self.tree = TreePresenter(engine.tree, window.segments.tree, report=report, clock=time.time)
        self.files = FilesPresenter(
            engine.files,
            engine.goals,
            window.files,
            report=report,
            offer_undo=lambda text: self._offer_undo(self.files.undo_last, text),
            clock=time.time,
        )
        self.profile = ProfilePresenter(engine.profile, window.profile, report=report, clock=time.time)
        self.prompt = PromptPresenter(engine.prompts, window.prompt, report=report, clock=time.time)
        self.activity = ActivityPresenter(engine.activity, window.activity, report=report, clock=time.time)
        self.status = StatusPresenter(engine, StatusPane(window))
        self.asking_pane = AskingPane(window, window.chat, window.look)
        self.asking = AskingPresenter(engine.asking, self.asking_pane, report=report)
        self.pages = Pages(engine, window)
        self._toast_undo: Callable[[], None] = self.list.undo_delete  # what the toast on screen takes back
        self._unsubscribe = engine.subscribe(self._on_changes)
        self._tick = QTimer(self, interval=TICK_MS)
        self._tick.timeout.connect(self.memory.tick)
        self._tick.timeout.connect(self.activity.tick)
        self._join()

    async def start(self) -> None:
        """Show what is there: the conversation that was open last, or the newest."""
        self.status.start()
        self._show_place()
        wanted = str(self._state.value("conversation", "")) or None
        await self.list.start(SessionId(wanted) if wanted else None)
        self._window.chat.composer.set_ready(True)
        self._tick.start()

    async def aclose(self) -> None:
        """End in reverse order; afterwards nothing touches the window."""
        self._tick.stop()
        self._unsubscribe()
        if self.list.selected is not None:
            self._state.setValue("conversation", self.list.selected)
            self._state.sync()
        await self.pages.aclose()
        self.asking_pane.close_asking()
        await self.asking.aclose()
        tabs = (self.activity, self.prompt, self.profile, self.files, self.tree, self.segments, self.memory)
        for presenter in (self.compact, *tabs, self.chat, self.list):
            await presenter.aclose()

    def _join(self) -> None:
        window, sidebar, chat, menus = self._window, self._window.sidebar, self._window.chat, self._window.menus
        for signal in (sidebar.new_requested, menus.new_requested):
            signal.connect(self._new)
        sidebar.open_requested.connect(self.list.open)
        sidebar.rename_requested.connect(self.list.rename)
        sidebar.pin_requested.connect(self.list.pin)
        sidebar.delete_requested.connect(self.list.delete)
        window.toast.undo_requested.connect(self._undo_from_toast)
        window.toast.gone.connect(self.list.forget_undo)
        chat.send_requested.connect(self.chat.send)
        chat.stop_requested.connect(self.chat.stop)
        menus.stop_requested.connect(self.chat.stop)
        chat.draft_changed.connect(self.chat.set_draft)
        chat.earlier_wanted.connect(self.chat.load_earlier)
        chat.remember_requested.connect(self._set_remember)
        chat.copy_requested.connect(self._copy)
        chat.link_activated.connect(self._open_link)
        menus.undo_delete_requested.connect(self._undo_delete)
        menus.copy_reply_requested.connect(self._copy_last_reply)
        menus.open_folder_requested.connect(self._open_folder)
        for signal in (window.memory.update_requested, menus.update_memory_requested):
            signal.connect(self.memory.update_now)
        self._join_memory()
        self._join_segments()
        self._join_files()
        self._join_profile()
        self._join_prompt()
        self._join_pages()
        window.activity.retry_requested.connect(self.activity.retry)
        window.activity.retry_all_requested.connect(self.activity.retry_all)
        window.inspector.tab_changed.connect(self._on_tab)
        self._on_tab(window.inspector.current())

    def _join_pages(self) -> None:
        """What opens beside the window: models, settings, how answers are made."""
        window, chat, menus = self._window, self._window.chat, self._window.menus
        menus.settings_requested.connect(self.pages.open_settings)
        for signal in (chat.models_requested, menus.models_requested):
            signal.connect(self.pages.open_models)
        for signal in (chat.answers_requested, menus.answers_requested):
            signal.connect(self.asking_pane.open_up)
        self.asking_pane.opened.connect(self.asking.reload)
        self.asking_pane.save_requested.connect(self.asking.save)
        self.asking_pane.reset_requested.connect(self.asking.reset)
        self.asking_pane.preset_chosen.connect(self.asking.choose_preset)
        self._drop = FileDrop(self, window, chat.composer.entry.viewport(), takes=is_model_file)
        self._drop.dropped.connect(self.pages.import_models)

    def _join_profile(self) -> None:
        tab = self._window.profile
        tab.turn_requested.connect(self._jump_to)
        tab.confirm_requested.connect(self.profile.confirm)
        tab.pin_requested.connect(self.profile.pin)
        tab.correct_requested.connect(self.profile.correct)
        tab.choose_requested.connect(self.profile.choose)
        tab.ask_forget_requested.connect(self.profile.ask_to_forget)
        tab.forget_requested.connect(self.profile.forget)
        tab.keep_requested.connect(self.profile.keep)
        tab.undo_requested.connect(self.profile.undo)

    def _join_prompt(self) -> None:
        tab = self._window.prompt
        tab.chosen.connect(self.prompt.choose)
        tab.instructions_saved.connect(self.prompt.set_instructions)
        tab.turn_requested.connect(self._jump_to)
        tab.copy_requested.connect(self._copy)

    def _join_files(self) -> None:
        tab = self._window.files
        tab.undo_requested.connect(self.files.undo)
        tab.changed_outside.connect(self.files.refresh)
        tab.copy_requested.connect(self._copy)
        tab.link_activated.connect(self._open_link)
        tab.turn_requested.connect(self._jump_to)
        tab.entry_changed.connect(self.files.change_entry)
        tab.entry_removed.connect(self.files.remove_entry)
        tab.save_requested.connect(self.files.save)
        tab.goal_taken.connect(self.files.take_goal)
        tab.goal_dismissed.connect(self.files.dismiss_goal)

    def _join_segments(self) -> None:
        tab = self._window.segments
        tab.turn_requested.connect(self._jump)
        tab.page_changed.connect(self._on_segments_page)
        tab.timeline.recap_requested.connect(self.segments.recap_again)
        tab.timeline.merge_requested.connect(self.segments.merge)
        tab.timeline.split_wanted.connect(self.segments.ask_where_to_split)
        tab.timeline.split_requested.connect(self.segments.split)
        tab.timeline.rename_requested.connect(self.segments.rename)
        tab.tree.view_chosen.connect(self.tree.choose)
        tab.tree.branch_opened.connect(self.tree.open)
        tab.tree.turn_requested.connect(self._jump_to)

    def _show_place(self) -> None:
        served = self.engine.servers.served
        self._window.status_line.show_other_computer(served.allowed_host if served else "")

    def _join_memory(self) -> None:
        tab = self._window.memory
        tab.version_chosen.connect(self.memory.choose_version)
        tab.restore_requested.connect(self.memory.restore)
        tab.difference_requested.connect(self.memory.show_difference)
        tab.acted.connect(self.memory.act)
        tab.undo_requested.connect(self.memory.undo)
        tab.redo_requested.connect(self.memory.redo)
        tab.turn_requested.connect(self._jump)
        tab.copy_requested.connect(self._copy)
        self._window.chat.remember_message_requested.connect(self.memory.remember)
        self._window.menus.remember_requested.connect(self._remember_last)
        self._window.menus.undo_memory_requested.connect(self.memory.undo)
        self._window.menus.compact_requested.connect(self._compact)
        tab.commits.cancel_requested.connect(self.compact.cancel)
        tab.commits.retry_requested.connect(self.compact.retry)

    def _on_open(self, conversation: Conversation | None) -> None:
        for pane in (self.chat, self.memory, self.compact, self.segments, self.prompt, self.asking, self.status):
            pane.show(conversation)
        self._window.setWindowTitle(
            f"{one_line(conversation.title, 80)} · Keepsake" if conversation and conversation.title else "Keepsake"
        )

    def _on_changes(self, changes: Changes) -> None:
        self.asking.on_changes(changes)
        if changes.model or changes.settings or changes.everything:
            self._show_place()
        self.pages.on_changes(changes)
        for pane in (
            self.list,
            self.chat,
            self.memory,
            self.compact,
            self.segments,
            self.tree,
            self.files,
            self.profile,
            self.activity,
            self.prompt,
            self.status,
        ):
            pane.on_changes(changes)

    @Slot(str)
    def _on_tab(self, name: str) -> None:
        self.memory.set_visible(name == "Memory")
        self.compact.set_visible(name == "Memory")
        self.segments.set_visible(name == "Segments")
        self.tree.set_visible(name == "Segments" and self._window.segments.shows_tree)
        self.files.set_visible(name == "Files")
        self.profile.set_visible(name == "Profile")
        self.activity.set_visible(name == "Activity")
        self.prompt.set_visible(name == "Prompt")

    @Slot(str)
    def _on_segments_page(self, _name: str) -> None:
        self._on_tab(self._window.inspector.current())

    @Slot()
    def _new(self) -> None:
        self.list.new()
        self._window.chat.composer.entry.setFocus()

    def _offer_undo(self, undo: Callable[[], None], text: str) -> None:
        """Show what was done, with the way back: the toast has one Undo, of what it says."""
        if undo != self.list.undo_delete:
            self.list.forget_undo()
        self._toast_undo = undo
        self._window.toast.show_text(text, undo=True)

    @Slot()
    def _undo_from_toast(self) -> None:
        self._toast_undo()

    @Slot()
    def _compact(self) -> None:
        self._window.show_tab("Memory")  # where its progress stands
        self.compact.compact()

    @Slot()
    def _remember_last(self) -> None:
        asked = [v.message for v in self._window.chat.transcript.message_views() if v.message.role is Role.USER]
        if asked:
            self.memory.remember(asked[-1])

    @Slot()
    def _undo_delete(self) -> None:
        self._window.toast.dismiss()
        self.list.undo_delete()

    @Slot(bool)
    def _set_remember(self, remember: bool) -> None:
        if self.list.selected is not None:
            self.list.set_remember(self.list.selected, remember)
        elif not remember:
            self.chat.start_temporary()

    @Slot(int)
    def _jump(self, turn: int) -> None:
        self.chat.jump_to(TurnId(turn))

    @Slot(str, int)
    def _jump_to(self, session_id: str, turn: int) -> None:
        """Go to a turn of any conversation."""
        self.list.open(SessionId(session_id))
        self.chat.jump_to(TurnId(turn))

    @Slot(str)
    def _copy(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)

    @Slot()
    def _copy_last_reply(self) -> None:
        if text := self.chat.last_reply():
            self._copy(text)
            self._window.toast.show_text("The last reply is on the clipboard.")

    @Slot(QUrl)
    def _open_link(self, url: QUrl) -> None:
        if url.scheme().lower() in ("http", "https", "mailto"):
            QDesktopServices.openUrl(url)  # the user's own click; Keepsake itself fetches nothing

    @Slot()
    def _open_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._window.data_folder))
