"""What the model process says of an answer that is being written: its words, or that it thinks, in few frames.

Each frame wakes the program, which costs the computation a moment. Light: the worker imports it before the model loads.
"""

import time
from collections.abc import Callable
from typing import Protocol

EVERY_S = 0.05  # eyes see no difference
_LONG_AGO = float("-inf")


class Send(Protocol):
    """Writes a frame."""

    def __call__(self, **frame: object) -> None: ...


class Pieces:
    """Words on their way: the first ones go at once, later ones in bundles. Of a thought that nobody reads only the
    sign that it lasts goes, as often."""

    def __init__(
        self, send: Send, number: int, *, show_thinking: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`send` gets the frames of request `number`; `show_thinking`: the words of thoughts are sent as such."""
        self._send, self._number, self._show_thinking, self._clock = send, number, show_thinking, clock
        self._waiting = ""
        self._thought = False
        self._sent_s = _LONG_AGO
        self._told_s = _LONG_AGO  # that it thinks

    def add(self, text: str, *, thought: bool) -> None:
        """Send some words now or with the next ones."""
        if thought is not self._thought:
            self.flush()
            self._thought = thought
        if thought and not self._show_thinking:
            self._tell()
            return
        self._waiting += text
        if self._clock() - self._sent_s >= EVERY_S:
            self.flush()

    def flush(self) -> None:
        """Send what waits."""
        if self._waiting:
            self._send(op="piece", id=self._number, text=self._waiting, thought=self._thought)
            self._waiting, self._sent_s = "", self._clock()

    def _tell(self) -> None:
        if self._clock() - self._told_s >= EVERY_S:
            self._send(op="thinking", id=self._number)
            self._told_s = self._clock()
