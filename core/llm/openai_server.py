"""A model that another program serves: an OpenAI-compatible server (Ollama, LM Studio, llama-server) as a `ChatModel`.

Speaks to the one address it was given, follows no redirects and uses no proxy, so that nothing leaves for elsewhere.
Tokens are estimated, for servers do not count them beforehand. While a chat is answered, background requests wait.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from core.errors import ModelError
from core.llm import server_wire
from core.llm.port import (
    ChatMessage,
    ChoiceRequest,
    ChoiceScores,
    FinishReason,
    GenerationEnd,
    GenerationPiece,
    GenerationRequest,
    Priority,
)
from core.llm.server_wire import EXTRAS, KEPT, Delta
from core.llm.thinking import ThinkFilter
from core.model import ModelPhase, ModelStatus

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)

SCHEMA_FORMS = ("json_schema", "json_object", "")  # tried in this order; what a server refuses is not tried again
TOP_TOKENS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPatience:
    """How long to wait, in seconds."""

    connect_s: float = 5.0
    first_piece_s: float = 300.0  # the server may load the model and read the whole prompt
    next_piece_s: float = 60.0


class OpenAiServer:
    """A `ChatModel` behind an address. `cancel` ends running answers as `ModelHost.cancel` does."""

    def __init__(
        self,
        address: str,
        model: str = "",
        *,
        context_tokens: int = 4096,
        patience: ServerPatience = ServerPatience(),
        on_status: Callable[[ModelStatus], None] | None = None,
    ) -> None:
        """`address` as `server_wire.read_address` returns it; `model` "" is the first one that the server has."""
        self._address, self._model, self._patience = address, model, patience
        self._on_status = on_status
        self._known: tuple[str, ...] = ()
        self._client: httpx.AsyncClient | None = None
        self._extras = True
        self._schema_forms = list(SCHEMA_FORMS)
        self._stops: set[asyncio.Event] = set()
        self._chats = 0
        self._no_chat = asyncio.Event()
        self._no_chat.set()
        self._status = ModelStatus(
            name=model or server_wire.host_of(address), phase=ModelPhase.STARTING, context_size_tokens=context_tokens
        )

    @property
    def status(self) -> ModelStatus:
        """What the model is doing, as far as its answers show."""
        return self._status

    @property
    def pid(self) -> None:
        """No process of ours holds its memory."""
        return None

    async def start(self) -> None:
        """Ask the server which models it has; raise `ModelError` if it does not answer or lacks the chosen one."""
        import httpx

        if self._client is None:
            timeout = httpx.Timeout(None, connect=self._patience.connect_s)
            self._client = httpx.AsyncClient(timeout=timeout, follow_redirects=False, trust_env=False)
        self._report(phase=ModelPhase.LOADING, detail="")
        self._known = await self._list_models()
        self._model = self._model or (self._known[0] if self._known else "")
        if self._known and self._model not in self._known and f"{self._model}:latest" not in self._known:
            raise server_wire.explain_refusal(404, "", model=self._model, where=self._address, known=self._known)
        self._report(name=self._model, phase=ModelPhase.READY, detail=f"{self._model}, served by {self._address}")

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models the server has, after `start`."""
        return self._known

    async def aclose(self) -> None:
        """End running answers and close the connections."""
        self.cancel()
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def cancel(self) -> None:
        """End all running answers; each then yields its end, with reason `cancelled`."""
        for stop in self._stops:
            stop.set()

    async def forget(self, conversation: str) -> None:
        """Nothing to do: what a server keeps of a conversation is its own affair."""

    async def count_tokens(self, messages: Sequence[ChatMessage], /) -> int:
        """Return an estimate, rather too high."""
        return server_wire.count_by_estimate(messages)

    async def generate(self, request: GenerationRequest, /) -> AsyncGenerator[GenerationPiece | GenerationEnd, None]:
        """See `ChatModel`. Closing the generator closes the connection, which stops the server."""
        stop = asyncio.Event()
        self._stops.add(stop)
        try:
            async with self._turn(request.priority), aclosing(self._answer(request, stop)) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            self._stops.discard(stop)
            self._report(phase=ModelPhase.READY)

    async def choose(self, request: ChoiceRequest, /) -> ChoiceScores:
        """See `ChatModel`; by the first token's probabilities, else by an answer that is held to the choices."""
        began_s = time.monotonic()
        async with self._turn(request.priority):
            tokens, prompt_tokens = await self._ask_first_token(request)
        scores = server_wire.score_choices(tokens, request.choices)
        if scores is None:
            scores = await self._choose_by_answer(request)
        return ChoiceScores(
            probabilities=scores,
            prompt_tokens=prompt_tokens or server_wire.count_by_estimate(request.messages),
            reused_tokens=0,
            prompt_s=time.monotonic() - began_s,
        )

    # -- an answer

    async def _answer(
        self, request: GenerationRequest, stop: asyncio.Event
    ) -> AsyncGenerator[GenerationPiece | GenerationEnd, None]:
        began_s = time.monotonic()
        first_s, pieces, finish, last = 0.0, 0, "", Delta()
        thoughts = ThinkFilter()
        self._report(phase=ModelPhase.READING)
        async with aclosing(self._stream(request, stop)) as deltas:
            async for delta in deltas:
                if not first_s and (delta.text or delta.thought):
                    first_s = time.monotonic()
                    self._report(phase=ModelPhase.WRITING)
                pieces += bool(delta.text or delta.thought)
                finish = delta.finish or finish
                last = delta if delta.new_tokens is not None else last
                for piece in _split(delta, thoughts, show=request.show_thinking):
                    yield piece
        for piece in _pieces(*thoughts.finish(), show=request.show_thinking):
            yield piece
        end = self._end(request, last, pieces, began_s, first_s or time.monotonic(), _reason(finish, stop))
        if request.priority is Priority.CHAT:
            self._report_speed(end)
        yield end

    def _end(
        self, request: GenerationRequest, last: Delta, pieces: int, began_s: float, first_s: float, reason: FinishReason
    ) -> GenerationEnd:
        prompt = last.prompt_tokens or server_wire.count_by_estimate(request.messages)
        new = pieces if last.new_tokens is None else last.new_tokens
        return GenerationEnd(
            finish_reason=reason,
            prompt_tokens=prompt,
            reused_tokens=min(last.cached_tokens, prompt),
            new_tokens=new,
            prompt_s=first_s - began_s,
            generation_s=time.monotonic() - first_s,
            context_used_tokens=prompt + new,
        )

    def _report_speed(self, end: GenerationEnd) -> None:
        speed = end.new_tokens / end.generation_s if end.new_tokens > 1 and end.generation_s > 0 else None
        self._report(
            tokens_per_s=speed,
            context_used_tokens=end.context_used_tokens,
            reused_share=end.reused_tokens / end.prompt_tokens if end.reused_tokens else None,
        )

    async def _stream(self, request: GenerationRequest, stop: asyncio.Event) -> AsyncGenerator[Delta, None]:
        """Yield events; a server that refuses an addition is asked again without it."""
        while True:
            form = self._schema_forms[0]
            body = server_wire.make_body(request, self._model, extras=self._extras, schema_form=form)
            async with self._post(body) as response:
                if response.status_code != 200:
                    text = (await response.aread()).decode("utf-8", "replace")
                    if server_wire.refuses_additions(response.status_code, text) and self._give_way(body):
                        continue
                    raise self._refusal(response.status_code, text)
                if "text/event-stream" not in response.headers.get("content-type", ""):
                    raise self._no_server(response.headers.get("content-type", ""))
                async with aclosing(self._read_events(response, stop)) as deltas:
                    async for delta in deltas:
                        yield delta
                return

    def _give_way(self, body: dict[str, Any]) -> bool:
        """Leave out what the server may have refused; False if there is nothing left to leave out."""
        if "response_format" in body and len(self._schema_forms) > 1:
            self._schema_forms.pop(0)
            return True
        if self._extras and any(key in body for key in EXTRAS):
            self._extras = False
            return True
        return False

    async def _read_events(self, response: "httpx.Response", stop: asyncio.Event) -> AsyncGenerator[Delta, None]:
        lines = response.aiter_lines()
        wait_s, finished = self._patience.first_piece_s, False
        while True:
            line = await self._next_line(lines, stop, wait_s)
            if line is None:  # stopped, or the connection is at its end
                if not finished and not stop.is_set():
                    raise ModelError(
                        f"The connection to {self._address} ended in the middle of the answer. What had come is kept."
                    )
                return
            if not line.startswith("data:"):
                continue
            data = line[5:].strip()
            if data == "[DONE]":
                return
            delta = server_wire.read_delta(data)
            finished = finished or bool(delta.finish)
            wait_s = self._patience.next_piece_s
            yield delta

    async def _next_line(self, lines: AsyncIterator[str], stop: asyncio.Event, wait_s: float) -> str | None:
        """Return the next line, None at the end or when `stop` is set; raise `ModelError` if nothing comes."""
        import httpx

        reading = asyncio.ensure_future(anext(lines, None))
        stopping = asyncio.ensure_future(stop.wait())
        try:
            done, _ = await asyncio.wait({reading, stopping}, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise ModelError(
                    f"The server at {self._address} sent nothing for {wait_s:.0f} s, so its answer was ended. What "
                    "had come is kept; try again."
                )
            return reading.result() if reading in done else None
        except httpx.HTTPError as error:
            raise ModelError(
                f"The connection to {self._address} ended in the middle of the answer. What had come is kept."
            ) from error
        finally:
            for task in (reading, stopping):
                task.cancel()
            await asyncio.wait({reading, stopping})

    # -- a choice

    async def _ask_first_token(self, request: ChoiceRequest) -> tuple[dict[str, float], int]:
        body = {
            "model": self._model,
            "messages": [{"role": m.role, "content": m.text} for m in request.messages],
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": TOP_TOKENS,
        }
        async with self._post(body) as response:
            if response.status_code != 200:
                text = (await response.aread()).decode("utf-8", "replace")
                if server_wire.refuses_additions(response.status_code, text):  # probabilities are not known here
                    return {}, 0
                raise self._refusal(response.status_code, text)
            try:
                async with asyncio.timeout(self._patience.first_piece_s):
                    data = json.loads(await response.aread())
                return server_wire.read_top_tokens(data), int((data.get("usage") or {}).get("prompt_tokens") or 0)
            except (ValueError, TypeError, AttributeError, KeyError, IndexError) as error:
                raise self._no_server(response.headers.get("content-type", "")) from error
            except TimeoutError as error:
                raise ModelError(f"The server at {self._address} did not answer in time. {KEPT}") from error

    async def _choose_by_answer(self, request: ChoiceRequest) -> tuple[float, ...]:
        schema = json.dumps({"type": "string", "enum": list(request.choices)})
        asked = GenerationRequest(
            messages=request.messages, max_tokens=24, temperature=0.0, json_schema=schema, priority=request.priority
        )
        text = ""
        async with aclosing(self.generate(asked)) as pieces:
            async for piece in pieces:
                text += piece.text if isinstance(piece, GenerationPiece) else ""
        said = text.strip().strip("\"'` .").lower()
        fitting = [i for i, choice in enumerate(request.choices) if said == choice.lower()]
        fitting = fitting or [i for i, choice in enumerate(request.choices) if said.startswith(choice.lower())]
        if not fitting:
            return tuple(1 / len(request.choices) for _ in request.choices)
        rest = 0.1 / (len(request.choices) - 1)  # an answer without its probability is no certainty
        return tuple(0.9 if i == fitting[0] else rest for i in range(len(request.choices)))

    # -- the connection

    async def _list_models(self) -> tuple[str, ...]:
        import httpx

        assert self._client is not None
        try:
            response = await self._client.get(f"{self._address}/models", timeout=self._patience.connect_s)
        except httpx.HTTPError as error:
            raise self._unreachable() from error
        if response.status_code != 200:
            raise server_wire.explain_refusal(
                response.status_code, response.text, model=self._model, where=self._address, known=()
            )
        try:
            return server_wire.read_models(response.json())
        except ValueError as error:
            raise self._no_server(response.headers.get("content-type", "")) from error

    @asynccontextmanager
    async def _post(self, body: dict[str, Any]) -> AsyncIterator["httpx.Response"]:
        import httpx

        if self._client is None:
            raise ModelError("The connection to the model server has been closed.")
        try:
            async with self._client.stream("POST", f"{self._address}/chat/completions", json=body) as response:
                yield response
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unreachable() from error
        except httpx.HTTPError as error:
            raise ModelError(f"The connection to {self._address} broke off ({type(error).__name__}). {KEPT}") from error

    def _refusal(self, status: int, text: str) -> ModelError:
        return server_wire.explain_refusal(status, text, model=self._model, where=self._address, known=self._known)

    def _unreachable(self) -> ModelError:
        return ModelError(
            f"Nothing answers at {self._address}. Start the program that serves the model there, or choose a model of "
            f"your own under Models. {KEPT}"
        )

    def _no_server(self, kind: str) -> ModelError:
        return ModelError(
            f"What answers at {self._address} is no model server: it sent {kind or 'something else'}. Correct the "
            f"address under Models. {KEPT}"
        )

    @asynccontextmanager
    async def _turn(self, priority: Priority) -> AsyncIterator[None]:
        """Let background work wait while a chat is answered."""
        if priority is Priority.BACKGROUND:
            await self._no_chat.wait()
            yield
            return
        self._chats += 1
        self._no_chat.clear()
        try:
            yield
        finally:
            self._chats -= 1
            if not self._chats:
                self._no_chat.set()

    def _report(self, **changes: Any) -> None:
        self._status = replace(self._status, **changes)
        if self._on_status is not None:
            self._on_status(self._status)


def _split(delta: Delta, thoughts: ThinkFilter, *, show: bool) -> list[GenerationPiece]:
    pieces = _pieces("", delta.thought, show=show)
    return pieces + _pieces(*thoughts.feed(delta.text), show=show) if delta.text else pieces


def _pieces(answer: str, thought: str, *, show: bool) -> list[GenerationPiece]:
    pieces = [GenerationPiece(thought, thought=True)] if thought and show else []
    return pieces + ([GenerationPiece(answer)] if answer else [])


def _reason(finish: str, stop: asyncio.Event) -> FinishReason:
    if stop.is_set():
        return "cancelled"
    return "length" if finish == "length" else "stop"
