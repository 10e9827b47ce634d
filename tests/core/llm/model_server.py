"""A small OpenAI-compatible server around llama.cpp, for tests: `python -m tests.core.llm.model_server MODEL [PLAIN]`.

Real HTTP, a real model. With PLAIN it knows neither schemas, nor additions, nor probabilities, and refuses them, as
simple servers do. Prints its port.
"""

import contextlib
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from llama_cpp import Llama

MODEL_NAME = "bundled"
_ADDITIONS = ("top_k", "min_p", "repeat_penalty", "stream_options", "response_format", "logprobs")


class Handler(BaseHTTPRequestHandler):
    """Answers /v1/models and /v1/chat/completions."""

    model: Llama
    plain = False

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": MODEL_NAME, "object": "model"}]})

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if body["model"] != MODEL_NAME:
            self._send(404, {"error": {"message": f"model {body['model']!r} not found"}})
            return
        if self.plain and (wrong := [key for key in _ADDITIONS if key in body]):
            self._send(422, {"detail": f"unknown fields: {wrong}"})
            return
        form = body.get("response_format")
        if form and form["type"] == "json_schema":
            self._send(422, {"detail": "response_format must be json_object"})
            return
        known = ("messages", "max_tokens", "temperature", "top_p", "top_k", "min_p", "repeat_penalty", "seed",
                 "response_format", "logprobs", "top_logprobs", "stream")  # fmt: skip
        answer = self.model.create_chat_completion(**{key: body[key] for key in known if key in body})
        if not body.get("stream"):
            self._send(200, answer)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client heard enough
            for chunk in answer:
                self._write(json.dumps(chunk))
            self._write("[DONE]")

    def _write(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _send(self, status: int, data: object) -> None:
        text = json.dumps(data, default=float).encode()  # probabilities are numbers of numpy
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def main() -> None:
    Handler.model = Llama(sys.argv[1], n_ctx=2048, verbose=False, logits_all="PLAIN" not in sys.argv, n_threads=2)
    Handler.plain = "PLAIN" in sys.argv
    server = HTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    assert Path(sys.argv[1]).exists()
    main()
