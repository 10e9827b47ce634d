"""The engine: one method a use case, for the window and for jobs alike.

Owns the database thread, the pools, the model host and the worker; publishes `Changes`. Every
method may raise a `CoreError` whose text is for the user. Listeners are called on the loop's
thread.
"""

import asyncio
import os
import sys
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.catalogue.choice import ModelChoice
from core.catalogue.places import Surroundings
from core.changes import Changes, Listener
from core.config import Settings, load_settings
from core.errors import DataFolderError, NotFoundError
from core.jobs.assembly import Backroom, build_backroom
from core.jobs.finalise import FindModel
from core.jobs.replay import replay_transcript
from core.locks import AppLock
from core.model import Conversation, EngineStatus, Message, ModelStatus, ReplayProgress, SessionId, TurnId
from core.model_files import ModelRole
from core.owners import APP, JOB, Owner
from core.paths import DataFolder, find_data_folder, find_resources
from core.redaction import redact
from core.services.activity import ActivityService
from core.services.asking import AskingService
from core.services.commits import CommitsService
from core.services.exams import ExamsService
from core.services.files import FilesService
from core.services.goals import GoalsService
from core.services.ground import Ground
from core.services.memory import MemoryService
from core.services.models import ModelsService
from core.services.preferences import PreferenceFinder
from core.services.profile import ProfileService
from core.services.prompts import PromptsService
from core.services.recall import RecallService
from core.services.segments import SegmentsService
from core.services.servers import ServersService
from core.services.settings import SettingsService
from core.services.tree import TreeService
from core.sessions import transcript
from core.sessions.chat_model import ChatModelSlot
from core.sessions.memory_model import MemoryModel
from core.sessions.replies import Answer, Replies
from core.storage import conversations, turns
from core.storage.database import Connection, Database, read_data_version
from core.text.cleaning import clean_text

__all__ = ["DataFolder", "Engine", "Settings", "find_data_folder", "load_settings", "run_model_host"]

WATCH_EVERY_S = 1.0  # how soon the window shows what another process changed
CLOSE_SEGMENTS_WITHIN_S = 1.0


class Engine:
    """Open it, use it, close it. Making one touches nothing."""

    def __init__(
        self,
        folder: DataFolder,
        settings: Settings,
        *,
        resources: Path | None = None,
        clock: Callable[[], float] = time.time,
        exclusive: bool = True,
        find_model: FindModel | None = None,
    ) -> None:
        """`find_model` returns what may be asked to sum up; by default the chat's model, as its exam found it fit."""
        self._folder = folder
        self._settings = settings = settings.copy()
        self._clock = clock
        self._lock = AppLock(folder.app_lock) if exclusive else None  # jobs share the folder with an app
        self._owner = Owner(folder.owners, APP if exclusive else JOB)
        self._listeners: list[Listener] = []
        self._database = Database(folder.database)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="thinking")
        self._find_model = find_model
        self._backroom: Backroom | None = None
        self._watch: asyncio.Task[None] | None = None
        ground = Ground(
            database=self._database,
            folder=folder,
            settings=settings,
            resources=resources or find_resources(),
            pool=self._pool,
            publish=self._publish,
            clock=clock,
            backroom=lambda: self.backroom,
        )
        choice = ModelChoice(ground.resources, folder.root, folder.models, settings.models)
        self._model = self._make_slot(ground, choice, ModelRole.CHAT, states=folder.state / "kv")
        self._memory_model = MemoryModel(
            self._model, lambda: self._make_slot(ground, choice, ModelRole.MEMORY), has_own=choice.has_own_memory_model
        )
        self._make_services(ground, choice)
        self._replies = Replies(self._database, ask=self._ask, publish=self._publish, clock=clock, finished=self._wake)

    def _make_slot(
        self, ground: Ground, choice: ModelChoice, role: ModelRole, states: Path | None = None
    ) -> ChatModelSlot:
        return ChatModelSlot(
            ground.resources,
            ground.folder.models,
            ground.settings.models,
            pool=self._pool,
            on_status=self._model_changed,
            states=states,
            find=lambda: choice.find(role),
            served=role is ModelRole.CHAT,
        )

    def _make_services(self, ground: Ground, choice: ModelChoice) -> None:
        """Make the areas of use cases, each an attribute."""
        self.activity = ActivityService(ground)
        self.asking = AskingService(ground)
        self.servers = ServersService(ground, switch=self._switch_server)
        self.commits = CommitsService(ground)
        self.exams = ExamsService(
            ground,
            self._memory_model,
            find=lambda: choice.find(ModelRole.MEMORY),
            served=lambda: self.servers.exam_key if self._memory_model.is_chats else "",
        )
        self.files = FilesService(ground)
        self.goals = GoalsService(ground)
        self.profile = ProfileService(ground)
        self.prompts = PromptsService(ground)
        self.recall = RecallService(ground, preferences=PreferenceFinder(ground).find)
        self.memory = MemoryService(ground)
        self.models = ModelsService(
            ground,
            choice,
            chat=self._model,
            memory=self._memory_model,
            exams=self.exams,
            surroundings=Surroundings(platform=sys.platform, home=Path.home(), environment=os.environ),
        )
        self.segments = SegmentsService(ground)
        self.settings = SettingsService(ground, os.environ)
        self.tree = TreeService(ground)

    # -- life ----------------------------------------------------------------------------------

    async def open(self) -> None:
        """Prepare the folder and the store, end what a crash cut off, start the worker.

        Raises `DataFolderError`, `FolderInUseError`, `StorageError` or `NewerSchemaError`.
        """
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._pool, self._prepare_folder)
        await self._database.open()
        if self._lock is not None:
            await self._database.write(turns.interrupt_unfinished)
        self._backroom = await loop.run_in_executor(
            self._pool,
            lambda: build_backroom(
                self._database,
                folder=self._folder,
                settings=self._settings,
                pool=self._pool,
                publish=self._publish,
                clock=self._clock,
                owner=self._owner.name,
                find_model=self._find_model or self.exams.find_recap_model,
                find_updater=self.exams.find_updater,
            ),
        )
        await self.models.start()
        if self._lock is not None:
            await self._backroom.worker.retry_failed()
            self._backroom.worker.start()
            self._watch = loop.create_task(self._watch_store(await self._database.read(read_data_version)))

    def _prepare_folder(self) -> None:
        self._folder.prepare()
        if self._lock is not None:
            self._lock.acquire()
        try:
            self._owner.acquire()
        except OSError as error:
            raise DataFolderError(
                f"Keepsake cannot write to {self._folder.owners} ({error.strerror or error}). Nothing was changed. "
                "Give yourself write access to it, or choose another folder with --data-dir."
            ) from error

    def start_model(self) -> None:
        """Start the model host; returns at once, progress comes as `Changes(model=True)`."""
        self._model.start()
        self._memory_model.start()
        self.exams.start()

    async def aclose(self) -> None:
        """Stop in reverse order of building; running replies are kept as far as they had come."""
        if self._watch is not None:
            self._watch.cancel()
        await self._replies.aclose()
        await self.prompts.aclose()
        await self.models.aclose()
        await self.exams.aclose()
        await self._memory_model.aclose()
        await self._model.aclose()
        if self._backroom is not None:
            if self._lock is not None:
                await self.segments.close_open(within_s=CLOSE_SEGMENTS_WITHIN_S)
            await self._backroom.aclose()
        await self._database.aclose()
        self._owner.release()
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._lock is not None:
            self._lock.release()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every change notice; returns the way to end that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # -- state ---------------------------------------------------------------------------------

    @property
    def model_status(self) -> ModelStatus:
        return self._model.status

    @property
    def status(self) -> EngineStatus:
        if self._backroom is None:
            return EngineStatus(problems=self._settings.warnings)
        return EngineStatus(
            problems=tuple(filter(None, (*self._settings.warnings, self.settings.problem, *self._backroom.problems))),
            memory_busy=self._backroom.worker.busy,
        )

    @property
    def backroom(self) -> Backroom:
        """What works behind the chat; for jobs. Raises `NotFoundError` before `open`."""
        if self._backroom is None:
            raise NotFoundError("The store is not open.")
        return self._backroom

    # -- conversations -------------------------------------------------------------------------

    async def list_conversations(self) -> tuple[Conversation, ...]:
        return await self._database.read(conversations.load_all)

    async def create_conversation(self) -> Conversation:
        """Return a new conversation; an empty one that is there already is used again."""
        now, session_id = self._clock(), SessionId(uuid.uuid4().hex)
        made = await self._database.write(
            lambda c: conversations.find_empty(c) or conversations.add(c, session_id, at=now)
        )
        self._publish(Changes(conversations=True))
        return made

    async def rename_conversation(self, session_id: SessionId, title: str) -> None:
        """Set the user's own title; a blank one lets the program name the conversation again."""
        title = redact(" ".join(title.split()))[:200]
        await self._database.write(lambda c: conversations.rename(c, session_id, title, by_user=True))
        self._publish(Changes(conversations=True))

    async def pin_conversation(self, session_id: SessionId, pinned: bool) -> None:
        await self._database.write(lambda c: conversations.set_pinned(c, session_id, pinned))
        self._publish(Changes(conversations=True))

    async def delete_conversation(self, session_id: SessionId) -> None:
        """Hide a conversation; `restore_conversation` brings it back."""
        await self._replies.stop(session_id)
        await self._database.write(lambda c: conversations.set_deleted(c, session_id, self._clock()))
        self._publish(Changes(conversations=True))
        await self._model.forget(session_id)
        await self._memory_model.forget(session_id)

    async def restore_conversation(self, session_id: SessionId) -> None:
        await self._database.write(lambda c: conversations.set_deleted(c, session_id, None))
        self._publish(Changes(conversations=True))

    async def set_remember(self, session_id: SessionId, remember: bool) -> None:
        """Switch "Temporary" off (True) or on: what is said from now on stays out of memory."""
        await self._database.write(lambda c: conversations.set_remember(c, session_id, remember))
        self._publish(Changes(conversations=True, memory=frozenset({session_id})))

    # -- chat ----------------------------------------------------------------------------------

    async def load_messages(
        self, session_id: SessionId, *, before: TurnId | None = None, limit_turns: int = 40
    ) -> tuple[Message, ...]:
        """Return the newest turns, oldest first; `before` pages back."""
        return await self._database.read(
            lambda c: turns.load_messages(c, session_id, before=before, limit_turns=limit_turns)
        )

    async def send(self, session_id: SessionId, text: str) -> tuple[Message, Message]:
        """Store a message, then start its reply; returns both once the message is durable.

        Raises `MessageError` for a blank message or while a reply is running there.
        """
        cleaned = clean_text(text)
        now = self._clock()
        orders = await self.profile.read_orders(cleaned)

        def begin(c: Connection) -> tuple[Message, Message]:
            user, reply = transcript.begin_turn(c, session_id, cleaned, at=now)
            return (self.profile.obey(c, session_id, orders, user), reply) if orders else (user, reply)

        user, reply = await self._database.write(begin)
        self._replies.start(reply)
        self._publish(Changes(messages=frozenset({session_id}), conversations=True, profile=bool(orders)))
        return user, reply

    async def stop_reply(self, session_id: SessionId) -> None:
        """End a running reply; what has arrived is kept and marked as stopped."""
        await self._replies.stop(session_id)

    async def load_draft(self, session_id: SessionId) -> str:
        return await self._database.read(lambda c: conversations.load_draft(c, session_id))

    async def save_draft(self, session_id: SessionId, text: str) -> None:
        draft = clean_text(text) if text.strip() else ""
        await self._database.write(lambda c: conversations.save_draft(c, session_id, draft))

    # -- transcripts ---------------------------------------------------------------------------

    async def replay(
        self, path: Path, *, progress: Callable[[ReplayProgress], None], stop: asyncio.Event
    ) -> ReplayProgress:
        """Feed a transcript (one JSON object a line) through the path of the chat; `stop` ends it.

        Running it again goes on where it ended. Raises `TranscriptError` if the file cannot be read.
        """
        result = await replay_transcript(
            path,
            worker=self.backroom.worker,
            pool=self._pool,
            progress=progress,
            stop=stop,
        )
        self._publish(Changes(everything=True))
        return result

    async def wait_idle(self) -> None:
        """Return when all background work that is due is done."""
        await self.backroom.worker.wait_idle()

    # -- inside --------------------------------------------------------------------------------

    async def _ask(self, session_id: SessionId) -> Answer:
        await self.recall.prepare(session_id)
        sampling = (await self.asking.load(session_id)).sampling
        answer = await self._model.ask(session_id, self.prompts.gather, sampling)
        if answer.prompt is not None:
            await self.prompts.keep(session_id, answer.prompt, answer.model)
        return answer

    def _publish(self, changes: Changes) -> None:
        for listener in tuple(self._listeners):
            listener(changes)

    def _model_changed(self) -> None:
        self.models.note_status(self._model.status)
        self._publish(Changes(model=True))

    def _wake(self) -> None:
        if self._backroom is not None:
            self._backroom.worker.wake()

    async def _watch_store(self, seen: int) -> None:
        """Notice what another process wrote since `seen`, and tidy up what rested too long."""
        await self._sweep()
        swept_at = self._clock()
        while True:
            await asyncio.sleep(WATCH_EVERY_S)
            await self.settings.look()
            now_seen = await self._database.read(read_data_version)
            if now_seen != seen:
                seen = now_seen
                self._publish(Changes(everything=True))
            if self._clock() - swept_at > 60:
                swept_at = self._clock()
                await self._sweep()

    async def _switch_server(self) -> None:
        await self._model.switch()
        self.exams.look_again()

    async def _sweep(self) -> None:
        await self.segments.close_left()
        await self.backroom.sweep(now=self._clock())


def run_model_host() -> int:
    """Run this process as the model host; returns its exit code."""
    from core.llm.worker import main

    return main()
