"""What the commands of keepsake-jobs share."""

import asyncio
import os
import signal
import sys

import pytest

from core.commands.terminal import catch_signals


class LoopWithoutHandlers(asyncio.SelectorEventLoop):
    """As those of Windows are."""

    def add_signal_handler(self, *_args: object) -> None:
        raise NotImplementedError


@pytest.mark.skipif(sys.platform == "win32", reason="loops have no signal handlers there")
def test_a_signal_stops_a_command_in_its_own_time() -> None:
    async def run() -> bool:
        stop = catch_signals(signal.SIGINT, signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        return await asyncio.wait_for(stop.wait(), 10)

    assert asyncio.run(run())


def test_a_command_runs_where_loops_have_no_signal_handlers() -> None:
    async def run() -> bool:
        return catch_signals(signal.SIGINT).is_set()

    with asyncio.Runner(loop_factory=LoopWithoutHandlers) as runner:
        assert runner.run(run()) is False
