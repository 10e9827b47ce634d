"""keepsake-jobs status, run and flush: the durable queue, worked beside an app that may be open, for cron.

Exit codes: 0 all is done, 1 an error, 2 wrong usage, 3 jobs were given up (`status` lists them, `run --retry` tries
them again), 4 the time was up and work is left, 130 stopped by Ctrl+C or SIGTERM.
"""

import asyncio
import json
import os
import signal
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from core.activity import Activity, QueuedJob
from core.catalogue.memory import read_free_bytes
from core.commands.terminal import EXIT_STOPPED, DataDir, catch_signals, console, open_engine, run
from core.engine import Engine
from core.model import ModelPhase
from core.services.activity import fits_memory
from core.wording import count

EXIT_GIVEN_UP = 3
EXIT_TIME_UP = 4
LOOK_EVERY_S = 1.0
MODEL_WITHIN_S = 120.0
FLUSH_WITHIN_S = 600.0
SHOWN_FAILURES = 20

Json = Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")]
For = Annotated[
    float | None, typer.Option("--for", min=0.0, metavar="SECONDS", help="Stay for so long and do what comes up.")
]
Once = Annotated[bool, typer.Option("--once", help="Do what is due now, then end: what `run` does by itself.")]
Retry = Annotated[bool, typer.Option("--retry", help="Try again first what failed, without waiting for its time.")]
Idle = Annotated[
    float, typer.Option("--idle", min=0.0, metavar="MINUTES", help="Only conversations that rested for so long.")
]


def add_to(cli: typer.Typer) -> None:
    """Add the commands of this area."""
    cli.command()(status)
    cli.command("run")(run_queue)
    cli.command()(flush)


def status(data_dir: DataDir = None, as_json: Json = False) -> None:
    """Say what runs, waits and failed, and when each step last got through; exit code 3 if jobs were given up."""
    run(_status(data_dir, as_json=as_json))


def run_queue(data_dir: DataDir = None, seconds: For = None, once: Once = False, retry: Retry = False) -> None:
    """Do the work that is due, beside the app if it is open.

    Exit codes: 0 all done, 1 error, 3 jobs were given up, 4 time was up with work left, 130 stopped.
    """
    if once and seconds is not None:
        raise typer.BadParameter("--once and --for exclude each other.")
    run(_work(data_dir, seconds=seconds, retry=retry))


def flush(data_dir: DataDir = None, idle: Idle = 0.0) -> None:
    """Close open segments, commit what they hold, and do the work that follows."""
    run(_flush(data_dir, rested_s=idle * 60))


async def _status(data_dir: Path | None, *, as_json: bool) -> int:
    async with open_engine(data_dir) as engine:
        activity = await engine.activity.load()
        if as_json:
            told = {"app_runs": engine.activity.app_runs, "left": activity.left, **asdict(activity)}
            print(json.dumps(told, ensure_ascii=False))
        else:
            _print_status(activity, app_runs=engine.activity.app_runs)
    return EXIT_GIVEN_UP if activity.given_up else 0


async def _work(data_dir: Path | None, *, seconds: float | None, retry: bool) -> int:
    stop = catch_signals(signal.SIGINT, signal.SIGTERM)
    async with open_engine(data_dir) as engine:
        note = await _prepare_model(engine)
        if note:
            console.print(note, style="yellow", markup=False, highlight=False)
        if retry:
            await engine.activity.retry_all()
        await engine.backroom.rescanner.look()
        newest = _newest(await engine.activity.load())
        until = asyncio.get_running_loop().time() + seconds if seconds is not None else None
        await _drain(engine, stop, until)
        return await _sum_up(engine, newest, stopped=stop.is_set(), timed=seconds is not None)


async def _flush(data_dir: Path | None, *, rested_s: float) -> int:
    stop = catch_signals(signal.SIGINT, signal.SIGTERM)
    async with open_engine(data_dir) as engine:
        newest = _newest(await engine.activity.load())
        await engine.backroom.worker.drain()  # turns that wait belong to the segments first
        closed = await engine.segments.close_open(within_s=FLUSH_WITHIN_S, rested_s=rested_s or None)
        console.print(f"{count(closed, 'segment')} closed." if closed else "There was nothing to close.")
        await _drain(engine, stop, None)
        return await _sum_up(engine, newest, stopped=stop.is_set(), timed=False)


async def _drain(engine: Engine, stop: asyncio.Event, until: float | None) -> None:
    """Do what is due; with a time, stay until then for what comes up. Ends after the step that runs."""
    loop = asyncio.get_running_loop()
    ends: list[asyncio.Task[object]] = [loop.create_task(_wait(stop))]
    if until is not None:
        ends.append(loop.create_task(_sleep(max(0.0, until - loop.time()))))
    work = loop.create_task(_keep_at_it(engine) if until is not None else engine.wait_idle())
    await asyncio.wait([work, *ends], return_when=asyncio.FIRST_COMPLETED)
    for task in (work, *ends):
        task.cancel()
    done = await asyncio.gather(work, *ends, return_exceptions=True)
    if isinstance(done[0], Exception):
        raise done[0]


async def _wait(event: asyncio.Event) -> object:
    return await event.wait()


async def _sleep(seconds: float) -> object:
    return await asyncio.sleep(seconds, result=True)


async def _keep_at_it(engine: Engine) -> None:
    while True:
        await engine.wait_idle()
        await asyncio.sleep(LOOK_EVERY_S)


async def _prepare_model(engine: Engine) -> str:
    """Load the model if it may be asked about memory and nobody has it; returns what to tell, "" for nothing."""
    model = await engine.exams.find_helper()
    if model is None:
        return ""
    if engine.activity.app_runs:
        engine.activity.leave_model_work()
        return "The app is open and holds the model: recaps and updates that ask it are left to the app."
    if not fits_memory(model.stat().st_size, read_free_bytes()):
        return f"{model.name} does not fit into the memory that is free now; the work is done without a model."
    settled = asyncio.Event()
    loading = (ModelPhase.STARTING, ModelPhase.LOADING)
    forget = engine.subscribe(lambda _: settled.set() if engine.model_status.phase not in loading else None)
    engine.start_model()
    try:
        async with asyncio.timeout(MODEL_WITHIN_S):
            await settled.wait()
    except TimeoutError:
        return f"{model.name} did not load in {MODEL_WITHIN_S:.0f} seconds; the work is done without a model."
    finally:
        forget()
    return engine.model_status.detail if engine.model_status.phase is ModelPhase.FAILED else ""


async def _sum_up(engine: Engine, newest: int, *, stopped: bool, timed: bool) -> int:
    """Say what was done by this process; return the exit code."""
    activity = await engine.activity.load()
    mine = f"pid {os.getpid()}"
    own = [each for each in activity.recent if each.id > newest and each.owner.endswith(mine)]
    done = sum(each.times for each in own if each.outcome == "done")
    console.print(f"{count(done, 'piece')} of work done; {activity.left:,} left.")
    for other in activity.running:
        console.print(f"  {other.kind}: in work by {other.owner}", style="dim", markup=False, highlight=False)
    _print_failures(activity.failed)
    for problem in engine.status.problems:
        console.print(problem, style="yellow", markup=False, highlight=False)
    if stopped:
        return EXIT_STOPPED
    if activity.given_up:
        return EXIT_GIVEN_UP
    return EXIT_TIME_UP if timed and activity.left else 0


def _newest(activity: Activity) -> int:
    return max((each.id for each in activity.recent), default=0)


def _print_status(activity: Activity, *, app_runs: bool) -> None:
    console.print("The app is open." if app_runs else "The app is not open.")
    if activity.counts:
        table = Table("job", "running", "waiting", "back-off", "given up", box=None, pad_edge=False)
        for each in activity.counts:
            counts = (each.running, each.waiting, each.back_off, each.failed)
            table.add_row(each.kind, *(str(n) if n else "-" for n in counts))
        console.print(table)
    else:
        console.print("Nothing waits in the queue.")
    for job in activity.running:
        console.print(f"running: {job.kind}, by {job.owner}", markup=False, highlight=False)
    _print_failures((*activity.failed, *(job for job in activity.waiting if job.error)))
    _print_health(activity)
    if activity.successes:
        table = Table("last success", "when", "by", box=None, pad_edge=False)
        for success in activity.successes:
            table.add_row(success.kind, _say_time(success.at), success.owner)
        console.print(table)


def _print_failures(jobs: tuple[QueuedJob, ...]) -> None:
    for job in jobs[:SHOWN_FAILURES]:
        again = f"next try {_say_time(job.due_at)}" if job.state == "back-off" else str(job.state)
        text = f"{job.kind}, tried {count(job.attempts, 'time')} ({again}): {job.error or 'no reason was noted'}"
        console.print(text, style="yellow", markup=False, highlight=False)
    if len(jobs) > SHOWN_FAILURES:
        console.print(f"and {len(jobs) - SHOWN_FAILURES:,} more", style="yellow")


def _print_health(activity: Activity) -> None:
    health = activity.health
    counts = (
        ("turns not in the index", health.turns_waiting),
        ("turns not remembered yet", health.turns_to_remember),
        ("Markdown twins missing", health.twins_missing),
        ("items without vectors", health.vectors_missing),
        ("jobs in back-off", health.jobs_in_back_off),
        ("refused writes of memory files", health.refused_writes),
        *((f"segments without recap: {cause}", number) for cause, number in health.recaps_missing),
        *((f"messages with a hidden {kind}", number) for kind, number in health.redactions),
    )
    for name, number in counts:
        if number:
            console.print(f"{name}: {number:,}", markup=False, highlight=False)


def _say_time(at: float) -> str:
    return f"{datetime.fromtimestamp(at):%Y-%m-%d %H:%M:%S}"
