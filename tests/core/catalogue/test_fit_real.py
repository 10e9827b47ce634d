"""The estimate against the memory that the real model process takes, which reads a page."""

import asyncio
import sys
from pathlib import Path

import pytest

from core.catalogue.facts import read_facts
from core.catalogue.fit import estimate_bytes
from core.llm.host import ModelHost
from core.llm.port import ChatMessage, GenerationRequest

pytestmark = [
    pytest.mark.model,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc"),
]


def read_resident_bytes(pid):
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024


async def measure(model, context_tokens):
    host = ModelHost(model, context_tokens=context_tokens)
    try:
        text = "The keeper counted the ships that passed. " * 30
        request = GenerationRequest(messages=(ChatMessage("user", text),), max_tokens=2)
        async for _ in host.generate(request):
            pass
        return read_resident_bytes(host.pid)
    finally:
        await host.aclose()


@pytest.mark.parametrize("context_tokens", [512, 2048, 8192])
def test_the_estimate_is_within_a_quarter_of_the_resident_memory(chat_model, context_tokens):
    taken = asyncio.run(asyncio.wait_for(measure(chat_model, context_tokens), 90))
    estimate = estimate_bytes(read_facts(chat_model), context_tokens)
    assert taken * 0.75 <= estimate <= taken * 1.25
