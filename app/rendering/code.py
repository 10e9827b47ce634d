"""Colours for code: which stretch of a text is a keyword, a string, a comment.

Relies on Pygments, imported at first use. The kinds are the keys of a theme's `[code]` table.
"""

from dataclasses import dataclass

MAX_CODE_CHARS = 16_000  # longer code stays plain: lexing runs on the thread that paints
_KINDS = (
    ("Token.Comment", "comment"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name"),
    ("Token.Name.Tag", "keyword"),
    ("Token.Name.Attribute", "name"),
    ("Token.Name.Builtin", "name"),
    ("Token.Name.Decorator", "name"),
    ("Token.Operator", "operator"),
    ("Token.Punctuation", "operator"),
)


@dataclass(frozen=True, slots=True)
class Span:
    """A coloured stretch, counted in UTF-16 units as text documents do."""

    start: int
    length: int
    kind: str


def highlight(text: str, language: str) -> tuple[Span, ...]:
    """Return the coloured stretches of `text`; none when the language is unknown or the code is huge."""
    if not language or len(text) > MAX_CODE_CHARS:
        return ()
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return ()
    spans: list[Span] = []
    at = 0
    for token, piece in lexer.get_tokens(text):
        length = len(piece) if piece.isascii() else len(piece.encode("utf-16-le", "surrogatepass")) // 2
        kind = _kind(str(token))
        if kind and length:
            spans.append(Span(at, length, kind))
        at += length
    return tuple(spans)


def _kind(token: str) -> str:
    return next((kind for prefix, kind in _KINDS if token.startswith(prefix)), "")


def warm_up() -> None:
    """Import Pygments; may run on any thread."""
    highlight("a = 1", "python")
