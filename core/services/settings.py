"""Settings while the program runs: listed with their sources, changed one by one, taken up when the file changes.

A change is written to `settings.toml`, read back as a start would read it, and adopted by all parts at once.
"""

from collections.abc import Mapping
from os import stat_result

from core.changes import Changes
from core.config import load_settings
from core.errors import CoreError, SettingsError
from core.redaction import hide_contacts
from core.services.ground import Ground
from core.settings_view import AT_START, SettingItem, Value, change_setting, list_settings, reset_setting

AT_NEXT_START = "It takes effect the next time Keepsake starts."


class SettingsService:
    """What the Settings sheet offers."""

    def __init__(self, ground: Ground, environment: Mapping[str, str]) -> None:
        self._ground = ground
        self._environment = environment
        self._file = ground.folder.settings
        self._seen = _stamp(self._stat())
        self.problem = ""  # why the file on disk was not taken up

    async def load(self) -> tuple[SettingItem, ...]:
        """Return every setting; raise `SettingsError` if the file on disk cannot be read."""
        return await self._ground.think(lambda: list_settings(self._file, self._environment))

    async def set(self, key: str, text: str) -> str:
        """Change one setting, given as text; returns a note for the user, "" when it holds now.

        Raises `SettingsError` if the value or the file will not do; nothing was changed then.
        """
        value = await self._ground.think(lambda: change_setting(self._file, key, text))
        await self._adopt()
        return await self._note(key, value)

    async def reset(self, key: str) -> str:
        """Let the default of a setting hold; returns a note for the user as `set` does."""
        await self._ground.think(lambda: reset_setting(self._file, key))
        await self._adopt()
        return AT_NEXT_START if key in AT_START else ""

    async def look(self) -> None:
        """Take up what was changed in the file with another program; a wrong file changes nothing and is said."""
        stamp = _stamp(self._stat())
        if stamp == self._seen:
            return
        self._seen = stamp
        try:
            await self._adopt()
        except SettingsError as error:
            self.problem = f"{error} The settings in use stay as they were."
            self._ground.publish(Changes(status=True))

    async def _adopt(self) -> None:
        newer = await self._ground.think(lambda: load_settings(self._file, self._environment))
        self._ground.settings.adopt(newer)
        hide_contacts(newer.learning.redact_contacts)
        self._seen, self.problem = _stamp(self._stat()), ""
        self._ground.publish(Changes(settings=True, status=True))
        try:
            backroom = self._ground.backroom()
        except CoreError:  # not open yet: its start looks by itself
            return
        if await backroom.rescanner.look():
            backroom.worker.wake()

    async def _note(self, key: str, value: Value) -> str:
        item = next(item for item in await self.load() if item.key == key)
        if item.value != value:
            return f"{item.variable} in the environment wins over the file: the setting stays {item.value}."
        return "" if item.holds_at_once else AT_NEXT_START

    def _stat(self) -> stat_result | None:
        try:
            return self._file.stat()
        except OSError:
            return None


def _stamp(found: stat_result | None) -> tuple[int, int, int] | None:
    return None if found is None else (found.st_mtime_ns, found.st_size, found.st_ino)
