"""Pictures of the Models page and the answer settings: `python -m tests.gui.gallery_models FOLDER [STATE …]`."""

import asyncio
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.desk import Desk
from app.rendering.model_rows import ModelAct
from core.model import ExamResult
from core.model_files import (
    DownloadProgress,
    DownloadStep,
    Fit,
    FitVerdict,
    FoundFile,
    ModelCard,
    ModelKind,
    ModelOffer,
    ModelOrigin,
    ModelRole,
)
from tests.app.scripted import ScriptedEngine
from tests.app.scripted_models import BUILT_IN, FITS, GB, ScriptedModels
from tests.gui.gallery import fill
from tests.gui.pictures import take_pictures
from tests.gui.stage import Stage

STATES = (
    "light", "window", "dark", "chinese", "zoom150", "toobig", "broken", "found", "download", "question", "undo",
    "empty", "asking", "asking-dark-changed", "asking-zoom150", "server", "server-host-dark", "server-exam",
    "server-exam-running-dark",
)  # fmt: skip
HOME = Path("/home/ada")
TIGHT = Fit(
    verdict=FitVerdict.TIGHT, needed_bytes=3 * GB, free_bytes=4 * GB, context_tokens=4096,
    sentence="Tight: it needs about 3.2 GB with a context of 4,096 tokens, and 3.5 GB are free, so other programs may "
    "become slow.",
)  # fmt: skip
TOO_BIG = Fit(
    verdict=FitVerdict.TOO_BIG, needed_bytes=9 * GB, free_bytes=4 * GB, context_tokens=32_768,
    offered_context_tokens=4096,
    sentence="Too big: it needs about 9.1 GB with a context of 32,768 tokens, and 4.0 GB are free. With a context of "
    "4,096 tokens it fits.",
)  # fmt: skip


def fill_models(models: ScriptedModels, *, chinese: bool = False) -> None:
    """Models of every kind and state."""
    exam = ExamResult(
        model="qwen3-4b.gguf", sha256="", taken_at=0.0, took_s=48.0, verdict="write",
        sentence="Writes memory itself: 96 % of what it wrote is backed by the conversation, in English and Chinese.",
        tokens_per_s=14.2,
    )  # fmt: skip
    off = replace(exam, verdict="off", sentence="Not asked about memory: its choices were no better than a plain rank.")
    models.cards = [
        replace(BUILT_IN, exam=off, tokens_per_s=112.0, roles=()),
        ModelCard(
            id="qwen3-4b.gguf", name="通义千问 3 4B 指令版" if chinese else "Qwen3 4B Instruct",
            path=HOME / ".local/share/Keepsake/models/Qwen3-4B-Instruct-2507-Q4_K_M.gguf", kind=ModelKind.CHAT,
            origin=ModelOrigin.OURS, size_bytes=2_497_281_120, architecture="qwen3", quantisation="Q4_K_M",
            parameters=4_022_468_096, context_tokens=262_144, layers=36, heads=32, licence="Apache-2.0",
            has_template=True, source="downloaded from huggingface.co", tokens_per_s=14.2, fit=TIGHT, exam=exam,
            roles=(ModelRole.CHAT, ModelRole.MEMORY),
        ),
        ModelCard(
            id=str(HOME / "models/mistral-7b.gguf"), name="Mistral 7B Instruct v0.3",
            path=HOME / "models/mistral-7b-instruct-v0.3.Q8_0.gguf", kind=ModelKind.CHAT,
            origin=ModelOrigin.ELSEWHERE, size_bytes=7_702_565_088, architecture="llama", quantisation="Q8_0",
            parameters=7_248_023_552, context_tokens=32_768, layers=32, heads=32, fit=TOO_BIG,
        ),
        ModelCard(
            id="nomic.gguf", name="nomic-embed-text v1.5", path=HOME / ".local/share/Keepsake/models/nomic.gguf",
            kind=ModelKind.EMBEDDING, origin=ModelOrigin.OURS, size_bytes=140 << 20, architecture="nomic-bert",
            quantisation="Q8_0", parameters=136_731_648, context_tokens=2048, licence="Apache-2.0", fit=FITS,
        ),
        ModelCard(
            id="broken.gguf", name="llama-half.gguf", path=HOME / "Downloads/llama-half.gguf", kind=ModelKind.CHAT,
            origin=ModelOrigin.ELSEWHERE,
            problem="llama-half.gguf ends too early: 1.2 GB of 4.1 GB are there. The download was probably cut off. "
            "Your conversations are not affected, and the file was left as it is.",
        ),
    ]  # fmt: skip
    models.found = [
        FoundFile(path=HOME / ".lmstudio/models/gemma-3-4b-it-Q4_K_M.gguf", program="LM Studio", name="gemma 3 4b it",
                  kind=ModelKind.CHAT, size_bytes=2_489_757_856, quantisation="Q4_K_M", context_tokens=131_072,
                  fit=TIGHT),
        FoundFile(path=HOME / ".ollama/models/blobs/sha256-dde5aa3fc5ff", program="Ollama", name="llama3.2:3b",
                  kind=ModelKind.CHAT, size_bytes=2_019_377_376, quantisation="Q4_K_M", context_tokens=131_072,
                  fit=FITS),
    ]  # fmt: skip
    models.offers = [
        ModelOffer(id="qwen3-0.6b", name="Qwen3 0.6B", kind=ModelKind.CHAT, host="huggingface.co",
                   file="Qwen3-0.6B-Q8_0.gguf", size_bytes=639_446_688, context_tokens=40_960, licence="Apache-2.0",
                   fit=FITS),
        ModelOffer(id="mine", name="My fine-tune", kind=ModelKind.CHAT, host="models.example.org", file="mine.gguf",
                   size_bytes=1_100_000_000, context_tokens=8192, licence="own", fit=FITS, received_bytes=450_000_000,
                   by_user=True),
    ]  # fmt: skip


def set_scene(state: str, stage: Stage) -> None:
    """Models of every kind, or none."""
    fill(stage.engine)
    if "empty" in state:
        stage.engine.models.cards = []
    else:
        fill_models(stage.engine.models, chinese="chinese" in state)
    stage.window.resize(1440, 1000)


async def prepare(state: str, stage: Stage) -> QWidget:
    """Open the page, or the sheet of the answers."""
    assert stage.desk is not None
    if "asking" in state:
        return await prepare_asking(state, stage.desk)
    page = await prepare_page(state, stage.engine, stage.desk)
    return stage.window if state == "window" else page


async def prepare_asking(state: str, desk: Desk) -> QWidget:
    desk.asking.choose_preset("exact")
    await asyncio.sleep(0.2)
    desk.asking_pane.open_up()
    await asyncio.sleep(0.2)
    sheet = desk.asking_pane.sheet
    assert sheet is not None
    if "changed" in state:
        sheet.instructions.setPlainText("Answer in short sentences. 如果不确定，请直说。")
        sheet.show_error("Temperature must be from 0 to 2. Nothing was changed.")
    return sheet


async def prepare_page(state: str, engine: ScriptedEngine, desk: Desk) -> QWidget:
    presenter = desk.pages.open_models()
    assert desk.pages.models_window is not None
    page = desk.pages.models_window.page
    await asyncio.sleep(0.2)
    page.select(f"here:{engine.models.cards[min(1, len(engine.models.cards) - 1)].id}" if engine.models.cards else "")
    if "toobig" in state:
        page.select(f"here:{HOME / 'models/mistral-7b.gguf'}")
    if "broken" in state:
        page.select("here:broken.gguf")
    if "found" in state:
        page.select(f"found:{engine.models.found[1].path}")
    if "download" in state:
        page.select("offer:qwen3-0.6b")
        presenter.act("offer:qwen3-0.6b", ModelAct.DOWNLOAD)
        await asyncio.sleep(0.1)
        assert engine.models.running is not None
        engine.models.running(
            DownloadProgress(
                id="qwen3-0.6b", step=DownloadStep.RECEIVING, done_bytes=240_000_000, total_bytes=639_446_688,
                bytes_per_s=8_400_000.0,
            )
        )  # fmt: skip
    if "question" in state:
        presenter.import_paths([Path("/home/ada/Downloads/phi-4-mini-instruct-Q4_K_M.gguf")])
    if "server" in state:
        page.server_button.click()
        page.server.address.setText("http://models.example.org:8080" if "host" in state else "127.0.0.1:11434")
        page.server.look_button.click()
    if "exam" in state:
        await asyncio.sleep(0.1)
        page.server.use_button.click()
        await asyncio.sleep(0.1)
        if "running" in state:
            page.server.exam_button.click()
            await asyncio.sleep(0.1)
            assert engine.exams.progress is not None
            engine.exams.progress("Reading an update, 3 of 8")
    if "undo" in state:
        presenter.act("here:nomic.gguf", ModelAct.REMOVE)
    return desk.pages.models_window


if __name__ == "__main__":
    take_pictures(STATES, set_scene, prepare, prefix="models-")
