"""keepsake-jobs commits: archives whose commit was given up, and their retry."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from core.commands.terminal import EXIT_ERROR, DataDir, console, open_engine, run
from core.model import FailedArchive
from core.wording import count

Retry = Annotated[bool, typer.Option("--retry", help="Try all of them again.")]


def add_to(cli: typer.Typer) -> None:
    """Add the commands of this area."""
    cli.command()(commits)


def commits(data_dir: DataDir = None, retry: Retry = False) -> None:
    """List commits that were given up; exit code 1 while there are any."""
    run(_commits(data_dir, retry=retry))


async def _commits(data_dir: Path | None, *, retry: bool) -> int:
    async with open_engine(data_dir) as engine:
        if retry:
            tried = await engine.commits.retry_all()
            await engine.wait_idle()
            left = await engine.commits.list_failed()
            console.print(f"{tried - len(left)} of {tried} finished." if tried else "There was nothing to try again.")
        failed = await engine.commits.list_failed()
        titles = {each.id: each.title for each in await engine.list_conversations()} if failed else {}
        for archive in failed:
            _print(archive, titles.get(archive.session_id, "") or archive.session_id)
        if not failed and not retry:
            console.print("Every commit is finished.")
    return EXIT_ERROR if failed else 0


def _print(archive: FailedArchive, title: str) -> None:
    when = f"{datetime.fromtimestamp(archive.archived_at):%Y-%m-%d %H:%M}"
    where = "" if archive.in_memory else ", not in Working Memory yet: the model sees its messages as they are"
    console.print(f"{title}: archive {archive.number} of {when}{where}", markup=False, highlight=False)
    for stage in archive.stages:
        console.print(
            f"  {stage.stage}, tried {count(stage.attempts, 'time')}: {stage.error}",
            style="yellow",
            markup=False,
            highlight=False,
        )
