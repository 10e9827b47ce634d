"""Models of other programs: against a real HTTP server with the bundled model, and against servers that misbehave."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.errors import ModelError, SettingsError
from core.llm.openai_server import OpenAiServer, ServerPatience
from core.llm.port import ChatMessage, ChoiceRequest, GenerationEnd, GenerationPiece, GenerationRequest, Priority
from core.llm.server_wire import read_address, score_choices
from core.model import ModelPhase, ModelStatus

ROOT = Path(__file__).resolve().parents[3]
MODEL = ROOT / "resources" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
HELLO = (ChatMessage("user", "Say hello."),)
needs_model = pytest.mark.skipif(not MODEL.exists(), reason="the bundled model is not there (set-up fetches it)")


def run(work: Awaitable[None]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work, 90)

    asyncio.run(limited())


async def collect(server: OpenAiServer, request: GenerationRequest) -> tuple[str, GenerationEnd]:
    text, end = "", None
    async with aclosing(server.generate(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, GenerationPiece):
                text += piece.text
            else:
                end = piece
    assert end is not None
    return text, end


# -- with the bundled model


def serve(*arguments: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.core.llm.model_server", str(MODEL), *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        yield f"http://127.0.0.1:{port}/v1"
        process.kill()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server that knows schemas and probabilities."""
    yield from serve()


@pytest.fixture(scope="module")
def plain_address() -> Iterator[str]:
    """A server that refuses all that is not in the common form."""
    yield from serve("PLAIN")


@pytest.fixture(scope="module")
def library_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """llama-cpp-python's own server."""
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "sse_starlette", "starlette_context")):
        pytest.skip("llama-cpp-python[server] is not installed")
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(MODEL), "--model_alias", "bundled", "--port",
               str(port), "--n_ctx", "2048", "--logits_all", "true"]  # fmt: skip
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, env=os.environ) as process:
        yield f"http://127.0.0.1:{port}/v1"
        process.kill()


async def wait_until_up(server: OpenAiServer) -> None:
    for _ in range(300):
        try:
            await server.start()
        except ModelError:
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError("the server did not come up")


@needs_model
@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("kind", ["address", "plain_address", "library_address"])
def test_a_real_server_answers_is_stopped_and_answers_again(kind: str, request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue(kind)

    async def check() -> None:
        seen: list[ModelStatus] = []
        server = OpenAiServer(address, on_status=seen.append)
        await wait_until_up(server)
        assert server.status.name == "bundled"
        asked = GenerationRequest(messages=HELLO, max_tokens=16, temperature=0.0)
        text, end = await collect(server, asked)
        assert text.strip()
        assert 0 < end.new_tokens <= 17
        assert {status.phase for status in seen} >= {ModelPhase.READING, ModelPhase.WRITING, ModelPhase.READY}
        assert server.status.tokens_per_s
        assert server.status.context_used_tokens > end.new_tokens

        long = GenerationRequest(messages=(ChatMessage("user", "Write a long story."),), max_tokens=400)
        async with aclosing(server.generate(long)) as pieces:
            async for _ in pieces:
                break
        assert (await collect(server, asked))[0] == text
        await server.aclose()

    run(check())


@needs_model
@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("kind", ["address", "plain_address", "library_address"])
def test_a_real_server_chooses_and_keeps_to_a_schema_where_it_can(kind: str, request: pytest.FixtureRequest) -> None:
    address = request.getfixturevalue(kind)

    async def check() -> None:
        server = OpenAiServer(address)
        await wait_until_up(server)
        said = []
        for word in ("Yes", "No"):
            messages = (ChatMessage("user", f"Repeat exactly this one word: {word}"),)
            scores = await server.choose(ChoiceRequest(messages=messages, choices=("Yes", "No")))
            assert sum(scores.probabilities) == pytest.approx(1)
            said.append(scores.probabilities[0])
        if kind != "plain_address":
            assert said[0] > said[1]
            schema = {"type": "object", "properties": {"sky": {"enum": ["blue", "green"]}}, "required": ["sky"]}
            text, _ = await collect(
                server, GenerationRequest(messages=HELLO, max_tokens=40, json_schema=json.dumps(schema))
            )
            assert json.loads(text)["sky"] in ("blue", "green")
        await server.aclose()

    run(check())


# -- servers that misbehave, by script


@asynccontextmanager
async def scripted(answer: Callable[[asyncio.StreamWriter, str], Awaitable[None]]) -> AsyncIterator[str]:
    """A server that answers each request as a script says; the script gets the request's first line and body."""

    serving: set[asyncio.Task[None]] = set()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lengths = [line.split(":")[1] for line in head.splitlines() if line.lower().startswith("content-length")]
        body = (await reader.readexactly(int(lengths[0]))).decode() if lengths else ""
        if head.startswith("GET"):
            await reply(writer, 200, json.dumps({"data": [{"id": "llama"}, {"id": "qwen"}]}))
        else:
            await answer(writer, body)
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.wait(serving)


async def reply(writer: asyncio.StreamWriter, status: int, text: str, kind: str = "application/json") -> None:
    data = text.encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(data)}\r\nconnection: close\r\n\r\n"
    writer.write(head.encode() + data)
    await writer.drain()


async def begin(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
    await writer.drain()


async def send(writer: asyncio.StreamWriter, text: str = "", finish: str | None = None, **delta: str) -> None:
    event = {"choices": [{"delta": {"content": text, **delta}, "finish_reason": finish}]}
    writer.write(f"data: {json.dumps(event)}\n\n".encode())
    await writer.drain()


async def fails(answer: Callable[[asyncio.StreamWriter, str], Awaitable[None]], model: str = "llama") -> str:
    """Return why a request to a scripted server fails."""
    async with scripted(answer) as address:
        server = OpenAiServer(address, model, patience=ServerPatience(first_piece_s=0.3, next_piece_s=0.2))
        await server.start()
        with pytest.raises(ModelError) as caught:
            await collect(server, GenerationRequest(messages=HELLO))
        await server.aclose()
        assert server.status.phase is ModelPhase.READY
        return str(caught.value)


def test_each_failure_is_a_sentence_of_its_own() -> None:
    async def missing(writer: asyncio.StreamWriter, _body: str) -> None:
        await reply(writer, 404, json.dumps({"error": {"message": "no such model"}}))

    async def html(writer: asyncio.StreamWriter, _body: str) -> None:
        await reply(writer, 200, "<html>Welcome to the router</html>", "text/html")

    async def stalls(writer: asyncio.StreamWriter, _body: str) -> None:
        await begin(writer)
        await send(writer, "one")
        await asyncio.sleep(1)

    async def cuts(writer: asyncio.StreamWriter, _body: str) -> None:
        await begin(writer)
        await send(writer, "one")

    async def nonsense(writer: asyncio.StreamWriter, _body: str) -> None:
        await begin(writer)
        writer.write(b"data: {not json\n\n")
        await writer.drain()

    async def fails_inside(writer: asyncio.StreamWriter, _body: str) -> None:
        await begin(writer)
        writer.write(b'data: {"error": {"message": "out of memory"}}\n\n')
        await writer.drain()

    async def too_long(writer: asyncio.StreamWriter, _body: str) -> None:
        await reply(writer, 400, json.dumps({"error": {"message": "the request exceeds the available context size"}}))

    async def wants_key(writer: asyncio.StreamWriter, _body: str) -> None:
        await reply(writer, 401, "{}")

    async def redirects(writer: asyncio.StreamWriter, _body: str) -> None:
        writer.write(
            b"HTTP/1.1 302 X\r\nlocation: http://example.org/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        await writer.drain()

    expected = {
        missing: "does not have the model “llama”. It has llama, qwen.",
        html: "is no model server: it sent text/html",
        stalls: "sent nothing for 0 s",
        cuts: "ended in the middle of the answer. What had come is kept",
        nonsense: "sent something that is no answer",
        fails_inside: "says: out of memory",
        too_long: "too long for the model (the request exceeds the available context size)",
        wants_key: "wants a key",
        redirects: "sends elsewhere",
    }

    async def check() -> None:
        said = [await fails(answer) for answer in expected]
        for text, part in zip(said, expected.values(), strict=True):
            assert part in text
        assert len(set(said)) == len(expected)

    run(check())


def test_no_server_and_a_model_it_lacks_are_told_at_the_start() -> None:
    async def check() -> None:
        server = OpenAiServer("http://127.0.0.1:9/v1")
        with pytest.raises(ModelError, match="Nothing answers at http://127"):
            await server.start()
        await server.aclose()

        async def never(_writer: asyncio.StreamWriter, _body: str) -> None: ...

        async with scripted(never) as address:
            server = OpenAiServer(address, "mistral")
            with pytest.raises(ModelError, match="does not have the model “mistral”"):
                await server.start()
            await server.aclose()

    run(check())


def test_what_a_server_refuses_is_left_out_and_not_tried_again() -> None:
    bodies: list[dict[str, object]] = []

    async def strict(writer: asyncio.StreamWriter, body: str) -> None:
        asked = json.loads(body)
        bodies.append(asked)
        if {"top_k", "response_format"} & set(asked):
            await reply(writer, 422, "{}")
            return
        await begin(writer)
        await send(writer, "fine", "stop")

    async def check() -> None:
        async with scripted(strict) as address:
            server = OpenAiServer(address)
            await server.start()
            asked = GenerationRequest(messages=HELLO, json_schema='{"type": "string"}')
            assert (await collect(server, asked))[0] == "fine"
            tried = len(bodies)
            await collect(server, asked)
            assert len(bodies) == tried + 1
            await server.aclose()

    run(check())


def test_thinking_never_becomes_part_of_the_answer() -> None:
    async def thinks(writer: asyncio.StreamWriter, _body: str) -> None:
        await begin(writer)
        await send(writer, reasoning_content="hm")
        await send(writer, "<thi")
        await send(writer, "nk>secret</think>The ")
        await send(writer, "answer", "stop")

    async def check() -> None:
        async with scripted(thinks) as address:
            server = OpenAiServer(address)
            await server.start()
            text, end = await collect(server, GenerationRequest(messages=HELLO))
            assert (text, end.finish_reason) == ("The answer", "stop")
            shown = [p async for p in server.generate(GenerationRequest(messages=HELLO, show_thinking=True))]
            assert "".join(p.text for p in shown if isinstance(p, GenerationPiece) and p.thought) == "hmsecret"
            await server.aclose()

    run(check())


def test_cancel_ends_a_running_answer_which_keeps_what_came() -> None:
    async def endless(writer: asyncio.StreamWriter, _body: str) -> None:
        await begin(writer)
        while True:
            await send(writer, "on and ")
            await asyncio.sleep(0.01)

    async def check() -> None:
        async with scripted(endless) as address:
            server = OpenAiServer(address)
            await server.start()
            pieces = []
            async for piece in server.generate(GenerationRequest(messages=HELLO)):
                pieces.append(piece)
                if len(pieces) == 3:
                    server.cancel()
            assert isinstance(pieces[-1], GenerationEnd)
            assert pieces[-1].finish_reason == "cancelled"
            await server.aclose()

    run(check())


def test_background_requests_wait_while_a_chat_is_answered() -> None:
    order: list[str] = []

    async def slow(writer: asyncio.StreamWriter, body: str) -> None:
        name = json.loads(body)["messages"][0]["content"]
        order.append(f"{name} begins")
        await begin(writer)
        await send(writer, "a")
        await asyncio.sleep(0.1)
        order.append(f"{name} ends")
        await send(writer, "b", "stop")

    async def check() -> None:
        async with scripted(slow) as address:
            server = OpenAiServer(address)
            await server.start()
            chat = GenerationRequest(messages=(ChatMessage("user", "chat"),))
            work = GenerationRequest(messages=(ChatMessage("user", "work"),), priority=Priority.BACKGROUND)
            first = asyncio.create_task(collect(server, chat))
            while "chat begins" not in order:
                await asyncio.sleep(0.01)
            await asyncio.gather(first, collect(server, work))
            assert order == ["chat begins", "chat ends", "work begins", "work ends"]
            await server.aclose()

    run(check())


# -- addresses and probabilities


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
        (" http://localhost:1234/v1/ ", "http://localhost:1234/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
        ("http://127.8.8.8/openai/v1", "http://127.8.8.8/openai/v1"),
    ],
)
def test_addresses_of_this_computer_are_taken(text: str, address: str) -> None:
    assert read_address(text) == address


@pytest.mark.parametrize(
    "text",
    ["http://192.168.1.5:11434", "https://api.example.org/v1", "http://localhost.example.org", "http://0.0.0.0:1"],
)
def test_another_computer_is_refused_by_name_until_it_is_allowed(text: str) -> None:
    from core.llm.server_wire import host_of

    with pytest.raises(SettingsError, match=host_of(text)):
        read_address(text)
    with pytest.raises(SettingsError):
        read_address(text, "other.example.org")
    assert read_address(text, host_of(text)).startswith(text.rstrip("/"))


@pytest.mark.parametrize(
    "text", ["", "ftp://127.0.0.1", "http://", "http://user:pw@127.0.0.1", "http://127.0.0.1:port"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="no address"):
        read_address(text)


def test_choices_are_scored_by_the_tokens_that_begin_them() -> None:
    scores = score_choices({" Yes": -0.1, "No": -2.5, "maybe": -3.0}, ("Yes", "No"))
    assert scores is not None
    assert scores[0] > 0.9
    assert sum(scores) == pytest.approx(1)
    assert score_choices({"maybe": -0.1}, ("Yes", "No")) is None
    shared = score_choices({"1": -0.1}, ("10", "11"))
    assert shared == (0.5, 0.5)
