"""The program as a process: what it says when it cannot start, and who comes first on a data folder."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app import instance
from core.engine import Engine, Settings, find_data_folder

LIMIT_S = 60

pytestmark = pytest.mark.slow


def start(root: Path, folder: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "app", "--data-dir", str(folder), *more]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
    return subprocess.Popen(
        command, cwd=root, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_it_reports_when_it_is_ready_and_ends_on_sigterm(root, tmp_path):
    program = start(root, tmp_path / "data", "--ready-report")
    ready = json.loads(program.stdout.readline())
    assert ready["window_ms"] > 0
    program.send_signal(signal.SIGTERM)
    assert program.wait(LIMIT_S) == 0
    program.communicate()
    assert "window interactive after" in (tmp_path / "data" / "state" / "keepsake.log").read_text()


def test_the_first_paint_waits_for_nothing_that_only_the_opened_store_needs(root):
    code = "import sys, app.main; print([name for name in sys.modules if name.startswith(('app.', 'core.'))])"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=root, text=True, stdout=subprocess.PIPE, check=True
    ).stdout
    assert "app.windows.main_window" in loaded
    for late in ("app.desk", "app.presenters", "core.engine", "core.storage"):
        assert late not in loaded


def test_a_folder_that_cannot_be_written_is_named_and_nothing_is_left_behind(root, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    program = start(root, tmp_path / "file", "--smoke", "hello")
    _, errors = program.communicate(timeout=LIMIT_S)
    assert program.returncode == 1
    assert str(tmp_path / "file") in errors
    assert "Nothing was changed" in errors
    assert (tmp_path / "file").read_text() == "not a folder"


async def test_a_second_start_raises_the_first_and_ends_well(root, tmp_path, qapp):
    raised = []
    first = instance.FirstInstance(tmp_path / "data", lambda: raised.append(1))
    assert first.listen()
    second = start(root, tmp_path / "data")
    with ThreadPoolExecutor(1) as pool:
        await asyncio.get_running_loop().run_in_executor(pool, second.communicate)
    assert second.returncode == 0
    assert raised == [1]
    assert not (tmp_path / "data" / "keepsake.db").exists()
    first.close()


def test_no_first_instance_means_no(tmp_path):
    assert not instance.raise_first(tmp_path / "nobody")
    assert instance.socket_name(tmp_path / "a") != instance.socket_name(tmp_path / "b")


def test_a_folder_in_use_by_something_that_does_not_answer_is_said_in_words(root, tmp_path):
    async def check():
        engine = Engine(find_data_folder(tmp_path / "data"), Settings())
        await engine.open()
        try:
            program = start(root, tmp_path / "data", "--smoke", "hello")
            with ThreadPoolExecutor(1) as pool:
                _, errors = await asyncio.get_running_loop().run_in_executor(pool, program.communicate)
            assert program.returncode == 1
            assert "already open" in errors
        finally:
            await engine.aclose()

    asyncio.run(check())
