"""Markdown to blocks a text document can show, also while the text is still arriving.

Relies on markdown-it-py with raw HTML off, so whatever a model writes is text. Only the last, still
open block is ever parsed again: the cost of an update does not grow with the reply. markdown-it is
imported at first use, because the window opens without it.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAX_OPEN_CHARS = 1_600  # a longer open list is cut at its last item: parsing it all takes 5 ms
MAX_PROSE_CHARS = 4_000  # a longer open paragraph is cut, though that shows as a new paragraph
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})[ \t]*([^\n`]*)")
_SAFE_LINK = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_PLAIN_TAGS = {
    "em": "i", "strong": "b", "s": "s", "blockquote": "blockquote", "bullet_list": "ul", "ordered_list": "ol",
    "list_item": "li", "table": "table", "thead": "thead", "tbody": "tbody", "tr": "tr", "th": "th", "td": "td",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prose:
    """Rich text in the subset of HTML that a text document reads."""

    html: str


@dataclass(frozen=True, slots=True)
class Code:
    """A code block that gets its own frame."""

    text: str
    language: str


Block = Prose | Code


@dataclass(frozen=True, slots=True)
class Rendered:
    """What became final with this update, and how the open rest looks now."""

    finished: tuple[Block, ...]
    tail: tuple[Block, ...]


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 24})
    return parser.enable(["table", "strikethrough"])


def warm_up() -> None:
    """Import and build the parser; may run on any thread."""
    _parser().parse("*a*")


def render(text: str) -> tuple[Block, ...]:
    """Return all blocks of a whole text."""
    stream = MarkdownStream()
    return stream.feed(text).finished + stream.finish().finished


class MarkdownStream:
    """Splits arriving Markdown into finished blocks and an open tail."""

    def __init__(self) -> None:
        self._open = ""  # text of the block that may still change
        self._tail: tuple[Block, ...] = ()  # the open block as it was last handed out
        self._fence: str | None = None  # the marker that closes the open code block
        self._indent = re.compile("")
        self._language = ""
        self._code: list[str] = []

    def feed(self, text: str) -> Rendered:
        """Take more text; return the newly finished blocks and the tail."""
        self._open += text
        finished: list[Block] = []
        new_lines = "\n" in text
        while True:
            if self._fence is not None:
                if not self._take_code(finished):
                    return Rendered(tuple(finished), (self._code_tail(),))
                new_lines = True
            if new_lines:
                self._settle(finished)
                new_lines = False
            if not self._enter_fence():
                break
        tokens = _parser().parse(self._open)
        if len(self._open) > MAX_PROSE_CHARS:
            finished += self._force_cut()
            tokens = _parser().parse(self._open)
        self._tail = tuple(_blocks(tokens))
        return Rendered(tuple(finished), self._tail)

    def _settle(self, finished: list[Block]) -> None:
        """Finish all blocks but the last of the complete lines.

        The line that is still arriving does not count: `*` may look like a list and become `**bold**`.
        """
        complete = self._open[: self._open.rfind("\n") + 1]
        tokens = _parser().parse(complete)
        tops = [i for i, t in enumerate(tokens) if t.level == 0 and t.nesting >= 0 and t.map]
        if not tops:
            return
        start = (tokens[tops[-1]].map or [0])[0]
        cut = self._cut_at(tokens, start)
        if cut > 0:
            lines = _lines(self._open)
            same = cut == start
            finished += _blocks(tokens[: tops[-1]] if same else _parser().parse("".join(lines[:cut])))
            self._open = "".join(lines[cut:])

    def finish(self) -> Rendered:
        """The text is complete: everything becomes final."""
        if self._fence is not None:
            code = self._code_tail()
            self._fence, self._code, self._open = None, [], ""
            return Rendered((code,), ())
        blocks, self._open, self._tail = self._tail, "", ()
        return Rendered(blocks, ())

    def _cut_at(self, tokens: "Sequence[Token]", start: int) -> int:
        """The line where the open block begins; inside a long list, its last item."""
        if len(self._open) > MAX_OPEN_CHARS:
            items = [t.map[0] for t in tokens if t.type == "list_item_open" and t.level == 1 and t.map]
            if items and items[-1] > start:
                return items[-1]
        return start

    def _force_cut(self) -> list[Block]:
        """Finish the first part of one huge paragraph or table at a line or word end."""
        at = max(self._open.rfind("\n", 0, MAX_OPEN_CHARS), self._open.rfind(" ", 0, MAX_OPEN_CHARS)) + 1
        at = at or MAX_OPEN_CHARS
        head, self._open = self._open[:at], self._open[at:]
        return _blocks(_parser().parse(head))

    def _enter_fence(self) -> bool:
        """If the open block is a code fence, read it line by line from here on."""
        first, newline, rest = self._open.partition("\n")
        match = _FENCE.fullmatch(first.rstrip())
        if not match or not newline:
            return False
        indent, self._fence, info = match.groups()
        self._indent = re.compile(rf" {{0,{len(indent)}}}")  # as much is not part of the code
        self._language = info.split()[0].lower() if info.split() else ""
        self._code, self._open = [], rest
        return True

    def _take_code(self, finished: list[Block]) -> bool:
        """Move whole lines into the code block; True when the closing fence was met."""
        fence = self._fence or ""
        close = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*")
        lines = _lines(self._open)
        for i, line in enumerate(lines):
            if not line.endswith("\n"):
                self._open = line  # may yet become the closing fence, or more code
                return False
            if close.fullmatch(line.rstrip("\n")):
                finished.append(Code("".join(self._code).rstrip("\n"), self._language))
                self._fence, self._code, self._open = None, [], "".join(lines[i + 1 :])
                return True
            self._code.append(self._indent.sub("", line, count=1))
        self._open = ""
        return False

    def _code_tail(self) -> Code:
        fence = self._fence or "`"
        rest = "" if self._open.strip() and not self._open.strip().strip(fence[0]) else self._open
        return Code(("".join(self._code) + rest).rstrip("\n"), self._language)


def _lines(text: str) -> list[str]:
    """Lines with their ends, cut at newlines only, as the parser counts them."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _blocks(tokens: "Sequence[Token]") -> list[Block]:
    """Join neighbouring prose; top-level code gets its own block."""
    blocks: list[Block] = []
    prose: list[str] = []
    for token in tokens:
        if token.type in ("fence", "code_block") and token.level == 0:
            if prose:
                blocks.append(Prose("".join(prose)))
                prose = []
            language = token.info.split()[0].lower() if token.info.split() else ""
            blocks.append(Code(token.content.rstrip("\n"), language))
        else:
            prose.append(_token_html(token))
    if prose:
        blocks.append(Prose("".join(prose)))
    return [b for b in blocks if not isinstance(b, Prose) or b.html.strip()]


def _token_html(token: "Token") -> str:
    if token.type == "inline":
        return "".join(_token_html(child) for child in token.children or ())
    if token.type in ("text", "html_inline", "html_block"):
        return html.escape(token.content, quote=False)
    if token.type == "code_inline":
        return f"<code>{html.escape(token.content, quote=False)}</code>"
    if token.type in ("fence", "code_block"):
        return f"<pre>{html.escape(token.content, quote=False)}</pre>"
    if token.type in ("softbreak", "hardbreak"):
        return "<br/>"  # a model that starts a new line means one
    if token.type == "hr":
        return "<hr/>"
    if token.type == "image":
        return html.escape(f"[picture: {token.content}]", quote=False)
    return _tag_html(token)


def _tag_html(token: "Token") -> str:
    kind, _, _ = token.type.rpartition("_")
    closing = token.nesting < 0
    if kind == "paragraph":
        if token.hidden:
            return ""
        return "</p>" if closing else "<p>"
    if kind == "heading":
        # As a paragraph: Qt enlarges its own heading tags on top of any style.
        return "</p>" if closing else f'<p class="{token.tag}">'
    if kind == "link":
        if closing:
            return "</a>"
        target = str(token.attrGet("href") or "")
        return f'<a href="{html.escape(target)}">' if _SAFE_LINK.match(target) else "<a>"
    name = _PLAIN_TAGS.get(kind, "")
    if not name:
        return ""
    if closing:
        return f"</{name}>"
    if kind == "ordered_list" and token.attrGet("start") is not None:
        return f'<ol start="{int(token.attrGet("start") or 1)}">'
    if kind == "table":
        return '<table cellspacing="0" cellpadding="4" border="1">'
    return f"<{name}>"
