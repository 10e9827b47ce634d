"""Models, for the Models page and the terminal: the list, choosing, importing, downloading, finding, examining.

The only network access of the program is `download`, which runs when it is called and at no other time. Relies on
`core.catalogue` for files and on the slots of `core.sessions` for what is loaded.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from core.model import ExamResult, SessionId
from core.model_files import (
    ConversationSettings,
    DownloadProgress,
    FoundFile,
    ImportWay,
    ModelCard,
    ModelOffer,
    ModelRole,
    Preset,
)
from core.services.ground import Ground

Progress = Callable[[DownloadProgress], None]


class ModelsService:
    """What the user does with model files. `Changes(model=True)` is published after each change."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    # -- the list

    async def list_models(self) -> tuple[ModelCard, ...]:
        """Return all models: built in, in the folder of models, and elsewhere; a broken or vanished one says so.

        Reads headers only. `Changes(model=True)` tells when it should be read again.
        """
        raise NotImplementedError

    async def list_offers(self) -> tuple[ModelOffer, ...]:
        """Return what the catalogue offers and is not here yet."""
        raise NotImplementedError

    async def list_problems(self) -> tuple[str, ...]:
        """Return what is wrong in models.txt, one sentence a line of it; the rest of the file works."""
        raise NotImplementedError

    # -- use

    async def choose(self, role: ModelRole, model_id: str, *, context_tokens: int | None = None) -> None:
        """Use a model for a role from now on; `context_tokens` takes a smaller context (from `Fit`).

        "" chooses the default (memory: the chat's model; embedding: the built-in one). A running answer is stopped and
        kept; conversations stay. Returns when the choice is stored; loading goes on, see `Engine.model_status`.
        Raises `ModelFileError` if it cannot be used, saying why; then nothing was changed.
        """
        raise NotImplementedError

    # -- files

    async def load_import_way(self) -> ImportWay | None:
        """Return how imports are made; None until the user was asked once."""
        raise NotImplementedError

    async def inspect(self, path: Path) -> ModelCard:
        """Return what a file elsewhere is, before it is imported; raise `ModelFileError` if it is no usable model."""
        raise NotImplementedError

    async def import_file(self, path: Path, way: ImportWay | None = None) -> ModelCard:
        """Take a file into the list; `way` is remembered, None takes the one remembered (else a reference).

        A link that the disk refuses becomes a reference. Importing a file twice returns the same card.
        Raises `ModelFileError`; then nothing was changed.
        """
        raise NotImplementedError

    async def find_files(self) -> tuple[FoundFile, ...]:
        """Return what other programs on this machine hold and the list does not; reads folders and headers only."""
        raise NotImplementedError

    async def forget(self, model_id: str) -> str:
        """Take a model out of the list; returns what was done, in words. `restore` undoes it.

        A file in the folder of models moves to the trash there; a file elsewhere is never touched. Raises
        `ModelFileError` for a built-in one. Roles that used it go back to their default.
        """
        raise NotImplementedError

    async def restore(self, model_id: str) -> ModelCard:
        """Undo `forget`; raises `NotFoundError` if the trash no longer holds it."""
        raise NotImplementedError

    async def empty_trash(self) -> int:
        """Delete removed models for good; returns the bytes that are free now."""
        raise NotImplementedError

    # -- downloads

    async def download(self, offer_id: str, *, progress: Progress, stop: asyncio.Event) -> ModelCard | None:
        """Fetch a model of the catalogue; None if `stop` was set (what came is kept: calling again goes on).

        `progress` is called on the loop, a few times a second. Raises `DownloadError` saying what happened, what was
        kept and what to do. A file is used only when its size and sha256 are right.
        """
        raise NotImplementedError

    async def discard_download(self, offer_id: str) -> None:
        """Throw away what came of a download that was stopped."""
        raise NotImplementedError

    # -- exam

    async def examine(
        self, model_id: str, *, progress: Callable[[str], None], stop: asyncio.Event
    ) -> ExamResult | None:
        """Let a chat model take the memory exam (about a minute); None if `stop` was set. Raises `ModelError`."""
        raise NotImplementedError

    # -- how a conversation asks

    def list_presets(self) -> tuple[Preset, ...]:
        """Return the presets that ship with the program."""
        raise NotImplementedError

    async def load_settings(self, session_id: SessionId) -> ConversationSettings:
        """Return how a conversation asks; the defaults where it changes nothing."""
        raise NotImplementedError

    async def save_settings(self, session_id: SessionId, settings: ConversationSettings | None) -> bool:
        """Change how a conversation asks, from its next message on; None goes back to the defaults.

        Returns whether the system prompt changed, so that the model must read the conversation again.
        """
        raise NotImplementedError

    async def apply_preset(self, session_id: SessionId, preset_id: str) -> ConversationSettings:
        """Take a preset's values for a conversation; return them as `load_settings` would."""
        raise NotImplementedError
