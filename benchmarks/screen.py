"""A place for windows and a home for programs that are measured: a virtual screen, an empty HOME."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common import say


@contextlib.contextmanager
def open_screen(home: Path) -> Iterator[dict[str, str]]:
    """Yield the environment of a program that shows a window on a virtual screen (Xvfb), or offscreen without it."""
    home.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"HOME": str(home), "LC_ALL": "C.UTF-8"}
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "WAYLAND_DISPLAY"):
        environment.pop(name, None)
    if shutil.which("Xvfb") is None:
        say("Xvfb is not installed: windows are painted offscreen.")
        yield environment | {"QT_QPA_PLATFORM": "offscreen"}
        return
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        pass_fds=[writer],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    try:
        with open(reader, encoding="ascii") as pipe:
            number = pipe.readline().strip()  # written once the server accepts clients
        yield environment | {"QT_QPA_PLATFORM": "xcb", "DISPLAY": f":{number}"}
    finally:
        server.terminate()
        server.wait(10)
