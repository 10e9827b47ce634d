"""What holds for every test: nobody's real folders, no real screen, one Hypothesis profile.

HOME and the XDG folders point into a folder of this run before any test module is imported, so that neither
our code nor a library can find the user's files. Windows go to Qt's offscreen platform unless the caller chose
another; a test that needs a real X server takes the `x_display` fixture and starts its program with it.

HYPOTHESIS_PROFILE=long runs each property 10,000 times instead of 100.
"""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from core.paths import DataFolder, find_data_folder

EXIT_STATUS = pytest.StashKey[int]()
ROOT = Path(__file__).resolve().parent.parent
XDG_FOLDERS = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_RUNTIME_DIR": ".run",
}

settings.register_profile(
    "default",
    max_examples=100,
    deadline=None,  # the machine may be busy; slowness is for benchmarks
    derandomize=bool(os.environ.get("CI")),  # a submission is not judged by luck
)
settings.register_profile("long", max_examples=10_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def _move_home(home: Path) -> None:
    os.environ["HOME"] = str(home)
    for name, folder in XDG_FOLDERS.items():
        path = home / folder
        path.mkdir(parents=True, mode=0o700)
        os.environ[name] = str(path)
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


_home = Path(tempfile.mkdtemp(prefix="keepsake-test-home-"))
_move_home(_home)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[EXIT_STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(_home, ignore_errors=True)
    if "PySide6.QtWidgets" in sys.modules and EXIT_STATUS in config.stash:
        # WORKAROUND: PySide6 6.12.0 now and then crashes while the interpreter takes itself apart, after every
        # test has had its say. How the program itself ends is tested on the real process (tests/e2e).
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(config.stash[EXIT_STATUS])


@pytest.fixture(autouse=True)
def collect_qt_on_this_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test with Qt leaves behind goes here and now.

    A window, or the timer of a loop, that Python's collector frees on another thread crashes the run, some tests
    later: when pytest-qt lets Qt work off its events.
    """
    if "qapp" not in request.fixturenames:
        yield
        return
    from PySide6.QtCore import QEvent

    qapp = request.getfixturevalue("qapp")
    was_enabled = gc.isenabled()
    gc.disable()
    yield
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    if was_enabled:
        gc.enable()


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture
def data_folder(tmp_path: Path) -> DataFolder:
    """An empty data folder of this test, prepared; its name holds a blank, as users' folders do."""
    folder = find_data_folder(tmp_path / "data folder")
    folder.prepare()
    return folder


@pytest.fixture(scope="session")
def chat_model(root: Path) -> Path:
    """The bundled chat model; the test is skipped where set-up has not brought it."""
    path = root / "resources" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not path.exists():
        pytest.skip(f"{path.name} is not there; packaging/set-up.sh brings it")
    return path


@pytest.fixture(scope="session")
def x_display() -> Iterator[str]:
    """A virtual screen of 1600 x 1000; yields its DISPLAY."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed; packaging/set-up.sh names the package")
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
        if not number:
            pytest.fail("Xvfb ended before it opened a display")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10)
