from collections.abc import Iterator

from pygments.lexer import Lexer

def get_all_lexers(
    plugins: bool = True,
) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]]: ...
def get_lexer_by_name(
    _alias: str, *, stripnl: bool = True, stripall: bool = False, ensurenl: bool = True, tabsize: int = 0
) -> Lexer: ...
def get_lexer_for_filename(
    _fn: str,
    code: str | None = None,
    *,
    stripnl: bool = True,
    stripall: bool = False,
    ensurenl: bool = True,
    tabsize: int = 0,
) -> Lexer: ...
