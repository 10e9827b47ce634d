"""The Models page of the whole program: another model file is chosen while it runs, and answers the next message."""

import os
import shutil
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


def test_another_model_file_is_chosen_while_the_app_runs_and_answers_the_next_message(
    x_display: str, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    (folder / "models").mkdir(parents=True)
    other = folder / "models" / "another-one.gguf"
    try:
        os.link(MODEL, other)
    except OSError:  # another disk
        shutil.copy(MODEL, other)
    with running(x_display, folder) as app:
        app.click("Message")
        app.type("Say hello.")
        app.wait_for(finished, "a reply of the first model")

        app.key("ctrl+m")
        app.wait_for(lambda t: "Memory needed" in t and "ON THIS" not in t, "the Models page")
        rows = app.rows()
        assert "another-one" in rows or rows.count("SmolLM2") >= 2, rows
        app.focus()
        app.key("Down")
        app.wait_for(lambda t: "Use for chat" in t, "the other model's details")
        app.key("Return")
        app.wait_for(lambda t: "Use the built-in one for chat" in t, "the other model in use")
        app.key("Escape")
        app.wait_for(lambda t: "ready" in t, "the other model loaded")
        assert (folder / "settings.toml").read_text().count("another-one.gguf") == 1

        app.focus()
        app.click("Message")
        app.type("Now say goodbye.")
        app.wait_for(lambda t: "Now say goodbye." in t and t.count("tokens/s") >= 3, "a reply of the other model")
        assert app.close() == 0
