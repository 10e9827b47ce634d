"""What a person sees of the commands: no display, progress, failures, and what the smoke test refuses."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def load(root: Path):
    """Return a function that imports a module of packaging/ by name."""

    def load(name: str) -> ModuleType:
        sys.path.insert(0, str(root / "packaging"))
        try:
            return __import__(name)
        finally:
            sys.path.remove(str(root / "packaging"))

    return load


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_make_run_without_a_display_says_so_and_names_the_demo(root: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    done = subprocess.run(["make", "-s", "run"], cwd=root, env=env, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("There is no display here, so the window cannot open. `make demo` shows")
    assert done.stdout == ""


def test_make_help_lists_every_target(root: Path) -> None:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split()
    shown = subprocess.run(["make", "help"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert sorted(re.findall(r"^ +make (\w+) ", shown, re.MULTILINE)) == sorted(targets)


def test_progress_numbers_its_steps(load) -> None:
    out = io.StringIO()
    progress = load("progress").Progress(2, out)
    with progress.step("First") as say:
        say("not worth a line in a log yet")
    with pytest.raises(ValueError, match="broken"), progress.step("Second"):
        raise ValueError("broken")
    first, second = out.getvalue().splitlines()
    assert re.fullmatch(r"\[1/2\] First +ok +\d+\.\d s", first)
    assert re.fullmatch(r"\[2/2\] Second +did not finish +\d+\.\d s", second)


def test_a_command_that_fails_is_shown_with_its_last_words(
    load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up = load("set_up")
    monkeypatch.setattr(set_up, "LOG", tmp_path / "build" / "set-up.log")
    code = "import sys; print('no route to host'); sys.exit(7)"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        set_up.run([sys.executable, "-c", code])
    text = set_up.explain_failure(caught.value)
    assert "    no route to host\n" in text
    assert "code 7" in text
    assert str(set_up.LOG) in text


def test_the_smoke_test_refuses_unknown_lines_on_stderr(load) -> None:
    smoke = load("smoke")
    smoke.check_stderr("\nlibEGL warning: failed to open /dev/dri/card0\n")
    with pytest.raises(smoke.SmokeError, match="ModuleNotFoundError"):
        smoke.check_stderr("ModuleNotFoundError: No module named 'sqlite3'\n")


def test_the_smoke_test_starts_programs_without_the_callers_environment(load, tmp_path: Path) -> None:
    code = "import os, shutil; print(sorted(os.environ), shutil.which('python3'), os.getcwd())"
    done = load("smoke").start([sys.executable, "-S", "-c", code], tmp_path, DISPLAY=":1")
    names, python, folder = done.stdout.strip().rsplit(" ", 2)
    assert not {"PYTHONPATH", "XDG_CACHE_HOME", "LC_ALL"} & set(re.findall(r"'(\w+)'", names))
    assert (python, folder) == ("None", str(tmp_path))
