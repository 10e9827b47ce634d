"""Twins written anew where words were taken out of the index, or put back.

Relies on `core.archivist.twins` for their form. A twin is found by being what its message is written as, byte for byte;
a file the user edited is left alone.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.archivist.twins import TWINS_FOLDER, Redact, Twin, folder_name, remove, render_twin, write_temporary


def rewrite_twins(workspace: Path, changed: Sequence[tuple[Twin, str]], redact: Redact) -> int:
    """Replace the files of twins by what they are with other text; returns how many were there.

    Raises `OSError` if one cannot be written; it is then as it was.
    """
    wanted: dict[Path, dict[bytes, bytes]] = {}
    for twin, text in changed:
        folder = workspace.joinpath(*TWINS_FOLDER.parts) / folder_name(twin.session_id, redact)
        new = render_twin(replace(twin, text=text)).encode("utf-8", "replace")
        wanted.setdefault(folder, {})[render_twin(twin).encode("utf-8", "replace")] = new
    return sum(_rewrite(folder, texts) for folder, texts in wanted.items())


def _rewrite(folder: Path, texts: dict[bytes, bytes]) -> int:
    sizes, count = {len(old) for old in texts}, 0
    if not folder.is_dir():
        return 0
    for path in sorted(folder.glob("*.md")):
        if path.is_symlink() or path.stat().st_size not in sizes:
            continue
        new = texts.get(path.read_bytes())
        if new is not None:
            _replace(path, new)
            count += 1
    return count


def _replace(path: Path, data: bytes) -> None:
    """Write beside the file and take its name; what a crash leaves is swept like that of other twins."""
    temporary = write_temporary(str(path.parent), data)
    try:
        os.replace(temporary, path)
    finally:
        remove(temporary)
