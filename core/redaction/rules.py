"""The redactor's rules, read once from `resources/rules/redaction.toml`."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache

from core.paths import find_resources


@dataclass(frozen=True, slots=True)
class Shape:
    """A form that gives a secret away. `cues` are looked for first: most texts hold none.

    Where the case matters the form holds a digit, and the cues are as in the text; else they are in lower case.
    """

    kind: str
    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    cased: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """Compiled rules."""

    shapes: tuple[Shape, ...]
    keyword: re.Pattern[str]  # groups: name, strong or weak or loose, separator or copula or option
    stems: tuple[str, ...]  # each keyword holds one of them, in lower case
    not_value: re.Pattern[str]
    cued: re.Pattern[str]  # words near which a token without pattern is a secret
    named: re.Pattern[str]  # those of them that make one of a hash too
    harmless: re.Pattern[str]  # words that say what a token is, if no secret
    kinds: tuple[tuple[str, re.Pattern[str]], ...]


@cache
def load_rules() -> Rules:
    """Return the rules; they ship with the program, so a broken file is a bug."""
    table = tomllib.loads((find_resources() / "rules" / "redaction.toml").read_text(encoding="utf-8"))
    keywords = table["keywords"]
    strong, weak, loose = ("|".join(keywords[name]) for name in ("strong", "weak", "loose"))
    cued = table["cued"]
    counts = "|".join(keywords["counts"])
    copulas = "|".join(keywords["copulas"])
    # a keyword begins a word: behind no letter, but behind Chinese or Japanese ones, or as a camel's next hump
    not_a_count = "".join(f"(?<!{each})" for each in keywords["counts"])
    begins = rf"(?:(?<![^\W_])|(?<=[\u3040-\u9fff\uac00-\ud7af])|(?-i:(?<=[a-z])(?=[A-Z])){not_a_count})"
    keyword = (
        rf"{begins}(?P<option>--(?:\w+-)*)?(?P<name>(?:(?!(?:{counts})[_-])[A-Za-z0-9]+[_.-])*"
        rf"(?:(?P<strong>{strong})|(?P<weak>{weak})|(?P<loose>{loose})))"
        rf"(?P<quote>\\*[\"'`]?)(?:(?P<sign>\s*(?:=>|:=|=(?!=)|:|：)\s*)|(?P<copula>{copulas})|(?P<blank>\s+))"
    )
    shapes = tuple(
        Shape(
            kind=shape["kind"],
            cased=bool(shape.get("case")),
            cues=tuple(cue if shape.get("case") else cue.lower() for cue in shape["cues"]),
            pattern=re.compile(
                shape["pattern"],
                (0 if shape.get("case") else re.IGNORECASE) | (re.DOTALL if shape.get("dot_all") else 0),
            ),
        )
        for shape in table["shapes"]
    )
    words = "|".join(map(re.escape, table["not_values"]["words"]))
    return Rules(
        shapes=shapes,
        keyword=re.compile(keyword, re.IGNORECASE),
        stems=tuple(keywords["stems"]),
        cued=re.compile(
            "|".join(rf"(?<![^\W_]){cue}(?![^\W_])" if cue.isascii() else cue for cue in cued["cues"]), re.I
        ),
        named=re.compile(cued["named"], re.IGNORECASE),
        harmless=re.compile(rf"\b(?:{'|'.join(cued['harmless'])})\b", re.IGNORECASE),
        not_value=re.compile("|".join([*table["not_values"]["patterns"], words]), re.IGNORECASE | re.DOTALL),
        kinds=tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in table["kinds"].items()),
    )
