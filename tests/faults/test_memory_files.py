"""Memory files under kill -9, crowds of writers and a reader that never stops. Real processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from core.memory_files.history import OUTSIDE_ACTOR
from core.memory_files.publish import STEPS
from core.memory_files.writer import Cause, MemoryFileWriter
from tests.core.memory_files.store import Durable

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a POSIX thing"),
]
ROOT = Path(__file__).parents[2]
CHILD = """
import os, signal, sys
from pathlib import Path
from core.memory_files.folder import Folder
from core.memory_files.writer import Cause, MemoryFileWriter
from tests.core.memory_files.store import Durable

workspace, step, exchange, *entries = sys.argv[1:]
if exchange == "no":
    Folder.exchange = lambda *_: False

def on_step(now):
    if now == step:
        os.kill(os.getpid(), signal.SIGKILL)

writer = MemoryFileWriter(
    Path(workspace), Durable(Path(workspace) / "log"), budget=1_000_000, lock_wait_s=120, on_step=on_step
)
for entry in entries:
    result = writer.append("MEMORY.md", entry, Cause(at=2.0, actor="Keepsake", cause="test"))
    print(result.outcome.value, flush=True)
"""


def run(workspace, *entries, step="none", exchange="yes"):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(workspace), step, exchange, *entries],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def append(workspace, entry):
    writer = MemoryFileWriter(workspace, Durable(workspace / "log"))
    return writer.append("MEMORY.md", entry, Cause(at=3.0, actor="Keepsake", cause="test"))


@pytest.mark.parametrize("exchange", ["yes", "no"])
@pytest.mark.parametrize("first", [True, False], ids=["first write", "later write"])
@pytest.mark.parametrize("step", STEPS)
def test_a_kill_leaves_the_old_or_the_new_text_and_the_next_write_clears_up(tmp_path, step, first, exchange):
    old = "" if first else "- fact: old\n"
    if not first:
        append(tmp_path, "- fact: old")
    child = run(tmp_path, "- fact: new", step=step, exchange=exchange)
    child.communicate(timeout=60)
    assert child.returncode == -signal.SIGKILL
    target = tmp_path / "MEMORY.md"
    text = target.read_text(encoding="utf-8") if target.exists() else ""
    assert text in (old, old + "- fact: new\n")

    result = append(tmp_path, "- fact: after")
    assert result.text == target.read_text(encoding="utf-8") == text + "- fact: after\n"
    names = os.listdir(tmp_path / ".history")
    assert [name for name in names if name.startswith((".tmp-", ".note-"))] == []
    # Our own write is never taken for the user's, and the records join up.
    log = Durable(tmp_path / "log").all
    assert OUTSIDE_ACTOR not in [change.actor for change in log]
    assert [change.before for change in log] == ["", *[change.after for change in log[:-1]]]
    assert log[-1].after == result.text
    assert target.stat().st_nlink == 1


def test_an_edit_swapped_out_by_a_killed_write_comes_back(tmp_path):
    append(tmp_path, "- fact: old")
    editor = (
        "import os\n"
        "from pathlib import Path\n"
        "from core.memory_files.folder import Folder\n"
        "swap = Folder.exchange\n"
        "def exchange(self, *rest):\n"
        "    target = Path(os.environ['TARGET'])\n"
        "    target.write_text(target.read_text() + '- typed just now\\n')\n"
        "    return swap(self, *rest)\n"
        "Folder.exchange = exchange\n"
    )
    child = subprocess.run(
        [sys.executable, "-c", editor + CHILD, str(tmp_path), "sync_folder", "yes", "- fact: new"],
        cwd=ROOT,
        env={**os.environ, "TARGET": str(tmp_path / "MEMORY.md")},
        timeout=60,
    )
    assert child.returncode == -signal.SIGKILL
    result = append(tmp_path, "- fact: after")
    assert result.text == "- fact: old\n- typed just now\n- fact: after\n"
    assert [change.actor for change in result.outside] == [OUTSIDE_ACTOR]


@pytest.mark.parametrize("after", [1, 4, 9])
def test_what_was_acknowledged_before_a_kill_is_there_once(tmp_path, after):
    child = run(tmp_path, *(f"- fact: number {i}" for i in range(400)))
    for _ in range(after):
        assert child.stdout.readline() == "written\n"
    child.kill()  # at whatever step it is
    acknowledged = after + len(child.communicate(timeout=60)[0].split())
    append(tmp_path, "- fact: after")
    lines = (tmp_path / "MEMORY.md").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "- fact: after"
    assert lines[:-1] == [f"- fact: number {i}" for i in range(len(lines) - 1)]
    assert len(lines) - 1 in (acknowledged, acknowledged + 1)


def test_a_crowd_of_processes_loses_nothing_and_no_reader_sees_half_a_file(tmp_path):
    entries = [[f"- fact: process {p} entry {i} {'x' * 40}" for i in range(25)] for p in range(4)]
    everything = {entry for own in entries for entry in own}
    children = [run(tmp_path, *own) for own in entries]
    target, reads, seen = tmp_path / "MEMORY.md", 0, 0
    while any(child.poll() is None for child in children):
        text = target.read_text(encoding="utf-8") if seen or target.exists() else ""
        lines = text.splitlines()
        assert not text or text.endswith("\n")
        assert set(lines) <= everything
        assert len(lines) >= seen, "an acknowledged entry vanished"
        seen, reads = len(lines), reads + 1
    answers = [child.communicate(timeout=60)[0].split() for child in children]
    assert answers == [["written"] * 25] * 4
    assert sorted(target.read_text(encoding="utf-8").splitlines()) == sorted(everything)
    assert reads > 20
