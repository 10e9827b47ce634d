"""keepsake-jobs models: what is here, elsewhere and on offer; choosing, adding, downloading."""

import signal
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from core.commands.terminal import EXIT_STOPPED, DataDir, catch_signals, console, open_engine, run
from core.model_files import DownloadProgress, ImportWay, ModelCard, ModelRole

Role = Annotated[ModelRole, typer.Argument(help="chat, memory or embedding")]
Model = Annotated[str, typer.Argument(help='The file\'s name or path as "models list" prints it; "" for the default.')]
Offer = Annotated[str, typer.Argument(help='The name in brackets that "models offers" prints.')]
Context = Annotated[int | None, typer.Option(help="A smaller context, in tokens.")]
Way = Annotated[ImportWay | None, typer.Option(help="How it comes in; remembered.")]

models = typer.Typer(no_args_is_help=True, help="The models that Keepsake can use.")


def add_to(cli: typer.Typer) -> None:
    """Add the commands of this area."""
    cli.add_typer(models, name="models")


@models.command("list")
def list_models(data_dir: DataDir = None) -> None:
    """Print the models in the list, who uses them and whether they fit."""
    run(_list(data_dir))


@models.command()
def found(data_dir: DataDir = None) -> None:
    """Print what other programs on this machine hold."""
    run(_found(data_dir))


@models.command()
def offers(data_dir: DataDir = None) -> None:
    """Print what can be downloaded; asks nothing of the network."""
    run(_offers(data_dir))


@models.command()
def use(role: Role, model: Model, context: Context = None, data_dir: DataDir = None) -> None:
    """Use a model for a role from the next start on."""
    run(_use(data_dir, role, model, context))


@models.command()
def add(file: Path, way: Way = None, data_dir: DataDir = None) -> None:
    """Take a model file into the list, by default without copying it."""
    run(_add(data_dir, file.expanduser().absolute(), way))


@models.command()
def download(offer: Offer, data_dir: DataDir = None) -> None:
    """Download a model; Ctrl+C stops, the same command goes on."""
    run(_download(data_dir, offer))


def _say(text: str, style: str | None = None) -> None:
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


async def _list(data_dir: Path | None) -> int:
    async with open_engine(data_dir) as engine:
        for card in await engine.models.list_models():
            _print_card(card)
    return 0


def _print_card(card: ModelCard) -> None:
    roles = f"  [{', '.join(role.value for role in card.roles)}]" if card.roles else ""
    _say(f"{card.id}{roles}", "bold")
    if card.problem:
        _say(f"  {card.problem}", "yellow")
        return
    parts = (card.name, card.quantisation, f"{card.size_bytes / 1e6:,.0f} MB", card.licence, card.origin.value)
    _say(f"  {' · '.join(part for part in parts if part)}")
    if card.fit is not None:
        _say(f"  {card.fit.sentence}")
    if card.exam is not None:
        _say(f"  {card.exam.sentence}")


async def _found(data_dir: Path | None) -> int:
    async with open_engine(data_dir) as engine:
        files = await engine.models.find_files()
    for each in files:
        _say(f"{each.program}: {each.name} ({each.size_bytes / 1e6:,.0f} MB)", "bold")
        _say(f"  {each.path}")
    if not files:
        _say("No other program holds models here.")
    return 0


async def _offers(data_dir: Path | None) -> int:
    async with open_engine(data_dir) as engine:
        for offer in await engine.models.list_offers():
            _say(f"[{offer.id}] {offer.name}", "bold")
            _say(f"  {offer.size_bytes / 1e6:,.0f} MB from {offer.host} · {offer.licence}. {offer.fit.sentence}")
        for problem in await engine.models.list_problems():
            _say(problem, "yellow")
    return 0


async def _use(data_dir: Path | None, role: ModelRole, model: str, context: int | None) -> int:
    async with open_engine(data_dir) as engine:
        await engine.models.choose(role, model, context_tokens=context)
    return 0


async def _add(data_dir: Path | None, file: Path, way: ImportWay | None) -> int:
    async with open_engine(data_dir) as engine:
        _print_card(await engine.models.import_file(file, way))
    return 0


async def _download(data_dir: Path | None, offer: str) -> int:
    stop = catch_signals(signal.SIGINT)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    async with open_engine(data_dir) as engine:
        with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
            task = bar.add_task(offer, total=None)

            def advance(state: DownloadProgress) -> None:
                bar.update(task, total=state.total_bytes, completed=state.done_bytes, description=state.step.value)

            card = await engine.models.download(offer, progress=advance, stop=stop)
    if card is None:
        _say("Stopped; what came is kept. Run the same command to go on.", "yellow")
        return EXIT_STOPPED
    _print_card(card)
    return 0
