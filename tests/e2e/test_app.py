"""The whole program, for real: keys and mouse on a virtual screen, the bundled model, processes killed."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.harness import ROOT, running

MODEL = ROOT / "resources" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.model,
    pytest.mark.skipif(not MODEL.exists(), reason="the bundled model is not there (set-up fetches it)"),
    pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed (set-up installs it)"),
]


def finished(texts: str) -> bool:
    return "tokens/s" in texts and "Stop" not in texts


def test_a_day_with_it(x_display: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with running(x_display, folder) as app:
        app.click("Message")
        app.type("My name is Ada. We decided to use PostgreSQL 16 for the billing service.")
        app.wait_for(lambda t: "PostgreSQL 16" in t, "the user's message")
        app.wait_for(finished, "the model's reply")
        app.wait_for(lambda t: t.count("PostgreSQL 16") >= 2, "a line of Working Memory")

        app.key("ctrl+n")
        app.wait_for(lambda t: "My name is Ada" not in t, "an empty conversation")
        app.click("Message")
        app.type("Tell me about the harbour of Genoa.")
        app.wait_for(finished, "the second reply")

        app.click_row("PostgreSQL")
        app.wait_for(lambda t: "My name is Ada" in t, "the first conversation again")
        assert app.close() == 0

    with running(x_display, folder) as app:
        app.wait_for(lambda _: "PostgreSQL" in app.rows() and "Genoa" in app.rows(), "both conversations in the list")
        app.click_row("PostgreSQL")
        texts = app.wait_for(lambda t: "My name is Ada" in t, "the first conversation after a restart")
        assert texts.count("PostgreSQL 16") >= 2, "Working Memory is shown after a restart"
        assert app.close() == 0


def test_sigkill_while_streaming_keeps_question_and_streamed_part(x_display: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    question = "Write a long story about a lighthouse keeper and her cat."
    with running(x_display, folder) as app:
        app.click("Message")
        app.type(question)
        app.wait_for(lambda t: "Stop" in t and longest_reply(t, question) > 120, "a streaming reply")
        app.kill()
    with running(x_display, folder) as app:
        texts = app.wait_for(lambda t: question in t and "cut off" in t, "the question and the mark of the cut")
        assert longest_reply(texts, question) > 40, "what had streamed is kept"
        assert app.close() == 0


def test_killing_the_model_host_leaves_the_window_and_the_next_message_works(x_display: str, tmp_path: Path) -> None:
    with running(x_display, tmp_path / "data") as app:
        app.click("Message")
        app.type("Write a long story about a lighthouse keeper and her cat.")
        app.wait_for(lambda t: "Stop" in t and longest_reply(t, "Write a long") > 60, "a streaming reply")
        for pid in app.children():
            os.kill(pid, signal.SIGKILL)
        app.wait_for(lambda t: "killed" in t.lower() or "ended" in t.lower() or "stopped" in t.lower(), "why it ended")
        app.click("Message")
        app.type("Say hello.")
        app.wait_for(lambda t: "Say hello." in t and finished(t), "a reply of the restarted model")
        assert app.close() == 0


def test_a_second_start_raises_the_first_and_ends(x_display: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with running(x_display, folder) as app:
        app.wait_for(lambda t: "ready" in t, "the loaded model")
        environment = os.environ | {"DISPLAY": x_display, "QT_QPA_PLATFORM": "xcb", "PYTHONPATH": str(ROOT)}
        environment["XDG_RUNTIME_DIR"] = str(folder.parent)
        second = subprocess.run(
            [sys.executable, "-m", "app", "--data-dir", str(folder)], cwd=ROOT, env=environment, timeout=60
        )
        assert second.returncode == 0
        assert app.process.poll() is None
        assert app.close() == 0


def test_what_other_programs_write_into_the_folder_is_shown(x_display: str, tmp_path: Path) -> None:
    """A replay by keepsake-jobs and an edit by hand, both while the window is open."""
    folder = tmp_path / "data"
    with running(x_display, folder) as app:
        app.wait_for(lambda t: "ready" in t, "the loaded model")
        app.key("ctrl+3")
        command = [
            sys.executable,
            "-m",
            "core",
            "replay",
            "--data-dir",
            str(folder),
            "resources/demo/conversation.jsonl",
        ]
        replay = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert replay.returncode == 0, replay.stdout + replay.stderr
        # the replay leaves the file's jobs to the queue: whichever of the two programs comes first writes it
        app.wait_for(lambda t: "things that last" in t, "a change of MEMORY.md by what was replayed")
        assert "Today" in app.rows() or "Earlier" in app.rows()
        with (folder / "workspaces" / "default" / "MEMORY.md").open("a", encoding="utf-8") as file:
            file.write("- written by hand\n")
        app.wait_for(lambda t: "you (in another editor) · just now" in t, "who changed the file")
        assert app.close() == 0


def test_nothing_touches_the_network(x_display: str, tmp_path: Path) -> None:
    """The whole way to a reply inside a network namespace that has no interface but a dead loopback."""
    prefix = ("unshare", "-rn") if os.geteuid() else ("unshare", "-n")
    allowed = subprocess.run([*prefix, "true"], capture_output=True)
    if allowed.returncode:
        pytest.skip(f"network namespaces are not allowed here: {allowed.stderr.decode().strip()}")
    with running(x_display, tmp_path / "data", prefix=prefix) as app:
        app.click("Message")
        app.type("We decided to use PostgreSQL 16 for the billing service.")
        app.wait_for(finished, "a reply without any network")
        app.wait_for(lambda t: t.count("PostgreSQL 16") >= 2, "a line of Working Memory")
        assert app.close() == 0


def longest_reply(texts: str, question: str) -> int:
    """Length of the longest visible text other than the question."""
    return max((len(line) for line in texts.splitlines() if question not in line), default=0)
