"""One app per data folder, and a name for who has it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import DataFolderError, FolderInUseError
from core.locks import AppLock, OwnedLock, read_owner

ROOT = Path(__file__).parents[2]
HOLDER = """
import sys
from pathlib import Path
from core.locks import AppLock
lock = AppLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the app lock."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "app.lock")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "held\n"
    yield child
    child.kill()
    child.communicate()


def test_a_second_app_is_told_who_has_the_folder(tmp_path, holder):
    with pytest.raises(FolderInUseError, match=f"process {holder.pid}") as caught:
        AppLock(tmp_path / "app.lock").acquire()
    assert caught.value.pid == holder.pid


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a POSIX thing")
def test_a_file_left_by_a_killed_app_locks_nothing(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert read_owner(tmp_path / "app.lock") == holder.pid
    with AppLock(tmp_path / "app.lock"):
        assert read_owner(tmp_path / "app.lock") == os.getpid()


def test_a_file_with_a_living_process_in_it_locks_nothing_by_itself(tmp_path):
    (tmp_path / "app.lock").write_text(f" {os.getppid()}\n", encoding="ascii")
    with AppLock(tmp_path / "app.lock"):
        assert read_owner(tmp_path / "app.lock") == os.getpid()


def test_a_released_folder_can_be_taken_again(tmp_path):
    lock = AppLock(tmp_path / "app.lock")
    for _ in range(3):
        lock.acquire()
        with pytest.raises(FolderInUseError):
            AppLock(tmp_path / "app.lock").acquire()
        lock.release()


@pytest.mark.parametrize("content", [b"", b" ", b" not a number\n", b" \xb2\n", b"\0\0\0"])
def test_an_unreadable_owner_is_no_owner(tmp_path, content):
    (tmp_path / "app.lock").write_bytes(content)
    assert read_owner(tmp_path / "app.lock") is None
    assert read_owner(tmp_path / "missing") is None


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_a_link_in_the_place_of_the_lock_is_refused(tmp_path):
    (tmp_path / "app.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataFolderError, match="link"):
        AppLock(tmp_path / "app.lock").acquire()
    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_that_is_held_is_not_waited_for_longer_than_asked(tmp_path):
    first, second = OwnedLock(tmp_path / "lock"), OwnedLock(tmp_path / "lock")
    assert first.acquire(0)
    assert not second.acquire(0.02)
    second.release()
    first.release()
    assert second.acquire(0)
    second.release()
