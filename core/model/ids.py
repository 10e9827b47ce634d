"""Ids, and who speaks."""

from enum import StrEnum
from typing import NewType

SessionId = NewType("SessionId", str)
TurnId = NewType("TurnId", int)
MessageId = NewType("MessageId", int)
SegmentId = NewType("SegmentId", str)


class Role(StrEnum):
    """Who speaks. The values are stored: never rename one."""

    USER = "user"
    ASSISTANT = "assistant"
