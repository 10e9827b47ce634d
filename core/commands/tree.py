"""keepsake-jobs recap, seal and tree: what closed segments came to, and the memory tree over them."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.tree import Tree

from core.commands.terminal import DataDir, console, open_engine, run
from core.engine import Engine
from core.model import TreeItem, TreeView
from core.wording import count, say_turns

TEXT_CHARACTERS = 160  # of a summary on one line
EMPTY = "The memory tree is empty: what was said goes in when a segment closes."
NO_SUMMARIES = "There are no summaries yet: ten parts of the tree are summed up together."

By = Annotated[TreeView, typer.Option("--by", help="Conversation, month, year, or level: the summaries.")]
Leaves = Annotated[bool, typer.Option("--leaves/--no-leaves", help="Show every part, not only where it lies.")]


def add_to(cli: typer.Typer) -> None:
    """Add the commands of this area."""
    cli.command()(recap)
    cli.command()(seal)
    cli.command()(tree)


def recap(data_dir: DataDir = None) -> None:
    """Finish what closed, and try again every recap that is still a placeholder."""
    run(_recap(data_dir))


def seal(data_dir: DataDir = None) -> None:
    """Seal the memory tree's buffers that are due, and make again what lost a part."""
    run(_seal(data_dir))


def tree(data_dir: DataDir = None, by: By = TreeView.CONVERSATION, leaves: Leaves = True) -> None:
    """Print the memory tree."""
    run(_tree(data_dir, by, leaves=leaves))


async def _recap(data_dir: Path | None) -> int:
    async with open_engine(data_dir) as engine:
        await engine.segments.finish_closed()
        await engine.wait_idle()
        tried = await engine.segments.retry_recaps()
        await engine.wait_idle()
        left = await engine.segments.count_waiting()
        if tried == 0:
            console.print("Every closed segment has its recap.")
        else:
            waiting = f"; {left} {'waits' if left == 1 else 'wait'} for the next try" if left else ""
            console.print(f"{tried - left} of {count(tried, 'recap')} made{waiting}.")
        for reason in await engine.segments.list_causes():
            console.print(f"  {reason}", style="yellow", markup=False, highlight=False)
    return 0


async def _seal(data_dir: Path | None) -> int:
    async with open_engine(data_dir) as engine:
        before = await engine.tree.count_nodes()
        await engine.segments.finish_closed()
        await engine.wait_idle()
        await engine.tree.seal()
        made = await engine.tree.count_nodes() - before
        console.print(f"{count(made, 'summary', 'summaries')} sealed." if made else "No summary was due.")
    return 0


async def _tree(data_dir: Path | None, by: TreeView, *, leaves: bool) -> int:
    async with open_engine(data_dir) as engine:
        top = await engine.tree.load(by)
        if not top:
            console.print(NO_SUMMARIES if by is TreeView.LEVEL else EMPTY)
            return 0
        root = Tree("Memory tree")
        for item in top:
            await _grow(engine, root, item, leaves=leaves)
        console.print(root)
    return 0


async def _grow(engine: Engine, under: Tree, item: TreeItem, *, leaves: bool) -> None:
    branch = under.add(_describe(item))
    if not item.ref:
        return
    for child in await engine.tree.open(item.ref):
        if leaves or child.ref:
            await _grow(engine, branch, child, leaves=leaves)


def _describe(item: TreeItem) -> str:
    when = f"[dim]{datetime.fromtimestamp(item.started_at):%Y-%m-%d %H:%M}[/dim]"
    if not item.ref:
        return f"{when} {escape(item.title)} [dim]{say_turns(item.numbers)}[/dim]"
    head = f"[bold]{escape(item.title)}[/bold] [dim]{count(item.leaves, 'part')}[/dim]"
    if not item.text:
        return head
    text = " ".join(item.text.split())
    shown = text if len(text) <= TEXT_CHARACTERS else text[: TEXT_CHARACTERS - 1].rstrip() + "…"
    mark = " [yellow](placeholder)[/yellow]" if item.placeholder else ""
    return f"{when} {head}{mark}\n{escape(shown)}"
