"""Fetches one model file over HTTP: goes on where an earlier try ended, and trusts nothing that it gets.

What came is kept as FILE.part beside FILE.part.json, which says of which version of the file it is a part. A server
that goes on elsewhere, starts anew, stalls or breaks off is met by another try; a whole file gets its name only when
size and sha256 are those of the catalogue. Nothing here runs unless it is called: the one network access of the
program. Relies on httpx, and on an asyncio loop of its own (it writes to the disk between two packets).
"""

import asyncio
import errno
import hashlib
import json
import os
import shutil
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import certifi
import httpx

from core.catalogue.addresses import follow
from core.catalogue.fit import write_bytes
from core.catalogue.models import ModelEntry
from core.errors import DownloadError
from core.model_files import DownloadProgress, DownloadStep

PART, NOTES = ".part", ".part.json"
REPORT_S = 0.2
BLOCK_BYTES = 1 << 20
SPARE_BYTES = 64 << 20  # that must stay free on the disk
SPACE_EVERY_BYTES = 64 << 20
MAX_REDIRECTS = 5
LONGEST_WAIT_S = 60.0
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait, and how often to try."""

    connect_s: float = 15.0
    stall_s: float = 30.0  # without a byte
    tries: int = 6  # in a row that brought nothing
    first_wait_s: float = 1.0  # before the second try; doubles each time


class _RetryError(Exception):
    """This try brought no end; `reason` ends a sentence."""

    def __init__(self, reason: str, *, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason, self.wait_s = reason, wait_s


class Download:
    """One file on its way. `run` may be cancelled at any time and be called again, also by another process later."""

    def __init__(
        self,
        entry: ModelEntry,
        folder: Path,
        *,
        on_progress: Callable[[DownloadProgress], None],
        proxy: str | None = None,
        patience: Patience = Patience(),
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        """`proxy` is an http or https address, None for a direct connection."""
        self._entry, self._proxy, self._patience, self._free = entry, proxy, patience, free_bytes
        self.target = folder / entry.file
        self._part, self._notes = folder / (entry.file + PART), folder / (entry.file + NOTES)
        self._on_progress = on_progress
        self._step, self._sentence = DownloadStep.CONNECTING, ""
        self._done = 0
        self._rate: float | None = None
        self._reported = (0.0, 0)  # when, and how much there was then

    async def run(self) -> Path:
        """Return the whole file; raise `DownloadError` in words."""
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            return await self._run()
        except OSError as error:
            raise self._explain_disk(error) from error

    async def _run(self) -> Path:
        await self._receive_all()
        self._check()
        os.replace(self._part, self.target)
        self._notes.unlink(missing_ok=True)
        self._report(DownloadStep.DONE, force=True)
        return self.target

    # ---- tries

    async def _receive_all(self) -> None:
        failed = 0
        async with self._make_client() as client:
            while True:
                self._done = self._find_kept()
                if self._done == self._entry.bytes:
                    return
                before = self._done
                self._check_space()
                try:
                    await self._receive(client)
                    return
                except _RetryError as error:
                    failed = failed + 1 if self._done <= before else 1
                    await self._wait(error, failed)

    def _make_client(self) -> httpx.AsyncClient:
        trust = ssl.create_default_context(cafile=certifi.where())
        trust.load_default_certs()  # what the system's owner added
        limits = self._patience
        try:
            return httpx.AsyncClient(
                verify=trust,
                trust_env=False,
                proxy=self._proxy,
                timeout=httpx.Timeout(limits.stall_s, connect=limits.connect_s),
                headers={"Accept-Encoding": "identity", "User-Agent": "Keepsake"},
            )
        except (ValueError, ImportError) as error:
            raise DownloadError(
                f"The download did not start: the proxy {self._proxy!r} cannot be used ({error}). Set models.proxy in "
                "settings.toml to an http:// address, or to none."
            ) from error

    async def _wait(self, error: _RetryError, failed: int) -> None:
        name, kept = self._entry.name, self._tell_kept()
        if failed >= self._patience.tries:
            raise DownloadError(
                f"{name} was not downloaded: {error.reason}, {failed} times in a row. {kept} Try later."
            )
        wait_s = error.wait_s if error.wait_s is not None else self._patience.first_wait_s * 2 ** (failed - 1)
        wait_s = min(wait_s, LONGEST_WAIT_S)
        self._sentence = f"{error.reason}; trying again in {max(1, round(wait_s))} s."
        self._report(DownloadStep.WAITING, force=True)
        await asyncio.sleep(wait_s)
        self._sentence = ""

    async def _receive(self, client: httpx.AsyncClient) -> None:
        """Receive from where the part ends up to the file's end."""
        self._report(DownloadStep.CONNECTING, force=True)
        url = self._entry.source
        try:
            for _ in range(MAX_REDIRECTS):
                async with client.stream("GET", url, headers=self._make_headers()) as response:
                    if response.is_redirect:
                        url = follow(url, response.headers.get("location", ""), self._entry)
                        continue
                    await self._take(response)
                    return
        except httpx.TimeoutException:
            raise _RetryError(f"{httpx.URL(url).host} sent nothing for a while") from None
        except httpx.ProxyError as error:
            raise _RetryError(f"the proxy refused ({error})") from error
        except httpx.ConnectError as error:
            raise _RetryError(f"{httpx.URL(url).host} cannot be reached ({error})") from error
        except httpx.TransportError as error:
            raise _RetryError(f"the connection to {httpx.URL(url).host} broke") from error
        raise self._refuse(f"{self._entry.host} sends from one address to the next without end")

    def _make_headers(self) -> dict[str, str]:
        if not self._done:
            return {}
        validator = self._read_notes().get("validator", "")
        return {"Range": f"bytes={self._done}-"} | ({"If-Range": validator} if validator else {})

    # ---- one answer

    async def _take(self, response: httpx.Response) -> None:
        self._check_status(response)
        start, total = self._read_extent(response)
        if total is not None and total != self._entry.bytes:
            page = " It is a web page, perhaps to log in." if "html" in response.headers.get("content-type", "") else ""
            raise self._refuse(
                f"{response.url.host} offers a file of {total:,} bytes where the list says {self._entry.bytes:,}.{page}"
            )
        if start != self._done:
            self._sentence = "The server cannot go on where the last try ended, so the download begins anew."
            self._done = start
        with self._part.open("r+b" if self._part.exists() else "wb") as file:
            file.truncate(start)
            file.seek(start)
            self._write_notes(response)
            fits = await self._write(response, file)
        if not fits:
            raise self._refuse(f"{response.url.host} sent more than the {self._entry.bytes:,} bytes of the file")
        if self._done < self._entry.bytes:
            raise _RetryError(f"{response.url.host} ended the file early")

    def _check_status(self, response: httpx.Response) -> None:
        status, host = response.status_code, response.url.host
        if status in {200, 206}:
            return
        if status == 416:  # our part is no part of what is there now
            self._throw_away()
            raise _RetryError(f"{host} has another file than before")
        if status in _TRY_AGAIN:
            raise _RetryError(f"{host} is busy or out of order (status {status})", wait_s=_read_wait(response))
        reasons = {
            401: "asks to log in; download the file with a browser, then import it",
            403: "does not allow it; download the file with a browser, then import it",
            404: "no longer has the file",
            407: "is behind a proxy that asks for a password; add it to models.proxy in settings.toml",
            410: "no longer has the file",
            451: "may not offer the file where you are",
        }
        raise self._refuse(f"{host} {reasons.get(status, f'answered with status {status}')}")

    def _read_extent(self, response: httpx.Response) -> tuple[int, int | None]:
        """Return where the answer's bytes begin in the file, and the size of the whole file if it is told."""
        if response.status_code == 206:
            unit, _, rest = response.headers.get("content-range", "").partition(" ")
            extent, _, whole = rest.partition("/")
            begin = extent.partition("-")[0]
            if unit != "bytes" or not begin.isdigit() or int(begin) > self._done:
                self._throw_away()
                raise _RetryError(f"{response.url.host} sent another part than was asked for")
            return int(begin), int(whole) if whole.isdigit() else None
        length = response.headers.get("content-length", "")
        return 0, int(length) if length.isdigit() else None

    async def _write(self, response: httpx.Response, file: BinaryIO) -> bool:
        """Write what comes; False as soon as it is more than the file has."""
        next_check = self._done + SPACE_EVERY_BYTES
        try:
            async for block in response.aiter_raw():
                if self._done + len(block) > self._entry.bytes:
                    raise self._refuse(
                        f"{response.url.host} sent more than the {self._entry.bytes:,} bytes of the file"
                    )
                file.write(block)
                self._done += len(block)
                self._report(DownloadStep.RECEIVING)
                if self._done >= next_check:
                    next_check = self._done + SPACE_EVERY_BYTES
                    self._check_space()
            return True
        finally:
            file.flush()
            os.fsync(file.fileno())

    # ---- what is there

    def _find_kept(self) -> int:
        """Return the size of the part that can be gone on with."""
        size = self._part.stat().st_size if self._part.exists() else 0
        if size and (self._read_notes().get("sha256") != self._entry.sha256 or size > self._entry.bytes):
            self._throw_away()
            return 0
        return size

    def _read_notes(self) -> dict[str, str]:
        try:
            notes = json.loads(self._notes.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return {str(k): str(v) for k, v in notes.items()} if isinstance(notes, dict) else {}

    def _write_notes(self, response: httpx.Response) -> None:
        """Note which version of the file this is: its strong ETag, else its date."""
        tag = response.headers.get("etag", "")
        validator = tag if tag and not tag.startswith("W/") else response.headers.get("last-modified", "")
        notes = {"sha256": self._entry.sha256, "source": self._entry.source, "validator": validator}
        self._notes.write_text(json.dumps(notes), "utf-8")

    def _throw_away(self) -> None:
        discard(self.target)
        self._done = 0

    def _check(self) -> None:
        """Hold the whole file against the catalogue."""
        digest, self._done = hashlib.sha256(), 0
        with self._part.open("rb") as file:
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
                self._done += len(block)
                self._report(DownloadStep.CHECKING)
        if self._done != self._entry.bytes or digest.hexdigest() != self._entry.sha256:
            self._throw_away()
            raise DownloadError(
                f"{self._entry.name} was downloaded, but it is not the file that the list describes (its sha256 "
                "differs), so it was thrown away and nothing else was changed. Try again; if it happens again, the "
                "list or the server is wrong."
            )

    def _check_space(self) -> None:
        needed = self._entry.bytes - self._done + SPARE_BYTES
        free = self._free(self.target.parent)
        if free < needed:
            raise DownloadError(
                f"There is not enough room for {self._entry.name}: {write_bytes(needed)} more are needed in "
                f"{self.target.parent}, and {write_bytes(free)} are free. {self._tell_kept()} Make room, then go on."
            )

    # ---- words

    def _refuse(self, reason: str) -> DownloadError:
        self._throw_away()
        return DownloadError(f"{self._entry.name} was not downloaded: {reason}. Nothing was kept or changed.")

    def _tell_kept(self) -> str:
        if not self._done:
            return "Nothing was changed."
        return f"The {write_bytes(self._done)} that came are kept; the next try goes on from there."

    def _explain_disk(self, error: OSError) -> DownloadError:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return DownloadError(
                f"The disk is full, so {self._entry.name} was not downloaded to its end. {self._tell_kept()} Make room "
                f"in {self.target.parent}, then go on."
            )
        return DownloadError(
            f"{self._entry.name} cannot be written to {self.target.parent} ({error.strerror or error}). "
            f"{self._tell_kept()}"
        )

    def _report(self, step: DownloadStep, *, force: bool = False) -> None:
        now_s = time.monotonic()
        at_s, had = self._reported
        if not force and step is self._step and now_s - at_s < REPORT_S:
            return
        if step is DownloadStep.RECEIVING and step is self._step and now_s > at_s:
            rate = max(0, self._done - had) / (now_s - at_s)
            self._rate = rate if self._rate is None else 0.8 * self._rate + 0.2 * rate
        self._step, self._reported = step, (now_s, self._done)
        self._on_progress(
            DownloadProgress(
                id=self._entry.id,
                step=step,
                done_bytes=self._done,
                total_bytes=self._entry.bytes,
                bytes_per_s=self._rate if step is DownloadStep.RECEIVING else None,
                sentence=self._sentence,
            )
        )


def discard(target: Path) -> None:
    """Throw away what earlier tries left of a file."""
    for suffix in (PART, NOTES):
        target.with_name(target.name + suffix).unlink(missing_ok=True)


def _read_wait(response: httpx.Response) -> float | None:
    """Return the seconds that the server asks to wait, if it says so in seconds."""
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdigit() else None
