"""The client of an embedding model in a process of its own. Blocking: for the thread that embeds.

Relies on `core.llm.embedding_worker` at the other end. The process starts at the first text, and again if it died; it
ends when this program does, for its stdin ends then.
"""

import base64
import contextlib
import itertools
import logging
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from core.errors import CoreError
from core.llm.frames import Frame, FrameError, read_frame, write_frame
from core.llm.process import default_command, explain_exit

log = logging.getLogger(__name__)

KEPT_LINES = 30
STOP_S = 2.0


class EmbeddingProcessError(CoreError):
    """The embedding model cannot load or died; search goes on by words."""


class EmbeddingHost:
    """A process with one embedding model. Thread-safe: one request after the other."""

    def __init__(self, path: Path, *, threads: int = 1) -> None:
        self._path, self._threads = path.absolute(), threads
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._numbers = itertools.count(1)
        self._dimension = 0
        self._closed = False

    @property
    def dimension(self) -> int:
        """Numbers in a vector; loads the model."""
        with self._lock:
            if not self._dimension:
                self._start()
            return self._dimension

    @property
    def pid(self) -> int | None:
        """The id of the process, if one runs."""
        return self._child.pid if self._child is not None else None

    def embed(self, texts: Sequence[str], /) -> list[bytes]:
        """Return a vector of length 1 for each text, as little-endian float32. Raises `EmbeddingProcessError`."""
        with self._lock:
            if self._child is None:
                self._start()
            answer = self._ask({"op": "embed", "id": next(self._numbers), "texts": list(texts)})
            return [base64.b64decode(vector) for vector in answer["vectors"]]

    def close(self) -> None:
        """End the process; what is asked afterwards fails."""
        self._closed = True
        if self._child is not None:
            self._end(self._child)

    @staticmethod
    def _end(child: "subprocess.Popen[bytes]") -> int:
        """Wait for the process to end, which the end of its stdin tells it to; return its code."""
        assert child.stdin is not None
        assert child.stdout is not None
        with contextlib.suppress(OSError):
            child.stdin.close()
        try:
            code = child.wait(STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            code = child.wait()
        with contextlib.suppress(OSError, ValueError):  # another thread may be reading
            child.stdout.close()
        return code

    def _start(self) -> None:
        if self._closed:
            raise EmbeddingProcessError("The embedding model has been closed.")
        frozen = getattr(sys, "frozen", False)
        try:
            self._child = subprocess.Popen(
                default_command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=None if frozen else Path(__file__).resolve().parent.parent.parent,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                start_new_session=True,
            )
        except OSError as error:
            raise EmbeddingProcessError(
                self._explain(f"its process cannot start: {error.strerror or error}")
            ) from error
        threading.Thread(target=self._collect, args=(self._child,), name="embedding-log", daemon=True).start()
        frame = self._ask({"op": "load_embedding", "model": str(self._path), "threads": self._threads})
        self._dimension = frame["dimension"]

    def _ask(self, frame: Frame) -> Frame:
        child = self._child
        assert child is not None
        assert child.stdin is not None
        assert child.stdout is not None
        answer: Frame | None = None
        try:
            write_frame(child.stdin, frame)
            answer = read_frame(child.stdout)
        except (OSError, FrameError, ValueError):
            child.kill()  # what is not understood is not asked again
        if answer is None:
            self._child = None
            log.error("the embedding process ended:\n%s", "\n".join(self._lines))
            reason = f"its process stopped: {explain_exit(self._end(child))}"
            raise EmbeddingProcessError(self._explain(reason))
        if answer["op"] == "failed":
            self._child = None
            self._end(child)
            raise EmbeddingProcessError(self._explain(str(answer["reason"])))
        return answer

    def _explain(self, reason: str) -> str:
        return (
            f"Search by meaning is off: the embedding model {self._path.name} cannot be used ({reason}). Search by "
            "words works as before. Choose another embedding model, or the built-in one."
        )

    def _collect(self, child: "subprocess.Popen[bytes]") -> None:
        assert child.stderr is not None
        with child.stderr as lines:
            for line in lines:
                self._lines.append(line.decode("utf-8", "replace").rstrip())
