from collections.abc import Iterator
from typing import ClassVar

from pygments.token import _TokenType

class Lexer:
    name: ClassVar[str]
    aliases: ClassVar[list[str]]
    filenames: ClassVar[list[str]]
    def __init__(
        self,
        *,
        stripnl: bool = True,
        stripall: bool = False,
        ensurenl: bool = True,
        tabsize: int = 0,
    ) -> None: ...
    def get_tokens(self, text: str, unfiltered: bool = False) -> Iterator[tuple[_TokenType, str]]: ...
    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]: ...

class RegexLexer(Lexer): ...
