"""What the commands share: the console, the data folder's option, an engine for one command, signals, exit codes."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from core.config import load_settings
from core.engine import Engine
from core.errors import CoreError
from core.paths import find_data_folder

EXIT_ERROR = 1
EXIT_STOPPED = 130  # what a shell reports for Ctrl+C

console = Console()
DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Data folder; the app's own if left out.")]


def run(job: Coroutine[object, object, int]) -> None:
    """Run a command to its end; an expected failure is one sentence and exit code 1."""
    try:
        code = asyncio.run(job)
    except CoreError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(EXIT_ERROR) from error
    if code:
        raise typer.Exit(code)


@asynccontextmanager
async def open_engine(data_dir: Path | None, *, embeddings: bool = True) -> AsyncIterator[Engine]:
    """Open the engine beside an app that may be running; closed at the end, whatever happens."""
    folder = find_data_folder(data_dir)
    settings = load_settings(folder.settings, os.environ)
    engine = Engine(folder, settings if embeddings else settings.without_embeddings(), exclusive=False)
    try:
        await engine.open()
        yield engine
    finally:
        await engine.aclose()


def catch_signals(*numbers: signal.Signals) -> asyncio.Event:
    """Return an event that is set where one of the signals would have ended the command."""
    stop = asyncio.Event()
    with suppress(NotImplementedError):  # on Windows loops have no handlers: Ctrl+C ends the command at once
        for number in numbers:
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop
