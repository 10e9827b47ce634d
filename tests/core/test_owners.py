"""A process's name counts as living as long as the process does, whatever becomes of its id."""

import os
import signal
import subprocess
import sys

import pytest

from core.owners import APP, JOB, Owner, describe_owner, is_app_running, is_gone

HOLDER = """
import sys, time
from pathlib import Path
from core.owners import Owner
owner = Owner(Path(sys.argv[1]), "job")
owner.acquire()
print(owner.name, flush=True)
time.sleep(600)
"""


@pytest.fixture
def other(tmp_path):
    """Another process that took a name: (process, name)."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    yield process, process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_process_that_was_killed_is_gone_and_a_stopped_one_is_not(tmp_path, other):
    process, name = other
    assert not is_gone(tmp_path, name)
    process.send_signal(signal.SIGSTOP)
    assert not is_gone(tmp_path, name), "it may go on"
    process.kill()
    process.wait()
    assert is_gone(tmp_path, name)


def test_a_reused_process_id_does_not_make_a_dead_owner_live(tmp_path):
    living = Owner(tmp_path, JOB)
    living.acquire()
    same_id = f"job-{os.getpid()}-0123abcd"  # what an earlier process of this id may have been called
    assert is_gone(tmp_path, same_id)
    (tmp_path / f"{same_id}.lock").touch()  # left behind by a crash
    assert is_gone(tmp_path, same_id)
    assert not is_gone(tmp_path, living.name)
    living.release()
    assert is_gone(tmp_path, living.name)


def test_files_of_ended_processes_go_with_the_next_start(tmp_path, other):
    process, name = other
    process.kill()
    process.wait()
    owner = Owner(tmp_path, APP)
    owner.acquire()
    assert [path.name for path in tmp_path.iterdir()] == [f"{owner.name}.lock"]
    owner.release()
    assert name not in [path.stem for path in tmp_path.iterdir()]


def test_an_open_app_is_known_by_its_name(tmp_path):
    assert not is_app_running(tmp_path)
    app = Owner(tmp_path, APP)
    app.acquire()
    assert is_app_running(tmp_path)
    app.release()
    assert not is_app_running(tmp_path)


def test_names_of_older_stores_are_judged_by_their_process(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(tmp_path, f"job-{ended.pid}")
    assert not is_gone(tmp_path, f"app-{os.getpid()}")


def test_names_are_told_in_words():
    assert describe_owner("job-123-0123abcd") == "keepsake-jobs, pid 123"
    assert describe_owner("app-7-0123abcd") == "Keepsake, pid 7"
