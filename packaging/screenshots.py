"""Make the pictures of the README: the real window over a data folder filled by replaying a conversation.

Usage: python packaging/screenshots.py [--out docs] [NAME ...]

Each picture is a run of its own on a virtual screen (Xvfb), so that scale and theme are those of a real
start. What is shown was remembered without a model. The clock is the real one, so times
differ from run to run; nothing else does.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtCore import QSettings

    from app.windows.main_window import MainWindow
    from core.engine import Engine
    from core.model import SessionId

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

WIDTH, HEIGHT = 1440, 900
SETTLE_S = 1.5  # until glows have faded and all messages are built
MODEL_S = 60.0
NAMES = "picture-conversations.json"
SAMPLES = ROOT / "packaging" / "screenshot-samples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One picture."""

    name: str
    theme: str = "light"
    conversation: str = "main"
    scale: float = 1.0
    tab: str = "Memory"


SHOTS = (
    Shot(name="window-light"),
    Shot(name="window-dark", theme="dark"),
    Shot(name="window-chinese", conversation="chinese"),
    Shot(name="window-150", scale=1.5),
    Shot(name="window-segments", tab="Segments"),
)


def main(arguments: Sequence[str]) -> int:
    """Fill a data folder, then take the pictures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    parser.add_argument("--keep", type=Path, help="use and keep this data folder")
    parser.add_argument("--take", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    if options.take:
        shot = next(shot for shot in SHOTS if shot.name == options.take)
        return take(shot, options.keep, options.out / f"{shot.name}.png")
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="keepsake-pictures-") as folder, screen() as environment:
        data = options.keep or Path(folder) / "data"
        asyncio.run(fill(data))
        for shot in SHOTS:
            if not options.names or shot.name in options.names:
                run_shot(shot, data, options.out, environment)
    return 0


def run_shot(shot: Shot, data: Path, out: Path, environment: dict[str, str]) -> None:
    """Take one picture in a process of its own: the scale is read at a program's start."""
    command = [sys.executable, __file__, "--take", shot.name, "--keep", str(data), "--out", str(out)]
    subprocess.run(command, check=True, env={**environment, "QT_SCALE_FACTOR": str(shot.scale)}, timeout=180)
    print(out / f"{shot.name}.png")


@contextmanager
def screen() -> Iterator[dict[str, str]]:
    """A virtual screen large enough for the window at 150 %; Qt's offscreen platform where there is none."""
    if shutil.which("Xvfb") is None:
        yield {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        return
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "2400x1500x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        with open(reader, encoding="ascii") as pipe:
            number = pipe.readline().strip()
        yield {**os.environ, "DISPLAY": f":{number}", "QT_QPA_PLATFORM": "xcb"}
    finally:
        server.terminate()
        server.wait(10)


async def fill(data: Path) -> None:
    """Replay the samples into `data`, their times moved so that the newest ends a few minutes ago."""
    from core.engine import Engine, find_data_folder, load_settings

    folder = find_data_folder(data)
    settings = load_settings(folder.settings, os.environ)
    engine = Engine(folder, settings, exclusive=False)
    await engine.open()
    try:
        names: dict[str, str] = {}
        for sample in sorted(SAMPLES.glob("*.jsonl"), key=age_min, reverse=True):
            moved = data / f"{sample.stem}.jsonl"
            moved.write_text(move_times(sample, datetime.now(UTC)), encoding="utf-8")
            done = await engine.replay(moved, progress=lambda _state: None, stop=asyncio.Event())
            for session in done.session_ids:
                await engine.memory.commit(session)
                names[sample.stem] = session
            moved.unlink()
        (data / NAMES).write_text(json.dumps(names), encoding="utf-8")
    finally:
        await engine.aclose()


def age_min(sample: Path) -> int:
    """How long ago the sample's last message is to appear."""
    with sample.open(encoding="utf-8") as lines:
        return int(json.loads(lines.readline())["ago_min"])


def move_times(sample: Path, now: datetime) -> str:
    """The sample with its last message `ago_min` minutes before `now`, as its first line says."""
    head, *lines = sample.read_text(encoding="utf-8").splitlines()
    messages = [json.loads(line) for line in lines if line.strip()]
    last = datetime.fromisoformat(messages[-1]["timestamp"])
    shift = now - timedelta(minutes=json.loads(head)["ago_min"]) - last
    for message in messages:
        message["timestamp"] = (datetime.fromisoformat(message["timestamp"]) + shift).isoformat()
    return "\n".join(json.dumps(message, ensure_ascii=False) for message in messages) + "\n"


def take(shot: Shot, data: Path, file: Path) -> int:
    """Start the window on `data`, wait until all is shown, save what it shows."""
    from PySide6.QtCore import QSettings
    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop

    from app.theme import Look, ThemeMode
    from app.windows.main_window import MainWindow

    app = QApplication([sys.argv[0]])
    app.setQuitOnLastWindowClosed(False)
    look = Look(app, ROOT / "resources" / "themes")
    look.apply(mode=ThemeMode(shot.theme))
    with tempfile.TemporaryDirectory() as state:
        settings = QSettings(f"{state}/window.ini", QSettings.Format.IniFormat)
        window = MainWindow(look, settings)
        window.resize(WIDTH, HEIGHT)
        window.show()
        with asyncio.Runner(loop_factory=lambda: QEventLoop(app)) as runner:
            return runner.run(photograph(window, settings, shot, data, file))


async def photograph(window: "MainWindow", settings: "QSettings", shot: Shot, data: Path, file: Path) -> int:
    """Open the engine and the wanted conversation, and save the picture."""
    from app.desk import Desk
    from core.engine import Engine, load_settings
    from core.paths import find_data_folder

    folder = find_data_folder(data)
    engine = Engine(folder, load_settings(folder.settings, os.environ))
    await engine.open()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(engine.wait_idle(), MODEL_S)  # what the replay left to do: MEMORY.md
    desk = Desk(engine, window, settings)
    try:
        await desk.start()
        engine.start_model()
        desk.list.open(find_conversation(data, shot.conversation))
        window.show_tab(shot.tab)
        await wait_for_model(engine)
        await asyncio.sleep(SETTLE_S)
        if not window.grab().save(str(file)):
            raise OSError(f"{file} could not be written")
    finally:
        await desk.aclose()
        await engine.aclose()
        window.close()
    return 0


async def wait_for_model(engine: "Engine") -> None:
    """Let the status line show a loaded model where there is one."""
    loaded = asyncio.Event()

    def look(_changes: object = None) -> None:
        if engine.model_status.phase.value not in ("starting", "loading"):
            loaded.set()

    unsubscribe = engine.subscribe(look)
    look()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(loaded.wait(), MODEL_S)
    unsubscribe()


def find_conversation(data: Path, sample: str) -> "SessionId":
    """The conversation made of a sample; `fill` has written down which."""
    names: dict[str, SessionId] = json.loads((data / NAMES).read_text(encoding="utf-8"))
    return names[sample]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
