"""Downloads beside the loop: each in a thread with a loop of its own, stopped and waited for from here.

Relies on `core.catalogue.download`, which is imported when the first download starts.
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from core.catalogue.models import ModelEntry, is_loopback
from core.errors import DownloadError
from core.model_files import DownloadProgress

Progress = Callable[[DownloadProgress], None]

MOST_AT_ONCE = 3


class Downloads:
    """The downloads of a process, one at a time for each file."""

    def __init__(self, folder: Path, *, find_proxy: Callable[[str], str | None]) -> None:
        self._folder, self._find_proxy = folder, find_proxy
        self._running: dict[str, asyncio.Event] = {}
        self._threads: set[asyncio.Future[Path | None]] = set()
        self._pool: ThreadPoolExecutor | None = None

    def is_running(self, entry: ModelEntry) -> bool:
        """Whether the file is on its way."""
        return entry.file in self._running

    async def fetch(self, entry: ModelEntry, *, progress: Progress, stop: asyncio.Event) -> Path | None:
        """Return the whole file; None if `stop` was set first. Raises `DownloadError`."""
        if entry.file in self._running:
            raise DownloadError(f"{entry.name} is being downloaded already.")
        self._running[entry.file] = stop
        loop = asyncio.get_running_loop()
        thread = _DownloadThread(
            entry, self._folder, proxy=self._find_proxy(entry.source), progress=progress, caller=loop
        )
        if self._pool is None:
            self._pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="download")
        work = loop.run_in_executor(self._pool, thread.run)
        self._threads.add(work)
        stopping = loop.create_task(_stop_when(stop, thread))
        try:
            return await work
        finally:
            thread.stop()
            stopping.cancel()
            self._threads.discard(work)
            del self._running[entry.file]

    async def aclose(self) -> None:
        """Stop all; what came is kept."""
        for stop in self._running.values():
            stop.set()
        if self._threads:
            await asyncio.wait(self._threads)
        if self._pool is not None:
            self._pool.shutdown(wait=False)


class _DownloadThread:
    """One download on a thread. `stop` may be called from any thread, before, during and after."""

    def __init__(
        self,
        entry: ModelEntry,
        folder: Path,
        *,
        proxy: str | None,
        progress: Progress,
        caller: asyncio.AbstractEventLoop,
    ) -> None:
        self._entry, self._folder, self._proxy = entry, folder, proxy
        self._progress, self._caller = progress, caller
        self._stopped = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Path] | None = None

    def run(self) -> Path | None:
        """Download; None if it was stopped."""
        return asyncio.run(self._run())

    def stop(self) -> None:
        """End the download as soon as it waits for anything."""
        self._stopped = True
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not task.done():
            try:
                loop.call_soon_threadsafe(task.cancel)
            except RuntimeError:
                return  # it has just ended

    async def _run(self) -> Path | None:
        from core.catalogue.download import Download  # httpx comes with it

        download = Download(self._entry, self._folder, on_progress=self._tell, proxy=self._proxy)
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(download.run())
        if self._stopped:
            self._task.cancel()
        try:
            return await self._task
        except asyncio.CancelledError:
            if self._stopped:
                return None
            raise

    def _tell(self, progress: DownloadProgress) -> None:
        try:
            self._caller.call_soon_threadsafe(self._progress, progress)
        except RuntimeError:
            self._stopped = True  # the program has closed its loop


async def _stop_when(stop: asyncio.Event, thread: _DownloadThread) -> None:
    await stop.wait()
    thread.stop()


def choose_proxy(url: str, setting: str, environment: Mapping[str, str], system: Mapping[str, str]) -> str | None:
    """Return the proxy for an address: the setting's, else the environment's, else the system's; None for none.

    `setting` is "none" for a direct connection. NO_PROXY is kept to; this machine is never asked by way of a proxy.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if setting.lower() == "none" or is_loopback(host):
        return None
    if setting:
        return setting
    variables = {name.lower(): value.strip() for name, value in environment.items() if value.strip()}
    if _is_excepted(host, variables.get("no_proxy", "")):
        return None
    found = variables.get(f"{parts.scheme}_proxy") or variables.get("all_proxy") or system.get(parts.scheme)
    return (found if "://" in found else f"http://{found}") if found else None


def _is_excepted(host: str, names: str) -> bool:
    """Tell whether NO_PROXY names a host: itself, a domain above it, or all."""
    for name in names.lower().replace(",", " ").split():
        bare = name.removeprefix("*").lstrip(".").partition(":")[0]
        if name == "*" or (bare and (host == bare or host.endswith(f".{bare}"))):
            return True
    return False


def read_system_proxies(platform: str) -> Mapping[str, str]:
    """Return the proxies set in Windows or macOS by scheme; nothing elsewhere, where the environment says it."""
    if platform not in {"win32", "darwin"}:
        return {}
    import urllib.request  # slow to import, and needed before a download only

    return urllib.request.getproxies()
