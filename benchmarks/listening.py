"""What the benchmarks of the model host take from one answer: when its words came, what they were, how it ended."""

import time
from contextlib import aclosing
from dataclasses import dataclass

from core.llm.host import ModelHost
from core.llm.port import GenerationEnd, GenerationPiece, GenerationRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One answer; times count from when it was asked for."""

    text: str
    first_s: float  # until the first words; 0 where there were none
    whole_s: float
    end: GenerationEnd


async def hear(host: ModelHost, request: GenerationRequest) -> Heard:
    """Ask, and take what comes."""
    started, first_s, text = time.perf_counter(), 0.0, ""
    async with aclosing(host.generate(request)) as answers:
        async for answer in answers:
            whole_s = time.perf_counter() - started
            if isinstance(answer, GenerationPiece):
                first_s = first_s or whole_s
                text += answer.text
    assert isinstance(answer, GenerationEnd)
    return Heard(text=text, first_s=first_s, whole_s=whole_s, end=answer)
