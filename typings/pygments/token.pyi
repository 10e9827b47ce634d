class _TokenType:  # a tuple of names, which nothing here needs to know
    parent: _TokenType | None
    subtypes: set[_TokenType]
    def split(self) -> list[_TokenType]: ...
    def __contains__(self, val: object) -> bool: ...
    def __getattr__(self, val: str) -> _TokenType: ...

Token: _TokenType
Text: _TokenType
Whitespace: _TokenType
Error: _TokenType
Other: _TokenType
Keyword: _TokenType
Name: _TokenType
Literal: _TokenType
String: _TokenType
Number: _TokenType
Punctuation: _TokenType
Operator: _TokenType
Comment: _TokenType
Generic: _TokenType
