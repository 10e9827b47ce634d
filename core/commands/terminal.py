"""What the commands share: the console, the data folder's option, an engine for one command, exit codes."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from core.config import load_settings
from core.engine import Engine
from core.errors import CoreError
from core.paths import find_data_folder

EXIT_ERROR = 1

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
async def open_engine(data_dir: Path | None) -> AsyncIterator[Engine]:
    """Open the engine beside an app that may be running; closed at the end, whatever happens."""
    folder = find_data_folder(data_dir)
    engine = Engine(folder, load_settings(folder.settings, os.environ), exclusive=False)
    try:
        await engine.open()
        yield engine
    finally:
        await engine.aclose()
