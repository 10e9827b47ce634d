"""The model process dies, or its parent does: what the user reads, and that nothing stays behind."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from core.errors import ModelError
from core.llm.host import ModelHost
from core.llm.port import ChatMessage, GenerationEnd, GenerationPiece, GenerationRequest
from core.llm.process import explain_exit
from core.llm.watch import Patience
from core.model import ModelPhase
from tests.core.llm.phases import Phases

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")]

READY = b'\0\0\0\x24{"op":"ready","context_tokens":4096}'
STORY = GenerationRequest(messages=(ChatMessage("user", "Write a long story."),), max_tokens=3000)
HELLO = GenerationRequest(messages=(ChatMessage("user", "Say hello."),), max_tokens=8)


async def collect(host, request):
    return [answer async for answer in host.generate(request)]


async def kill_while_it_streams(host, number):
    """Return the pieces that came before the signal, and the error."""
    pieces = []
    try:
        async for answer in host.generate(STORY):
            pieces.append(answer)
            if len(pieces) == 3:
                os.kill(host.pid, number)
    except ModelError as error:
        return pieces, error
    pytest.fail("the answer ended as if nothing had happened")


def run_for_a_minute(coro):
    return asyncio.run(asyncio.wait_for(coro, 60))


@pytest.mark.model
@pytest.mark.parametrize(
    ("number", "said"),
    [
        (signal.SIGKILL, "memory ran out"),
        (signal.SIGSEGV, "touched memory"),
        (signal.SIGILL, "processor lacks an instruction"),
    ],
)
def test_a_process_that_dies_says_why_and_the_next_message_works(chat_model, number, said):
    async def main():
        host = ModelHost(chat_model)
        try:
            pieces, error = await kill_while_it_streams(host, number)
            assert len(pieces) >= 3
            assert all(isinstance(piece, GenerationPiece) for piece in pieces)
            assert said in str(error)
            assert "The conversation is kept; your next message starts the model again." in str(error)
            assert "llama" in error.details
            assert (host.status.phase, host.status.detail) == (ModelPhase.FAILED, str(error))
            answers = await collect(host, HELLO)
            assert isinstance(answers[-1], GenerationEnd)
            assert host.status.phase is ModelPhase.READY
        finally:
            await host.aclose()

    run_for_a_minute(main())


@pytest.mark.model
def test_requests_that_wait_learn_of_the_death_too(chat_model):
    async def main():
        phases = Phases()
        host = ModelHost(chat_model, on_status=phases)
        try:
            await host.start()
            tasks = [asyncio.ensure_future(collect(host, STORY)) for _ in range(3)]
            await phases.reach(ModelPhase.WRITING)
            os.kill(host.pid, signal.SIGKILL)
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                assert isinstance(result, ModelError)
        finally:
            await host.aclose()

    run_for_a_minute(main())


def test_a_process_that_ends_before_it_is_ready_is_no_endless_wait(tmp_path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x")
    script = "import sys; print('the last words', file=sys.stderr); sys.exit(3)"

    async def main():
        host = ModelHost(model, command=[sys.executable, "-c", script])
        with pytest.raises(ModelError, match="ended with code 3") as caught:
            await host.start()
        assert "the last words" in caught.value.details
        await host.aclose()

    run_for_a_minute(main())


def test_a_process_that_prints_instead_of_speaking_frames_is_ended(tmp_path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x")
    script = "import sys, threading; print('hello there', flush=True); threading.Event().wait()"

    async def main():
        host = ModelHost(model, command=[sys.executable, "-c", script])
        with pytest.raises(ModelError, match="stopped"):
            await host.start()
        await host.aclose()

    run_for_a_minute(main())


def test_a_process_that_dies_while_a_large_message_is_sent_still_says_why(tmp_path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x")
    script = f"import os; os.write(1, {READY}); os.read(0, 1); os._exit(3)"
    large = GenerationRequest(messages=(ChatMessage("user", "x" * 1_000_000),))

    async def main():
        host = ModelHost(model, command=[sys.executable, "-c", script])
        await host.start()
        with pytest.raises(ModelError, match="ended with code 3"):
            await collect(host, large)
        await host.aclose()

    run_for_a_minute(main())


def test_a_program_that_is_not_there_is_said(tmp_path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x")

    async def main():
        host = ModelHost(model, command=[str(tmp_path / "no-such-program")])
        with pytest.raises(ModelError, match="could not be started"):
            await host.start()
        await host.aclose()

    run_for_a_minute(main())


def test_closing_ends_even_a_process_that_does_not_listen(tmp_path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x")
    deaf = (
        "import os, signal, threading; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        f"os.write(1, {READY}); threading.Event().wait()"
    )

    async def main():
        host = ModelHost(model, command=[sys.executable, "-c", deaf])
        await host.start()
        pid = host.pid
        await asyncio.wait_for(host.aclose(), 6)
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    run_for_a_minute(main())


PARENT = """
import asyncio, os, signal, sys
from pathlib import Path
from core.llm.host import ModelHost
from core.llm.port import ChatMessage, GenerationRequest

async def main():
    host = ModelHost(Path(sys.argv[1]))
    text = sys.argv[2] * 120
    request = GenerationRequest(messages=(ChatMessage("user", text),), max_tokens=3000)
    answers = host.generate(request)
    first = asyncio.ensure_future(anext(answers))
    while host.status.phase not in ("reading", "writing"):
        await asyncio.sleep(0.001)
    print(host.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.model
def test_the_process_ends_with_its_parent_even_within_native_code(chat_model, root):
    reading = "The lighthouse keeper counted the ships that passed in the night. "
    parent = subprocess.run(
        [sys.executable, "-c", PARENT, chat_model, reading], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert parent.returncode == -signal.SIGKILL, parent.stderr
    pid = int(parent.stdout)
    deadline = time.monotonic() + 5
    while is_running(pid):
        assert time.monotonic() < deadline, "the model process outlives its parent"


def is_running(pid):
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"  # ended, its new parent has not looked yet
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.model
def test_all_of_it_works_on_the_production_loop(chat_model, qapp):
    from qasync import QEventLoop

    async def main():
        host = ModelHost(chat_model)
        try:
            pieces, error = await kill_while_it_streams(host, signal.SIGKILL)
            assert pieces
            assert "conversation is kept" in str(error)
            answers = await collect(host, HELLO)
            assert isinstance(answers[-1], GenerationEnd)
        finally:
            await host.aclose()

    with asyncio.Runner(loop_factory=lambda: QEventLoop(qapp)) as runner:
        runner.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize(
    ("code", "said"),
    [(-9, "memory ran out"), (-11, "SIGSEGV"), (-4, "SIGILL"), (-6, "SIGABRT"), (-99, "signal 99"), (3, "code 3")],
)
def test_exit_codes_are_told_in_words(code, said):
    assert said in explain_exit(code)


def test_windows_codes_are_told_in_words():
    assert "memory that is not its own" in explain_exit(0xC0000005 - (1 << 32) & 0xFFFFFFFF)


def test_a_signal_for_the_programs_whole_group_is_not_for_the_model(tmp_path):
    """Ctrl+C or `timeout`: the program closes its model in order, and none is said to have died."""
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x")
    script = f"import os; os.write(1, {READY})\nwhile os.read(0, 65536): pass"

    async def main():
        host = ModelHost(model, command=[sys.executable, "-c", script])
        await host.start()
        try:
            assert host.pid is not None
            assert os.getpgid(host.pid) != os.getpgid(0)
        finally:
            await host.aclose()
        assert host.status.phase is ModelPhase.READY

    run_for_a_minute(main())


HASTY = Patience(beat_s=0.1, silence_s=1, first_silence_s=20)


@pytest.mark.model
def test_a_process_that_stands_still_is_ended_said_and_started_again(chat_model):
    async def main():
        host = ModelHost(chat_model, patience=HASTY)
        try:
            _, error = await kill_while_it_streams(host, signal.SIGSTOP)
            assert "has not answered for 1 s" in str(error)
            assert "conversation is kept; your next message starts the model again." in str(error)
            assert "llama" in error.details
            assert (host.status.phase, host.pid) == (ModelPhase.FAILED, None)
            assert isinstance((await collect(host, HELLO))[-1], GenerationEnd)
        finally:
            await host.aclose()

    run_for_a_minute(main())


def test_a_process_that_does_not_stop_when_told_to_is_ended(tmp_path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x")
    deaf = f"""
import os, json, struct
os.write(1, {READY})
while head := os.read(0, 4):
    frame = json.loads(os.read(0, struct.unpack(">I", head)[0]))
    if frame["op"] == "ping":
        body = json.dumps(dict(op="pong", id=frame["id"], computing_s=0.0, cpu_s=0.0)).encode()
        os.write(1, struct.pack(">I", len(body)) + body)
"""

    async def main():
        patience = Patience(beat_s=0.05, stopping_s=0.3)
        host = ModelHost(model, command=[sys.executable, "-c", deaf], patience=patience)
        answer = asyncio.ensure_future(collect(host, HELLO))
        await host.start()
        await asyncio.sleep(0)
        host.cancel()
        with pytest.raises(ModelError, match="did not stop within"):
            await answer
        await host.aclose()

    run_for_a_minute(main())


@pytest.mark.model
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_loading_asking_and_closing_over_and_over_leaves_nothing_behind(chat_model):
    """The full count is the benchmark's (`python -m benchmarks.cycles`)."""

    async def main():
        for _ in range(5):
            host = ModelHost(chat_model)
            assert isinstance((await collect(host, HELLO))[-1], GenerationEnd)
            pid = host.pid
            await host.aclose()
            assert not is_running(pid)

    before = len(os.listdir("/proc/self/fd"))
    run_for_a_minute(main())
    assert len(os.listdir("/proc/self/fd")) <= before
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("model-host")]


def test_an_answer_left_when_it_was_over_is_no_hang(tmp_path):
    model = tmp_path / "m.gguf"
    model.write_bytes(b"x")
    prompt = f"""
import os, json, struct
def say(**frame):
    body = json.dumps(frame).encode()
    os.write(1, struct.pack(">I", len(body)) + body)
os.write(1, {READY})
while head := os.read(0, 4):
    frame = json.loads(os.read(0, struct.unpack(">I", head)[0]))
    if frame["op"] == "ping":
        say(op="pong", id=frame["id"], computing_s=0.0, cpu_s=0.0)
    elif frame["op"] == "generate":
        say(op="piece", id=frame["id"], text="Hello")
        say(op="error", id=frame["id"], kind="failed", reason="")
"""

    async def main():
        patience = Patience(beat_s=0.05, stopping_s=0.2)
        host = ModelHost(model, command=[sys.executable, "-c", prompt], patience=patience)
        answers = host.generate(HELLO)
        await anext(answers)
        while host.status.phase is not ModelPhase.READY:
            await asyncio.sleep(0.01)
        await answers.aclose()
        pid = host.pid
        with pytest.raises(ModelError):
            await collect(host, HELLO)
        await asyncio.sleep(0.5)
        assert host.pid == pid
        await host.aclose()

    run_for_a_minute(main())
