"""The chat's model: found, hosted, asked.

The slot is there before the model is: a question waits for a model that is still loading, and
where there is none the answer is a sentence that says so.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from pathlib import Path

from core.catalogue.choice import ChosenModel, ModelChoice
from core.catalogue.loading import check_load
from core.config import ModelSettings
from core.errors import CoreError, ModelError
from core.llm.host import ModelHost
from core.llm.openai_server import OpenAiServer
from core.llm.port import (
    ChatMessage,
    ChoiceRequest,
    ChoiceScores,
    GenerationEnd,
    GenerationPiece,
    GenerationRequest,
)
from core.llm.server_wire import read_address
from core.llm.state_files import forget_files
from core.model import ModelPhase, ModelStatus, SessionId
from core.model_files import Sampling
from core.sessions.budget import share_context
from core.sessions.context import Prompt, Sources, build_prompt
from core.sessions.presets import default_sampling
from core.sessions.replies import Answer

SHRINK = 0.8  # of the messages' share, when the tokenizer counts more than the estimate did
MIN_SCALE = 0.05

Gather = Callable[[SessionId], Awaitable[Sources]]  # what a conversation's next prompt is made of


class ChatModelSlot:
    """Owns the model host of a process. For whoever works in the background it is a `ChatModel` itself."""

    def __init__(
        self,
        resources: Path,
        models_folder: Path,
        settings: ModelSettings,
        *,
        pool: Executor,
        on_status: Callable[[], None],
        states: Path | None = None,
        find: Callable[[], ChosenModel | None] | None = None,
        served: bool = False,
    ) -> None:
        """`states` is where the last conversations' prefixes are kept (`core.llm.state_files`); None: nowhere.

        `find` returns the model to load, off the loop; by default the first listed one that is there. `served`: a
        server that the settings name is asked instead.
        """
        self._pool = pool
        self._models_folder = models_folder
        self._settings = settings
        self._on_status = on_status
        self._states = states
        self._find = find or ModelChoice(resources, models_folder.parent, models_folder, settings).find_chat
        self._context_tokens = settings.context_tokens
        self._served = served
        self._host: ModelHost | OpenAiServer | None = None
        self.loaded: ChosenModel | None = None  # or loading, or failed
        self._loading: asyncio.Task[None] | None = None
        self.status = ModelStatus(name="", phase=ModelPhase.STARTING, detail="The model has not been started yet.")

    @property
    def holds_memory(self) -> bool:
        """Whether the model's process runs."""
        return self._host is not None and self._host.pid is not None

    @property
    def was_started(self) -> bool:
        """Whether the model was asked for already, or is to be loaded without being asked."""
        return self._loading is not None

    def start(self) -> None:
        """Begin to load the model; returns at once."""
        if self._loading is None or self._loading.done():
            self._loading = asyncio.get_running_loop().create_task(self._load())

    async def aclose(self) -> None:
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.wait([self._loading])
        if self._host is not None:
            await self._host.aclose()

    async def switch(self, context_tokens: int | None = None) -> None:
        """Close the model and, if it was started, load what is chosen now; a running answer ends and is kept."""
        if context_tokens is not None:
            self._context_tokens = context_tokens
        loading, host = self._loading, self._host
        self._loading = self._host = None
        if loading is not None and not loading.done():
            loading.cancel()
            await asyncio.wait([loading])
        if host is not None:
            host.cancel()
            await host.aclose()
        if loading is not None:
            self.start()

    async def ask(self, session_id: SessionId, gather: Gather, sampling: Sampling | None = None) -> Answer:
        """Start the answer to a conversation's newest message. Raises `ModelError` in words."""
        host = await self._wait_for_host()
        prompt = await self._fit(host, await gather(session_id))
        values = sampling or default_sampling(self._settings)
        request = GenerationRequest(messages=prompt.messages, conversation=session_id, **asdict(values))
        return Answer(pieces=host.generate(request), model=self.status.name, note=prompt.note, prompt=prompt)

    async def generate(self, request: GenerationRequest, /) -> AsyncGenerator[GenerationPiece | GenerationEnd, None]:
        """See `ChatModel`; waits for a model that still loads."""
        host = await self._wait_for_host()
        async with aclosing(host.generate(request)) as answers:
            async for answer in answers:
                yield answer

    async def choose(self, request: ChoiceRequest, /) -> ChoiceScores:
        """See `ChatModel`; waits for a model that still loads."""
        return await (await self._wait_for_host()).choose(request)

    async def count_tokens(self, messages: Sequence[ChatMessage], /) -> int:
        """See `ChatModel`; waits for a model that still loads."""
        return await (await self._wait_for_host()).count_tokens(messages)

    async def forget(self, conversation: SessionId) -> None:
        """Drop what the model has read of a conversation: it was deleted, or a message in it edited or deleted."""
        if self._host is not None:
            await self._host.forget(conversation)
        elif self._states is not None:
            await asyncio.get_running_loop().run_in_executor(self._pool, forget_files, self._states, conversation)

    async def _fit(self, host: ModelHost | OpenAiServer, sources: Sources) -> Prompt:
        """Build the prompt and shrink it until the model's own tokenizer agrees that it fits."""
        size = min(self._context_tokens, self.status.context_size_tokens or self._context_tokens)
        room = size - share_context(size).reserve
        scale = 1.0
        while True:
            prompt = await asyncio.get_running_loop().run_in_executor(
                self._pool, partial(build_prompt, sources, size, scale=scale)
            )
            if await host.count_tokens(prompt.messages) <= room or scale < MIN_SCALE:
                return prompt
            scale *= SHRINK

    async def _wait_for_host(self) -> ModelHost | OpenAiServer:
        while self._host is None:
            self.start()
            loading = self._loading
            assert loading is not None
            await asyncio.wait([loading])
            if self._host is None and loading is self._loading:  # else another model was chosen meanwhile
                raise ModelError(self.status.detail)
        return self._host

    async def _load(self) -> None:
        if self._served and self._settings.server_address:
            self.loaded = None
            await self._connect()
            return
        loop = asyncio.get_running_loop()
        found = self.loaded = await loop.run_in_executor(self._pool, self._find)
        if found is None:
            self._set(
                ModelStatus(
                    name="no model",
                    phase=ModelPhase.ABSENT,
                    detail="No chat model was found. Your messages are kept; put a GGUF file into "
                    f"{self._models_folder} or run the set-up again, then restart Keepsake.",
                )
            )
            return
        host = ModelHost(
            found.path,
            name=found.name,
            context_tokens=self._context_tokens,
            threads=self._settings.threads,
            batch_threads=self._settings.prompt_threads,
            states=self._states,
            idle_s=self._settings.unload_after_minutes * 60 if self._settings.unload_after_minutes else None,
            check_file=partial(
                check_load, context_tokens=self._context_tokens, memory_check=self._settings.memory_check
            ),
            on_status=self._set,
        )
        try:
            await host.start()
        except asyncio.CancelledError:  # closed while it loads
            await host.aclose()
            raise
        except CoreError as error:
            self._set(ModelStatus(name=found.name, phase=ModelPhase.FAILED, detail=str(error)))
            return
        self._host = host

    async def _connect(self) -> None:
        """Ask a server instead of loading a model; where it does not answer, the next question tries again."""
        settings, server = self._settings, None
        try:
            server = OpenAiServer(
                read_address(settings.server_address, settings.server_allowed_host),
                settings.server_model,
                context_tokens=self._context_tokens,
                on_status=self._set,
            )
            await server.start()
        except (CoreError, asyncio.CancelledError) as error:
            if server is not None:
                await server.aclose()
            if isinstance(error, asyncio.CancelledError):  # closed while it connects
                raise
            name = settings.server_model or settings.server_address
            self._set(ModelStatus(name=name, phase=ModelPhase.FAILED, detail=str(error)))
            return
        self._host = server

    def _set(self, status: ModelStatus) -> None:
        self.status = status
        self._on_status()
