"""Messages between the program and its model process: JSON objects, each behind its length.

A length is four bytes, big-endian. Text travels as ASCII escapes, so that lone surrogates pass too.
"""

import json
import struct
from typing import IO, Any

Frame = dict[str, Any]

_LENGTH = struct.Struct(">I")
MAX_FRAME_BYTES = 256 * 1024 * 1024  # more is no message but a broken stream


class FrameError(Exception):
    """The stream does not hold frames, or ends within one."""


def write_frame(stream: IO[bytes], frame: Frame) -> None:
    """Write one frame and flush."""
    body = json.dumps(frame, separators=(",", ":")).encode("ascii")
    stream.write(_LENGTH.pack(len(body)) + body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Frame | None:
    """Return the next frame, or None at the end of the stream; raise `FrameError` if it is damaged."""
    head = stream.read(_LENGTH.size)
    if not head:
        return None
    if len(head) < _LENGTH.size:
        raise FrameError("the stream ended within a length")
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME_BYTES:
        raise FrameError(f"a frame of {length} bytes")
    body = stream.read(length)
    if len(body) < length:
        raise FrameError("the stream ended within a frame")
    try:
        frame = json.loads(body)
    except ValueError as error:
        raise FrameError("a frame that is not JSON") from error
    if not isinstance(frame, dict):
        raise FrameError("a frame that is not an object")
    return frame
