"""The redactor's rules, read once from `resources/rules/redaction.toml`."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache

from core.paths import find_resources


@dataclass(frozen=True, slots=True)
class Shape:
    """A form that gives a secret away. `cues` are looked for first: most texts hold none."""

    kind: str
    cues: tuple[str, ...]
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Rules:
    """Compiled rules."""

    shapes: tuple[Shape, ...]
    keyword: re.Pattern[str]  # groups: name, strong or weak, separator or copula or option
    keyword_cue: re.Pattern[str]
    plain_cue: re.Pattern[str]  # the same for text in lower case, as the rules are written
    not_value: re.Pattern[str]
    kinds: tuple[tuple[str, re.Pattern[str]], ...]


@cache
def load_rules() -> Rules:
    """Return the rules; they ship with the program, so a broken file is a bug."""
    table = tomllib.loads((find_resources() / "rules" / "redaction.toml").read_text(encoding="utf-8"))
    keywords = table["keywords"]
    strong, weak = "|".join(keywords["strong"]), "|".join(keywords["weak"])
    counts = "|".join(keywords["counts"])
    copulas = "|".join(keywords["copulas"])
    keyword = (
        rf"(?<![^\W_])(?P<option>--(?:\w+-)*)?(?P<name>(?:(?!(?:{counts})[_-])[A-Za-z0-9]+[_.-])*"
        rf"(?:(?P<strong>{strong})|(?P<weak>{weak})))"
        rf"(?P<quote>[\"'`]?)(?:(?P<sign>\s*(?:=>|:=|=|:|：)\s*)|(?P<copula>{copulas})|(?P<blank>\s+))"
    )
    shapes = tuple(
        Shape(
            kind=shape["kind"],
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
        keyword_cue=re.compile(f"{strong}|{weak}", re.IGNORECASE),
        plain_cue=re.compile(f"{strong}|{weak}"),
        not_value=re.compile("|".join([*table["not_values"]["patterns"], words]), re.IGNORECASE | re.DOTALL),
        kinds=tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in table["kinds"].items()),
    )
