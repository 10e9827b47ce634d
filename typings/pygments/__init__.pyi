"""What we use of Pygments 2.21: from source text to typed tokens."""

from collections.abc import Iterator

from pygments.lexer import Lexer
from pygments.token import _TokenType

__version__: str

def lex(code: str, lexer: Lexer) -> Iterator[tuple[_TokenType, str]]: ...
