"""keepsake-jobs: the engine without a window, for the terminal and for cron."""

import asyncio
import signal
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from core import report
from core.commands import commits, config, exam, goals, models, tree, work
from core.commands.terminal import EXIT_STOPPED, DataDir, catch_signals, console, open_engine, run
from core.engine import Engine
from core.model import ReplayProgress, ReplayStage
from core.paths import find_resources
from core.wording import count

cli = typer.Typer(
    add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help="Keepsake without a window."
)


@cli.command()
def replay(
    files: Annotated[list[Path], typer.Argument(help="Transcripts: one JSON object a line.")],
    data_dir: DataDir = None,
    embeddings: Annotated[bool, typer.Option(help="Compute vectors (slower).")] = True,
    show: Annotated[bool, typer.Option(help="Print what memory holds afterwards.")] = False,
) -> None:
    """Feed transcripts through the same path as the chat; Ctrl+C stops, running again goes on."""
    run(_replay(files, data_dir, embeddings=embeddings, show=show))


@cli.command()
def demo() -> None:
    """Replay a sample conversation into a temporary folder and print what memory makes of it."""
    sample = find_resources() / "demo" / "conversation.jsonl"
    with tempfile.TemporaryDirectory(prefix="keepsake-demo-") as folder:
        run(_replay([sample], Path(folder), embeddings=True, show=True))


@cli.command()
def show(data_dir: DataDir = None) -> None:
    """Print Working Memory, segments and MEMORY.md of every conversation."""
    run(_show(data_dir))


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


async def _replay(files: list[Path], data_dir: Path | None, *, embeddings: bool, show: bool) -> int:
    stop = catch_signals(signal.SIGINT)
    async with open_engine(data_dir, embeddings=embeddings) as engine:
        for file in files:
            result = await _replay_file(engine, file, stop)
            _say(file, result, stopped=stop.is_set())
            if stop.is_set():
                break
        for problem in engine.status.problems:
            console.print(problem, style="yellow", markup=False)
        if stop.is_set():
            return EXIT_STOPPED
        with console.status("Finishing segments …"):
            await engine.wait_idle()
        if show and not stop.is_set():
            await report.print_memory(engine, console)
    return 0


async def _replay_file(engine: Engine, file: Path, stop: asyncio.Event) -> ReplayProgress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[unit]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task(file.name, total=None, unit="turns")

        def advance(state: ReplayProgress) -> None:
            unit = "turn" if state.total_turns == 1 else "turns"
            bar.update(task, total=state.total_turns, completed=state.done_turns, unit=unit)
            if state.stage is ReplayStage.FILES:
                left = f" ({state.jobs_left} left)" if state.jobs_left else ""
                bar.update(task, description=f"{file.name}: writing files{left} …")
            elif state.stage is ReplayStage.DONE:
                bar.update(task, description=file.name)

        return await engine.replay(file, progress=advance, stop=stop)


def _say(file: Path, result: ReplayProgress, *, stopped: bool) -> None:
    added = result.done_turns - result.skipped_turns
    be = "was" if result.skipped_turns == 1 else "were"
    known = f", {result.skipped_turns:,} {be} there already" if result.skipped_turns else ""
    console.print(f"{file.name}: {count(added, 'turn')} added{known}.", markup=False, highlight=False)
    for number, reason in result.bad_lines:
        console.print(f"{file.name}, line {number} was left out: {reason}.", style="yellow", markup=False)
    if stopped:
        turns = count(result.total_turns, "turn")
        text = f"Stopped after {result.done_turns:,} of {turns}; run the same command to go on."
        console.print(text, style="yellow", markup=False)


async def _show(data_dir: Path | None) -> int:
    async with open_engine(data_dir) as engine:
        await report.print_memory(engine, console)
    return 0
