"""A real HTTP server on this machine that serves one file, well or badly. Threaded; one behaviour a request."""

import http.server
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

Behaviour = Callable[["Handler"], None]


@dataclass
class Plan:
    """What is served, how, and what was asked for."""

    data: bytes
    etag: str = '"one"'
    behaviours: list[Behaviour] = field(default_factory=list)  # one a request; then `serve_range`
    ranges: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)  # ends stalls


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    plan: Plan

    def do_GET(self) -> None:
        self.plan.ranges.append(self.headers.get("Range"))
        self.plan.paths.append(self.path)
        behaviour = self.plan.behaviours.pop(0) if self.plan.behaviours else serve_range
        self.close_connection = True
        try:
            behaviour(self)
        except OSError:
            pass  # the client has gone

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def head(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()


def serve_range(h: Handler, *, limit: int | None = None) -> None:
    """Answer as a good server does: a range if it is asked for and of the same version."""
    plan = h.plan
    match = re.fullmatch(r"bytes=(\d+)-", h.headers.get("Range", ""))
    same = h.headers.get("If-Range") in {None, plan.etag}
    start = int(match[1]) if match and same else 0
    if match and same and start >= len(plan.data):
        h.head(416, Content_Length=0, Content_Range=f"bytes */{len(plan.data)}")
        return
    body = plan.data[start:]
    extra = {"Content_Range": f"bytes {start}-{len(plan.data) - 1}/{len(plan.data)}"} if match and same else {}
    h.head(206 if extra else 200, Content_Length=len(body), ETag=plan.etag, **extra)
    h.wfile.write(body if limit is None else body[:limit])


def ignore_ranges(h: Handler) -> None:
    h.head(200, Content_Length=len(h.plan.data), ETag=h.plan.etag)
    h.wfile.write(h.plan.data)


def break_after(count: int) -> Behaviour:
    return lambda h: serve_range(h, limit=count)


def stall_after(count: int) -> Behaviour:
    def stall(h: Handler) -> None:
        serve_range(h, limit=count)
        h.wfile.flush()
        h.plan.gate.wait(20)

    return stall


def drip(count: int, pause_s: float) -> Behaviour:
    """Send in pieces, so that there is time to stop."""

    def send(h: Handler) -> None:
        h.head(200, Content_Length=len(h.plan.data), ETag=h.plan.etag)
        for at in range(0, len(h.plan.data), count):
            h.wfile.write(h.plan.data[at : at + count])
            h.wfile.flush()
            if h.plan.gate.wait(pause_s):
                return

    return send


def announce(length: int) -> Behaviour:
    """Tell another length than the file has."""

    def send(h: Handler) -> None:
        h.head(200, Content_Length=length)
        h.wfile.write(h.plan.data)

    return send


def send_without_length(data: bytes) -> Behaviour:
    def send(h: Handler) -> None:
        h.head(200, Connection="close")
        h.wfile.write(data)

    return send


def redirect(location: str) -> Behaviour:
    return lambda h: h.head(302, Location=location, Content_Length=0)


def answer(status: int, body: bytes = b"", **headers: object) -> Behaviour:
    def send(h: Handler) -> None:
        h.head(status, Content_Length=len(body), **headers)
        h.wfile.write(body)

    return send


class FileServer:
    """Serves while it is open; `url` is the file's address."""

    def __init__(self, data: bytes) -> None:
        self.plan = Plan(data)
        self._server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), type("PlannedHandler", (Handler,), {"plan": self.plan})
        )
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/model.gguf"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self.plan.gate.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


def wait_until(condition: Callable[[], bool], within_s: float = 10.0) -> bool:
    """Wait for what another thread does."""
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.01)
    return True
