"""Background work and settings as a test wants them."""

from pathlib import Path

from core.activity import Activity
from core.errors import SettingsError
from core.settings_view import AT_START, SettingItem, list_settings


class ScriptedActivity:
    """`shown` is what the store holds; retries are noted."""

    def __init__(self) -> None:
        self.shown = Activity()
        self.retried: list[int] = []
        self.retried_all = 0
        self.loads = 0

    async def load(self) -> Activity:
        self.loads += 1
        return self.shown

    async def retry(self, job_id: int) -> bool:
        self.retried.append(job_id)
        return any(job.id == job_id for job in (*self.shown.failed, *self.shown.waiting))

    async def retry_all(self) -> int:
        self.retried_all += 1
        return len(self.shown.failed)


class ScriptedSettings:
    """The defaults, and what was changed; `refuse` is what the next change fails with."""

    def __init__(self) -> None:
        self.environment: dict[str, str] = {}
        self.changed: list[tuple[str, str]] = []
        self.refuse = ""

    async def load(self) -> tuple[SettingItem, ...]:
        return list_settings(Path("no such file"), self.environment)

    async def set(self, key: str, text: str) -> str:
        if self.refuse:
            raise SettingsError(self.refuse)
        self.changed.append((key, text))
        return "It takes effect the next time Keepsake starts." if key in AT_START else ""
