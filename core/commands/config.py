"""keepsake-jobs config: every setting with its value and source; set and unset write settings.toml."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from core.commands.terminal import EXIT_ERROR, DataDir, console
from core.config import load_settings
from core.errors import SettingsError
from core.paths import find_data_folder
from core.settings_view import SettingItem, Source, change_setting, list_settings, reset_setting

Json = Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")]
Key = Annotated[str, typer.Argument(metavar="SECTION.NAME", help="As `config` lists it: learning.recap_enabled.")]
Word = Annotated[str, typer.Argument(metavar="VALUE", help="A number, a text, or on and off.")]

config = typer.Typer(invoke_without_command=True, help="Show every setting, its value and where that comes from.")


def add_to(cli: typer.Typer) -> None:
    """Add the commands of this area."""
    cli.add_typer(config, name="config")


@config.callback()
def show(context: typer.Context, data_dir: DataDir = None, as_json: Json = False) -> None:
    """Show every setting, its value and where that comes from."""
    context.obj = data_dir
    if context.invoked_subcommand is None:
        file = _find_file(data_dir)
        _guard(lambda: _print(file, as_json=as_json))


@config.command("set")
def set_value(context: typer.Context, key: Key, value: Word, data_dir: DataDir = None) -> None:
    """Write one setting; a running app takes it up at once. Exit code 1 if it cannot be that."""
    file = _find_file(data_dir or context.obj)

    def work() -> None:
        change_setting(file, key, value)
        _say(next(item for item in list_settings(file, os.environ) if item.key == key))

    _guard(work)


@config.command()
def unset(context: typer.Context, key: Key, data_dir: DataDir = None) -> None:
    """Take one setting out of the file: its default holds again."""
    file = _find_file(data_dir or context.obj)

    def work() -> None:
        reset_setting(file, key)
        _say(next(item for item in list_settings(file, os.environ) if item.key == key))

    _guard(work)


def _find_file(data_dir: Path | None) -> Path:
    return find_data_folder(data_dir).settings


def _guard(work: Callable[[], None]) -> None:
    try:
        work()
    except SettingsError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(EXIT_ERROR) from error


def _print(file: Path, *, as_json: bool) -> None:
    items = list_settings(file, os.environ)
    warnings = load_settings(file, os.environ).warnings
    if as_json:
        told = {item.key: {"value": item.value, "default": item.default, "source": item.source} for item in items}
        print(json.dumps({"file": str(file), "settings": told, "warnings": warnings}, ensure_ascii=False))
        return
    table = Table("setting", "value", "comes from", box=None, pad_edge=False)
    for item in items:
        style = "" if item.source is Source.DEFAULT else "bold"
        table.add_row(item.key, _say_value(item), item.variable or str(item.source), style=style)
    console.print(table)
    for warning in warnings:
        console.print(warning, style="yellow", markup=False, highlight=False)


def _say(item: SettingItem) -> None:
    console.print(f"{item.key} = {_say_value(item)} ({item.variable or item.source})", markup=False, highlight=False)
    if item.variable:
        console.print(f"{item.variable} in the environment wins over the file.", style="yellow", markup=False)
    elif not item.holds_at_once:
        console.print("An open app takes it up at its next start.", style="dim")


def _say_value(item: SettingItem) -> str:
    match item.value:
        case bool():
            return "on" if item.value else "off"
        case None:
            return "automatic"
        case "":
            return "not set"
        case _:
            return str(item.value)
