"""Reading JSON that a language model damaged; never raises and never invents text.

Pure. Objects come back as pairs, because a key may stand twice. A string that the end of the
text cut off comes back as `CutText`, a list that ends in one as `CutList`.
"""

import re

_MAX_DEPTH = 40
_BLANKS = " \t\n\r\u00a0\u3000\ufeff"
_COLONS = ":："
_COMMAS = ",，"
_CLOSERS = {'"': '"', "'": "'", "＂": "＂", "＇": "＇", "“": "“”", "”": "“”", "‘": "‘’", "’": "‘’"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_PLAIN_NEXT = re.compile(  # what may follow a comma without quotes: a key of ours, or a word of JSON or Python
    r"(?:op|content|items)\s*[:：]|(?:[Nn]one|null|[Tt]rue|[Ff]alse|-?\d+(?:\.\d+)?)\s*[,，\]}]"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|$)", re.DOTALL)
_BARE = re.compile(r"[^\s,，:：{}\[\]\"“”]+")
_BARE_KEY = re.compile(r"[^,，:：{}\[\]\"“”\n]{1,80}(?=[:：])")
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None, "none": None}


class CutText(str):
    """A string without its end."""

    __slots__ = ()


class Pairs(list[tuple[str, object]]):
    """An object, its pairs in order."""


class CutList(list[object]):
    """A list whose last string was cut off and left out."""


def read_tolerant(text: str, start: int = 0) -> tuple[object, int]:
    """Return the value at `start` and the place after it."""
    reader = _Reader(text, start)
    value = reader.read_value(0)
    return value, reader.at


class _Reader:
    """One pass over the text; every method leaves `at` after what it read."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self.at = start

    def read_value(self, depth: int) -> object:
        """Read whatever stands here."""
        self._skip()
        sign = self._peek()
        if sign in _CLOSERS:
            return self._read_string(is_key=False)
        if sign == "{" and depth < _MAX_DEPTH:
            return self._read_object(depth + 1)
        if sign == "[" and depth < _MAX_DEPTH:
            return self._read_list(depth + 1)
        found = _BARE.match(self._text, self.at)
        if found is None:
            self.at += 1
            return None
        self.at = found.end()
        return self._read_word(found[0])

    def _read_word(self, word: str) -> object:
        if word.casefold() in _WORDS:
            return _WORDS[word.casefold()]
        try:
            return float(word) if any(sign in word for sign in ".eE") else int(word)
        except ValueError:
            return CutText(word) if self.at >= len(self._text) else word

    def _read_object(self, depth: int) -> Pairs:
        pairs = Pairs()
        self.at += 1
        while True:
            self._skip(_COMMAS)
            if self._peek() in ("}", ""):
                self.at += 1
                return pairs
            key = self._read_key()
            self._skip()
            if key is None:
                self.at += 1
            elif self._peek() and self._peek() in _COLONS:
                self.at += 1
                self._skip()
                if self._peek() and self._peek() not in "}]":
                    pairs.append((key, self.read_value(depth)))

    def _read_key(self) -> str | None:
        if self._peek() in _CLOSERS:
            return self._read_string(is_key=True)
        found = _BARE_KEY.match(self._text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0].strip()

    def _read_list(self, depth: int) -> list[object]:
        values: list[object] = []
        self.at += 1
        while True:
            self._skip(_COMMAS)
            sign = self._peek()
            if sign in ("]", ""):
                self.at += 1
                return values
            if sign == "}" or sign in _COLONS:
                return values  # its bracket is missing
            value = self.read_value(depth)
            if isinstance(value, CutText):
                return CutList(values)
            values.append(value)

    def _read_string(self, *, is_key: bool) -> str:
        closers = _CLOSERS[self._peek()]
        self.at += 1
        parts: list[str] = []
        special = re.compile(f"[\\\\{closers}]")
        while True:
            found = special.search(self._text, self.at)
            if found is None:
                parts.append(self._text[self.at :])
                self.at = len(self._text)
                return CutText("".join(parts))
            parts.append(self._text[self.at : found.start()])
            self.at = found.end()
            if found[0] == "\\":
                parts.append(self._read_escape())
            elif self._closes(is_key=is_key):
                return "".join(parts)
            else:
                parts.append(found[0])

    def _closes(self, *, is_key: bool) -> bool:
        """Whether the quote just read ends its string, by what follows it."""
        place = self._next_place(self.at)
        sign = self._text[place : place + 1]
        if sign in ("", "}", "]"):
            return True
        if sign in _COLONS:
            return is_key
        if sign not in _COMMAS:
            return False
        place = self._next_place(place + 1)
        sign = self._text[place : place + 1]
        return sign == "" or sign in "{}[]" or sign in _CLOSERS or bool(_PLAIN_NEXT.match(self._text, place))

    def _read_escape(self) -> str:
        sign = self._peek()
        self.at += 1
        if sign != "u":
            return _ESCAPES.get(sign, "\\" + sign if sign else "")
        code = self._text[self.at : self.at + 4]
        if not re.fullmatch(r"[0-9a-fA-F]{4}", code):
            return "\\u" if self.at + 4 <= len(self._text) else self._drop_rest()
        self.at += 4
        low = re.match(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})", self._text[self.at : self.at + 6])
        if 0xD800 <= int(code, 16) < 0xDC00 and low:
            self.at += 6
            return chr(0x10000 + ((int(code, 16) - 0xD800) << 10) + int(low[1], 16) - 0xDC00)
        return chr(int(code, 16))

    def _drop_rest(self) -> str:
        self.at = len(self._text)
        return ""

    def _peek(self) -> str:
        return self._text[self.at : self.at + 1]

    def _next_place(self, place: int) -> int:
        while place < len(self._text) and self._text[place] in _BLANKS:
            place += 1
        return place

    def _skip(self, also: str = "") -> None:
        """Go past blanks, comments and the signs in `also`."""
        while self.at < len(self._text):
            if self._text[self.at] in _BLANKS or self._text[self.at] in also:
                self.at += 1
                continue
            comment = _COMMENT.match(self._text, self.at)
            if comment is None:
                return
            self.at = comment.end()
