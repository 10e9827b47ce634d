"""Reasoning models think aloud in tags: what of their text is thought, and what is answer. Pure.

A thought lasts from its tag to the end of the tag that closes it; tags within it count, so that a nested pair does
not end it; one that is never closed lasts to the end. A closing tag without an opening one ends a thought that began
in the prompt, if the template put it there, and is dropped otherwise.
"""

import re
from collections.abc import Iterator

_NAMES = "think|thinking|thought|reasoning"
_TAG = re.compile(rf"<\s*(/?)\s*(?:{_NAMES})\s*>", re.IGNORECASE)
_OPEN_AT_END = re.compile(rf"<\s*(?:{_NAMES})\s*>\s*\Z", re.IGNORECASE)
_LONGEST_TAG = 24  # characters: "< / reasoning >" with blanks; a longer beginning is no tag
_UNFINISHED_TAG = re.compile(r"<[\s/A-Za-z]*\Z")


class ThinkFilter:
    """Splits a stream of text into answer and thought; a tag may come in pieces."""

    def __init__(self, *, inside: bool = False) -> None:
        """`inside`: the prompt ends within a thought already."""
        self._depth = 1 if inside else 0
        self._held = ""  # what may be the beginning of a tag
        self._trims = inside  # blanks between a thought and the answer are no part of the answer

    def feed(self, text: str) -> tuple[str, str]:
        """Return (answer, thought) as far as they are certain."""
        text = self._held + text
        self._held = ""
        if (unfinished := _UNFINISHED_TAG.search(text)) and len(text) - unfinished.start() <= _LONGEST_TAG:
            self._held = text[unfinished.start() :]
            text = text[: unfinished.start()]
        return self._split(text)

    def finish(self) -> tuple[str, str]:
        """Return what was held back; the stream is over."""
        text, self._held = self._held, ""
        return self._split(text)

    def _split(self, text: str) -> tuple[str, str]:
        answer, thought = [], []
        for part, closes in _list_parts(text):
            if self._depth:
                thought.append(part)
            else:
                if self._trims:
                    part = part.lstrip()
                    self._trims = not part
                answer.append(part)
            if closes is None:
                continue
            self._depth = max(0, self._depth - 1) if closes else self._depth + 1
            self._trims = True
        return "".join(answer), "".join(thought)


def _list_parts(text: str) -> Iterator[tuple[str, bool | None]]:
    """Yield texts, each with the tag after it: True closes, False opens, None is the end."""
    at = 0
    for tag in _TAG.finditer(text):
        yield text[at : tag.start()], bool(tag[1])
        at = tag.end()
    yield text[at:], None


def strip_thinking(text: str) -> str:
    """Return a whole text without its thoughts: closed, nested or never closed."""
    thoughts = ThinkFilter()
    return thoughts.feed(text)[0] + thoughts.finish()[0]


def opens_thought(prompt: str) -> bool:
    """Tell whether a prompt ends with a thought just opened, as some models' templates do."""
    return _OPEN_AT_END.search(prompt[-_LONGEST_TAG * 2 :]) is not None
