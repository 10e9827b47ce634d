"""What is said to an OpenAI-compatible server and what its answers mean, as values and sentences. Pure.

The form is that of OpenAI's "chat completions"; `top_k`, `min_p`, `repeat_penalty` and `grammar` are additions that
llama-server, LM Studio and llama-cpp-python's server know and others ignore or refuse.
"""

import ipaddress
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from core.errors import ModelError, SettingsError
from core.llm.port import ChatMessage, GenerationRequest

KEPT = "Your messages are kept."
MISSING_CHOICE = 1e-6  # of the probability: the server names only the likeliest tokens
_TOO_LONG = re.compile(r"context.*(exceed|length|long)|exceed.*context", re.IGNORECASE)
EXTRAS = ("top_k", "min_p", "repeat_penalty", "stream_options", "grammar")


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """One event of a streamed answer."""

    text: str = ""
    thought: str = ""
    finish: str = ""
    prompt_tokens: int | None = None
    cached_tokens: int = 0
    new_tokens: int | None = None


def read_address(text: str, allowed_host: str = "") -> str:
    """Return the address of a server's API, ending in `/v1` if it names no path.

    Raises `SettingsError` for what is no address, and for another computer unless its host is `allowed_host`.
    """
    address = text.strip()
    parts = urlsplit(address if "://" in address else f"http://{address}")
    try:
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query:
        raise SettingsError("This is no address of a model server. It looks like http://127.0.0.1:11434/v1.")
    if not is_loopback(host) and host.lower() != allowed_host.strip().lower():
        raise SettingsError(
            f"{host} is not this computer, so Keepsake asks nothing of it. All that you write there, and what memory "
            f"adds to it, would leave this computer. Allow {host} by name if you want that."
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/') or '/v1'}"


def host_of(address: str) -> str:
    """Return the host of an address, "" if it has none."""
    return urlsplit(address if "://" in address else f"http://{address}").hostname or ""


def is_loopback(host: str) -> bool:
    """Tell whether a host is this computer."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def make_body(request: GenerationRequest, model: str, *, extras: bool, schema_form: str) -> dict[str, Any]:
    """Return the JSON of a request; `schema_form` is how the server takes schemas: json_schema, json_object or ""."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.text} for m in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stream": True,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if extras:
        body |= {"top_k": request.top_k, "min_p": request.min_p, "repeat_penalty": request.repeat_penalty}
        body["stream_options"] = {"include_usage": True}
        if request.grammar:
            body["grammar"] = request.grammar
    if request.json_schema and schema_form:
        schema = json.loads(request.json_schema)
        body["response_format"] = (
            {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
            if schema_form == "json_schema"
            else {"type": "json_object", "schema": schema}
        )
    return body


def read_delta(data: str) -> Delta:
    """Return what an event holds; raise `ModelError` if it is an error or no event."""
    try:
        event = json.loads(data)
        if error := event.get("error"):
            raise ModelError(f"The model server says: {_shorten(_message(error))} {KEPT}")
        choice = (event.get("choices") or [{}])[0]
        delta, usage = choice.get("delta") or {}, event.get("usage") or {}
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        return Delta(
            text=delta.get("content") or "",
            thought=delta.get("reasoning_content") or delta.get("reasoning") or "",
            finish=choice.get("finish_reason") or "",
            prompt_tokens=usage.get("prompt_tokens"),
            cached_tokens=int(cached),
            new_tokens=usage.get("completion_tokens"),
        )
    except (ValueError, AttributeError, TypeError, KeyError, IndexError) as error:
        raise ModelError(f"The model server sent something that is no answer ({_shorten(data)!r}). {KEPT}") from error


def read_models(data: object) -> tuple[str, ...]:
    """Return the names of the models a server has; raise ValueError if the data is no such list."""
    if not isinstance(data, dict) or not isinstance(data.get("data"), list):
        raise ValueError("no list of models")
    return tuple(str(each["id"]) for each in data["data"] if isinstance(each, dict) and "id" in each)


def read_top_tokens(data: Mapping[str, Any]) -> dict[str, float]:
    """Return the likeliest first tokens of an answer with their logarithmic probabilities; empty if not told."""
    logprobs = ((data.get("choices") or [{}])[0] or {}).get("logprobs") or {}
    content = logprobs.get("content") or []
    if content:  # the present form
        return {str(each["token"]): float(each["logprob"]) for each in content[0].get("top_logprobs") or []}
    tops = logprobs.get("top_logprobs") or []  # the former one, of completions
    return {str(token): float(value) for token, value in (tops[0] or {}).items()} if tops else {}


def score_choices(tokens: Mapping[str, float], choices: Sequence[str]) -> tuple[float, ...] | None:
    """Return the probability of each choice by the first tokens that begin it; None if no token begins any."""
    scores = [0.0] * len(choices)
    for token, logprob in tokens.items():
        word = token.strip()
        fitting = [i for i, c in enumerate(choices) if word and (c.startswith(word) or word.startswith(c))]
        for i in fitting:  # what begins several says nothing about which
            scores[i] += math.exp(logprob) / len(fitting)
    if not any(scores):
        return None
    scores = [max(score, MISSING_CHOICE) for score in scores]
    return tuple(score / sum(scores) for score in scores)


def refuses_additions(status: int, text: str) -> bool:
    """Tell whether a server refused the form of a request, so that a plainer one may do.

    llama-cpp-python's server says so with 500 and the words of pydantic.
    """
    if status in (400, 422):
        return not _TOO_LONG.search(text)
    return status in (500, 501) and ("validation error" in text or any(key in text for key in EXTRAS))


def explain_refusal(status: int, text: str, *, model: str, where: str, known: Sequence[str]) -> ModelError:
    """Return why a server did not answer, from its status and what it sent."""
    said = _shorten(_read_message(text))
    if status == 404 or (status == 400 and "model" in said.lower() and "not found" in said.lower()):
        has = f" It has {', '.join(known[:5])}." if known else ""
        return ModelError(f"The server at {where} does not have the model “{model}”.{has} {KEPT}")
    if status in (401, 403):
        return ModelError(f"The server at {where} wants a key, and Keepsake sends none. {KEPT}")
    if status in (301, 302, 303, 307, 308):
        return ModelError(f"The server at {where} sends elsewhere, and Keepsake does not go there. {KEPT}")
    if status in (400, 413, 500) and _TOO_LONG.search(said):
        return ModelError(
            f"This is too long for the model ({said}). Nothing was cut off and your text is kept. Send it in shorter "
            "parts, or give the model a larger context in the program that serves it."
        )
    return ModelError(f"The server at {where} could not answer ({status}{': ' + said if said else ''}). {KEPT}")


def count_by_estimate(messages: Sequence[ChatMessage]) -> int:
    """Return about how many tokens a prompt has; rather too many, for the server tells no better."""
    from core.text.tokens import estimate_tokens

    return sum(estimate_tokens(message.text) + 6 for message in messages) + 4


def _read_message(text: str) -> str:
    try:
        data = json.loads(text)
    except ValueError:
        return ""
    return _message(data.get("error") or data.get("detail") or data) if isinstance(data, dict) else ""


def _message(error: object) -> str:
    return str(error.get("message") or error) if isinstance(error, dict) else str(error)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:159]}…"
