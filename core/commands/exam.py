"""keepsake-jobs exam: what the chat model is good for when memory is updated."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from core.commands.terminal import DataDir, console, open_engine, run
from core.model import ExamResult

Again = Annotated[bool, typer.Option("--again", help="Take the exam even if its result is known.")]


def add_to(cli: typer.Typer) -> None:
    """Add the command of this area."""
    cli.command()(exam)


def exam(data_dir: DataDir = None, again: Again = False) -> None:
    """Test on built-in conversations whether the chat model may help to keep memory (about a minute)."""
    run(_exam(data_dir, again=again))


async def _exam(data_dir: Path | None, *, again: bool) -> int:
    async with open_engine(data_dir) as engine:
        result = None if again else await engine.exams.load()
        if result is None:
            engine.start_model()
            with console.status("The model takes its exam …") as status:
                result = await engine.exams.take(lambda step: status.update(f"The model takes its exam: {step} …"))
                await asyncio.sleep(0)
    _print(result)
    return 0


def _print(result: ExamResult) -> None:
    console.print(f"{result.model}: {result.sentence}", markup=False, highlight=False)
    rows = (
        ("speed, tokens/s", result.tokens_per_s, "{:.1f}"),
        ("valid calls", result.valid_calls, "{:.0%}"),
        ("supported lines", result.supported_items, "{:.0%}"),
        ("worth keeping, written", result.written_recall, "{:.0%}"),
        ("settled issues right", result.resolved_accuracy, "{:.0%}"),
        ("  without the model", result.resolved_accuracy_alone, "{:.0%}"),
        ("newer of two right", result.newer_accuracy, "{:.0%}"),
        ("sentences kept, F1", result.kept_f1, "{:.2f}"),
        ("  by rank, no model", result.kept_f1_ranked, "{:.2f}"),
        ("  heuristics alone", result.kept_f1_alone, "{:.2f}"),
        ("  precision", result.kept_precision, "{:.2f}"),
        ("  recall", result.kept_recall, "{:.2f}"),
        ("seconds", result.took_s, "{:.0f}"),
    )
    for name, value, form in rows:
        console.print(f"  {name:24} {'-' if value is None else form.format(value)}", markup=False, highlight=False)
    if result.useful:
        console.print(f"  asked in updates: {', '.join(result.useful)}", markup=False, highlight=False)
