"""keepsake-jobs: the engine without a window, for the terminal and for cron."""

import asyncio
import os
import signal
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from core import report
from core.commands import commits, config, exam, goals, models, tree, work
from core.config import load_settings
from core.engine import Engine
from core.errors import CoreError
from core.model import ReplayProgress, ReplayStage
from core.paths import DataFolder, find_data_folder, find_resources

EXIT_ERROR = 1
EXIT_STOPPED = 130  # what a shell reports for Ctrl+C

cli = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help="Keepsake without a window."
)
console = Console()
DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Data folder; the app's own if left out.")]


@cli.command()
def replay(
    files: Annotated[list[Path], typer.Argument(help="Transcripts: one JSON object a line.")],
    data_dir: DataDir = None,
    embeddings: Annotated[bool, typer.Option(help="Compute vectors (slower).")] = True,
    show: Annotated[bool, typer.Option(help="Print what memory holds afterwards.")] = False,
) -> None:
    """Feed transcripts through the same path as the chat; Ctrl+C stops, running again goes on."""
    _run(_replay(files, find_data_folder(data_dir), embeddings=embeddings, show=show))


@cli.command()
def demo() -> None:
    """Replay a sample conversation into a temporary folder and print what memory makes of it."""
    sample = find_resources() / "demo" / "conversation.jsonl"
    with tempfile.TemporaryDirectory(prefix="keepsake-demo-") as folder:
        _run(_replay([sample], DataFolder(Path(folder)), embeddings=True, show=True))


@cli.command()
def show(data_dir: DataDir = None) -> None:
    """Print Working Memory, segments and MEMORY.md of every conversation."""
    _run(_show(find_data_folder(data_dir)))


commits.add_to(cli)
exam.add_to(cli)
goals.add_to(cli)
models.add_to(cli)
tree.add_to(cli)
config.add_to(cli)
work.add_to(cli)


def main() -> None:
    """Run the command line."""
    cli()


def _run(job: Coroutine[object, object, int]) -> None:
    """Run a command to its end; an expected failure is one sentence and exit code 1."""
    try:
        code = asyncio.run(job)
    except CoreError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(EXIT_ERROR) from error
    if code:
        raise typer.Exit(code)


async def _replay(files: list[Path], folder: DataFolder, *, embeddings: bool, show: bool) -> int:
    settings = load_settings(folder.settings, os.environ)
    if not embeddings:
        settings = settings.without_embeddings()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    engine = Engine(folder, settings, exclusive=False)
    code = 0
    try:
        await engine.open()
        for file in files:
            result = await _replay_file(engine, file, stop)
            _say(file, result, stopped=stop.is_set())
            if stop.is_set():
                code = EXIT_STOPPED
                break
        for problem in engine.status.problems:
            console.print(problem, style="yellow", markup=False)
        if not stop.is_set():
            with console.status("Finishing segments …"):
                await engine.wait_idle()
        if show and not stop.is_set():
            await report.print_memory(engine, console)
    finally:
        await engine.aclose()
    return code


async def _replay_file(engine: Engine, file: Path, stop: asyncio.Event) -> ReplayProgress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("turns"))
    with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(file.name, total=None)

        def advance(state: ReplayProgress) -> None:
            bar.update(task, total=state.total_turns, completed=state.done_turns)
            if state.stage is ReplayStage.FILES:
                left = f" ({state.jobs_left} left)" if state.jobs_left else ""
                bar.update(task, description=f"{file.name}: writing files{left} …")
            elif state.stage is ReplayStage.DONE:
                bar.update(task, description=file.name)

        return await engine.replay(file, progress=advance, stop=stop)


def _say(file: Path, result: ReplayProgress, *, stopped: bool) -> None:
    added = result.done_turns - result.skipped_turns
    known = f", {result.skipped_turns} were there already" if result.skipped_turns else ""
    console.print(f"{file.name}: {added} turns added{known}.", markup=False, highlight=False)
    for number, reason in result.bad_lines:
        console.print(f"{file.name}, line {number} was left out: {reason}.", style="yellow", markup=False)
    if stopped:
        text = f"Stopped after {result.done_turns} of {result.total_turns} turns; run the same command to go on."
        console.print(text, style="yellow", markup=False)


async def _show(folder: DataFolder) -> int:
    engine = Engine(folder, load_settings(folder.settings, os.environ), exclusive=False)
    try:
        await engine.open()
        await report.print_memory(engine, console)
    finally:
        await engine.aclose()
    return 0
