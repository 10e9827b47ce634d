"""A server of another program in the place of the model host: looked at, taken, left. Off until the user takes one.

What is chosen are keys of section `models` in settings.toml: `server_address`, `server_model`, `server_allowed_host`.
"""

import hashlib
from collections.abc import Awaitable, Callable

from core.changes import Changes
from core.llm.openai_server import OpenAiServer
from core.llm.server_wire import host_of, is_loopback, read_address
from core.model_files import ServedModel
from core.services.ground import Ground
from core.settings_file import save_setting


class ServersService:
    """Reads and changes which server answers, if any. `Changes(model=True)` is published after each change."""

    def __init__(self, ground: Ground, *, switch: Callable[[], Awaitable[None]]) -> None:
        """`switch` makes the chat's model slot look again which model it has to use."""
        self._ground = ground
        self._switch = switch

    @property
    def served(self) -> ServedModel | None:
        """The server that answers now, None if the program's own models do."""
        settings = self._ground.settings.models
        if not settings.server_address:
            return None
        return ServedModel(
            address=settings.server_address, model=settings.server_model, allowed_host=settings.server_allowed_host
        )

    @property
    def exam_key(self) -> str:
        """What the memory exam of the served model is kept by, "" if none is served: there is no file to hash."""
        served = self.served
        return hashlib.sha256(f"{served.address}\n{served.model}".encode()).hexdigest() if served else ""

    async def list_models(self, address: str, *, allowed_host: str = "") -> tuple[str, ...]:
        """Return what a server has. Asks the network: this computer, or the host that the user allowed.

        Raises `SettingsError` for a wrong address or a host that is not allowed, `ModelError` if nothing answers.
        """
        server = OpenAiServer(read_address(address, allowed_host))
        try:
            await server.start()
            return server.models
        finally:
            await server.aclose()

    def names_other_computer(self, address: str) -> str:
        """Return the host of an address if it is not this computer, else ""; for the question that names it."""
        host = host_of(address.strip())
        return "" if not host or is_loopback(host) else host

    async def use(self, address: str, model: str, *, allowed_host: str = "") -> None:
        """Let a server answer from now on; a running answer is stopped and kept.

        Raises as `list_models`, and `ModelError` if it lacks the model; then nothing was changed.
        """
        address = read_address(address, allowed_host)
        server = OpenAiServer(address, model)
        try:
            await server.start()
            model = server.status.name
        finally:
            await server.aclose()
        await self._store(address, model, allowed_host.strip())

    async def stop_using(self) -> None:
        """Let the program's own models answer again."""
        await self._store("", "", "")

    async def _store(self, address: str, model: str, allowed_host: str) -> None:
        settings = self._ground.settings.models
        settings.server_address, settings.server_model, settings.server_allowed_host = address, model, allowed_host
        keys = {"server_address": address, "server_model": model, "server_allowed_host": allowed_host}

        def write() -> None:
            for key, value in keys.items():
                save_setting(self._ground.folder.settings, "models", key, value)

        try:
            await self._ground.think(write)
        finally:
            await self._switch()
            self._ground.publish(Changes(model=True))
