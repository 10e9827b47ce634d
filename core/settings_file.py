"""Changes `settings.toml` on the user's behalf: one key at a time, everything else in the file stays as it is.

Relies on `core.config` for what a key may hold: a file that could not be read afterwards is not written.
"""

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from core.config import load_settings
from core.errors import SettingsError

_HEADING = re.compile(r"\s*\[(?P<name>[^\[\]]+)\]\s*(?:#.*)?$")


def drop_setting(file: Path, section: str, key: str) -> None:
    """Take one key out of the file; raise `SettingsError` if that cannot be done. The default holds again."""
    _rewrite(file, lambda text: drop_key(text, section, key))


def save_setting(file: Path, section: str, key: str, value: str | int | float | bool) -> None:
    """Write one key, making file and section where they lack; raise `SettingsError` if that cannot be done.

    The file on disk is whole at every moment: the new one is written beside it and takes its place.
    """
    _rewrite(file, lambda text: change_key(text, section, key, write_value(value)))


def _rewrite(file: Path, change: Callable[[str], str]) -> None:
    try:
        text = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} cannot be read ({error}). Nothing was changed.") from error
    changed = change(text)
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(changed, encoding="utf-8")
        load_settings(part, {})
        part.replace(file)
    except OSError as error:
        raise SettingsError(
            f"{file} cannot be written ({error.strerror or error}). The setting holds until Keepsake is closed."
        ) from error
    finally:
        part.unlink(missing_ok=True)


def change_key(text: str, section: str, key: str, value: str) -> str:
    """Return the TOML text with `key = value` in `section`; comments and all other lines stay."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if _read_heading(line) == section), None)
    if start is None:
        gap = [""] if lines and lines[-1].strip() else []
        return "\n".join([*lines, *gap, f"[{section}]", f"{key} = {value}"]) + "\n"
    end = next((i for i in range(start + 1, len(lines)) if _read_heading(lines[i])), len(lines))
    at = next((i for i in range(start + 1, end) if _holds_key(lines[i], key)), None)
    if at is None:
        lines.insert(start + 1, f"{key} = {value}")
    else:
        lines[at] = f"{key} = {value}{_find_comment(lines[at])}"
    return "\n".join(lines) + "\n"


def drop_key(text: str, section: str, key: str) -> str:
    """Return the TOML text without a section's key; comments and all other lines stay."""
    lines = text.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if _read_heading(line) == section), len(lines))
    end = next((i for i in range(start + 1, len(lines)) if _read_heading(lines[i])), len(lines))
    return "".join(line for i, line in enumerate(lines) if not (start < i < end and _holds_key(line, key)))


def write_value(value: str | int | float | bool) -> str:
    """Return a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    escaped = "".join(_escape(c) for c in value)
    return f'"{escaped}"'


def _escape(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    return f"\\u{ord(c):04x}" if ord(c) < 0x20 or ord(c) == 0x7F else c


def _read_heading(line: str) -> str:
    match = _HEADING.match(line)
    return match["name"].strip().strip("\"'") if match else ""


def _holds_key(line: str, key: str) -> bool:
    return re.match(rf"""\s*(?:{re.escape(key)}|"{re.escape(key)}"|'{re.escape(key)}')\s*=""", line) is not None


def _find_comment(line: str) -> str:
    """Return the comment behind a value, with the blanks before it."""
    for found in re.finditer(r"\s*#", line):
        try:
            tomllib.loads(line[: found.start()])
        except tomllib.TOMLDecodeError:
            continue  # this one is within a string
        return line[found.start() :]
    return ""
