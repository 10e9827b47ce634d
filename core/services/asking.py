"""How a conversation asks the model: sampling, what the user tells it, presets."""

from core.changes import Changes
from core.errors import NotFoundError
from core.model import SessionId
from core.model_files import ConversationSettings, Preset, Sampling
from core.services.ground import Ground
from core.sessions.presets import check_sampling, default_sampling, load_presets
from core.storage import conversation_settings, conversations, prompts
from core.storage.database import Connection
from core.text.cleaning import clean_text

MAX_PROMPT_CHARS = 20_000


class AskingService:
    """Reads and changes the settings of single conversations; they hold from the next message on."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._presets: tuple[Preset, ...] | None = None

    def list_presets(self) -> tuple[Preset, ...]:
        """Return the presets that ship with the program: a few small files, read once."""
        if self._presets is None:
            self._presets = load_presets(self._ground.resources)
        return self._presets

    async def load(self, session_id: SessionId) -> ConversationSettings:
        """Return how a conversation asks; the defaults where it changes nothing."""
        return await self._ground.database.read(lambda c: self._read(c, session_id))

    async def save(self, session_id: SessionId, settings: ConversationSettings | None) -> bool:
        """Change how a conversation asks, from its next message on; None goes back to the defaults.

        Returns whether what the model is told changed, so that it must read the conversation again. Raises
        `SettingsError` naming a value that is out of its limits.
        """
        wanted = settings or ConversationSettings(sampling=self._default)
        check_sampling(wanted.sampling)
        text = clean_instructions(wanted.system_prompt)

        def write(c: Connection) -> bool:
            before = self._read(c, session_id)
            if wanted.sampling == self._default and not wanted.preset:
                conversation_settings.drop(c, session_id)
            else:
                conversation_settings.put(c, session_id, wanted.preset, wanted.sampling)
            if text != before.system_prompt:
                prompts.put_instructions(c, session_id, text)
            return text != before.system_prompt

        changed = await self._ground.database.write(write)
        self._ground.publish(Changes(prompts=frozenset({session_id})))
        return changed

    async def apply_preset(self, session_id: SessionId, preset_id: str) -> ConversationSettings:
        """Take a preset's values for a conversation, in its language; return them as `load` would."""
        preset = next((each for each in self.list_presets() if each.id == preset_id), None)
        if preset is None:
            raise NotFoundError("This preset is not there any more.")
        language = await self._ground.database.read(lambda c: conversations.load_language(c, session_id))
        await self.save(
            session_id,
            ConversationSettings(
                sampling=preset.sampling, system_prompt=preset.system_prompt(language or "en"), preset=preset.id
            ),
        )
        return await self.load(session_id)

    @property
    def _default(self) -> Sampling:
        return default_sampling(self._ground.settings.models)

    def _read(self, c: Connection, session_id: SessionId) -> ConversationSettings:
        kept = conversation_settings.load(c, session_id)
        preset, sampling = kept or ("", self._default)
        return ConversationSettings(
            sampling=sampling, system_prompt=prompts.load_instructions(c, session_id), preset=preset
        )


def clean_instructions(text: str) -> str:
    """Return what the user tells the model for a conversation as it is kept, "" for nothing."""
    return clean_text(text)[:MAX_PROMPT_CHARS].strip() if text.strip() else ""
