"""The texts secrets stand in: prose, code, JSON, YAML, .env, URLs, logs, shells, split over lines, hidden by tricks.

`HELD_OUT` was written after the rules were, but it is not unseen: misses of some of its texts were printed while rules
were adjusted, so that what it scores says less about other texts than a set nobody has looked at would.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

Put = Callable[[str, random.Random], str]


@dataclass(frozen=True, slots=True)
class Carrier:
    """`put` sets a phrase that holds a secret into a text. `bare`: only for secrets whose form gives them away."""

    name: str
    put: Put
    bare: bool = False


def _lines(text: str, r: random.Random) -> str:
    at = r.randrange(len(text) * 2 // 3, len(text) - 3)
    return f"{text[:at]}\\\n{text[at:]}"


def _zero_width(text: str, r: random.Random) -> str:
    return "".join(c + (r.choice("\u200b\u200c\u200d\u2060\ufeff") if r.random() < 0.2 else "") for c in text)


def _full_width(text: str, r: random.Random) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if c.isalnum() and c.isascii() and r.random() < 0.7 else c for c in text)


CARRIERS: tuple[Carrier, ...] = (
    Carrier("alone", lambda t, r: t),
    Carrier(
        "prose", lambda t, r: f"Hi, could you have a look? {t} . It stopped working yesterday and I do not know why."
    ),
    Carrier("prose end", lambda t, r: f"I tried it with this: {t}"),
    Carrier("quoted", lambda t, r: f"He wrote: \u201c{t}\u201d and then left."),
    Carrier("chinese", lambda t, r: f"帮我看一下，{t} ，昨天还能用。"),
    Carrier("list", lambda t, r: f"Notes:\n- server: web-3\n- {t}\n- port: 8080\n"),
    Carrier("env file", lambda t, r: f"PORT=8080\nDEBUG=false\n{t}\nLOG_LEVEL=info\n"),
    Carrier("yaml", lambda t, r: f"service:\n  name: web\n  {t}\n  replicas: 3\n"),
    Carrier(
        "log",
        lambda t, r: f"2024-05-03T10:22:31Z INFO  [http-12] outgoing request {t}\n2024-05-03T10:22:32Z WARN retry",
    ),
    Carrier("json text", lambda t, r: json.dumps({"id": 7, "note": t, "ok": True}, ensure_ascii=False)),
    Carrier("code comment", lambda t, r: f"def connect():\n    # {t}\n    return client()\n"),
    Carrier("fence", lambda t, r: f"It fails with this:\n```\n{t}\n```\nWhat is wrong?"),
    Carrier("python", lambda t, r: f'client = Client("{t}")', bare=True),
    Carrier("json value", lambda t, r: json.dumps({"user": "ada", "value": t}), bare=True),
    Carrier("parenthesis", lambda t, r: f"The value ({t}) is in the vault.", bare=True),
    Carrier("split", _lines, bare=True),
    Carrier("zero width", _zero_width),
    Carrier("full width", _full_width),
)

HELD_OUT: tuple[Carrier, ...] = (
    Carrier("shell", lambda t, r: f"$ {t}\n$ echo done"),
    Carrier("mail", lambda t, r: f"> Hello Ada,\n>\n> {t}\n>\n> Best, Tom"),
    Carrier("table", lambda t, r: f"| item | value |\n|---|---|\n| prod | {t} |\n"),
    Carrier("toml comment", lambda t, r: f"[server]\nport = 80  # {t}\n"),
    Carrier("html", lambda t, r: f"<p>Please note: {t} </p>"),
    Carrier("stack trace", lambda t, r: f'  File "app.py", line 12, in run\n    raise Error("{t}")\nError'),
    Carrier("german", lambda t, r: f"Kannst du das prüfen? {t} , danke dir."),
    Carrier("wrapped json", lambda t, r: json.dumps(json.dumps({"body": t}, ensure_ascii=False), ensure_ascii=False)),
    Carrier("javascript", lambda t, r: f"const key = '{t}';\nexport default key;", bare=True),
    Carrier(
        "concatenation", lambda t, r: f'KEY = ("{t[: len(t) * 2 // 3]}"\n       "{t[len(t) * 2 // 3 :]}")', bare=True
    ),
    Carrier("wide and hidden", lambda t, r: _zero_width(_full_width(t, r), r)),
)
