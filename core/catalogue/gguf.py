"""What a model file says of itself, and whether it is whole: the header of GGUF, versions 2 and 3.

Reads the header only (layout: ggml's docs/gguf.md), so that a broken file is named in words before llama.cpp
meets it. Sizes of the tensor types are those of ggml (`ggml_blck_size`, `ggml_type_size`).
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.errors import ModelFileError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_LAYERS = 4096  # an array of numbers up to this long may hold a size for each layer
MAX_ITEMS = 1_000_000  # metadata entries or tensors; real files have a few thousand at most

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

# tensor type: (values a block, bytes a block)
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18), 42: (64, 18),
}  # fmt: skip

Value = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufInfo:
    """The header of a whole model file."""

    version: int
    architecture: str
    name: str
    context_tokens: int | None  # that the model was trained for
    chat_template: str | None
    tensor_count: int
    parameters: int  # values in all tensors of this file
    vocabulary: int  # tokens it knows; 0 if the file does not list them
    expected_bytes: int  # at least; the file is no shorter
    metadata: dict[str, Value]  # single values; of arrays of numbers the highest one (sizes that differ by layer)


KEPT = "Your conversations are not affected, and the file was left as it is."


class _CutShortError(Exception):
    """The header wants bytes that the file does not have."""


class _NonsenseError(Exception):
    """The header holds what no model file holds."""


class _Reader:
    """Takes values off the front of the file."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.at = len(MAGIC)
        self.longest_strings = 0  # items of the longest array of strings: the vocabulary

    def skip(self, count: int) -> int:
        """Pass over `count` bytes; return where they begin."""
        start = self.at
        self.at += count
        if self.at > len(self._data):
            raise _CutShortError
        return start

    def number(self, code: str) -> Value:
        layout = struct.Struct("<" + code)
        value: Value = layout.unpack_from(self._data, self.skip(layout.size))[0]
        return value

    def count(self, code: str = "Q") -> int:
        return int(self.number(code))

    def string(self) -> str:
        length = self.count()
        start = self.skip(length)
        return self._data[start : start + length].decode("utf-8", "replace")

    def skip_strings(self, count: int) -> None:
        """Pass over an array of strings: the vocabulary, so this loop is the one that must be tight."""
        data, at, unpack = self._data, self.at, struct.Struct("<Q").unpack_from
        try:
            for _ in range(count):
                at += 8 + unpack(data, at)[0]
        except struct.error:
            raise _CutShortError from None
        self.at = at
        self.skip(0)

    def value(self, kind: int) -> Value | None:
        """Return a single value, the highest of a short array of whole numbers, or None for another array."""
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            return self._skip_array()
        if kind not in _SCALARS:
            raise _NonsenseError
        return self.number(_SCALARS[kind])

    def _skip_array(self) -> int | None:
        kind, count = self.count("I"), self.count()
        if kind == _STRING:
            self.longest_strings = max(self.longest_strings, count)
            self.skip_strings(count)
            return None
        if kind not in _SCALARS:
            raise _NonsenseError  # arrays of arrays are in no model file
        start = self.skip(count * struct.calcsize("<" + _SCALARS[kind]))
        if not 0 < count <= MAX_LAYERS or _SCALARS[kind] not in "BbHhIiQq":
            return None
        return int(max(struct.unpack_from(f"<{count}{_SCALARS[kind]}", self._data, start)))


def read_gguf(path: Path) -> GgufInfo:
    """Return what the file says of itself; raise `ModelFileError` saying what is wrong with it."""
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise ModelFileError(
                f"{path} is a folder, not a model file. Choose the .gguf file in it. Nothing was changed."
            )
        with path.open("rb") as file:
            _check_start(path, size, file)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _read_header(path, size, _Reader(data))
    except FileNotFoundError:
        raise ModelFileError(
            f"The model file {path.name} is not in {path.parent}. Put it back, or choose another model. "
            "Your conversations are not affected."
        ) from None
    except OSError as error:
        raise ModelFileError(
            f"The model file {path} cannot be read ({error.strerror or error}). Give yourself read access to it, or "
            f"choose another model. {KEPT}"
        ) from error


def _check_start(path: Path, size: int, file: BinaryIO) -> None:
    if size == 0:
        raise ModelFileError(f"The model file {path.name} is empty: 0 bytes. Download it again. {KEPT}")
    start = file.read(256)
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype", b"<html", b"<?xml", b"<head")):
        raise ModelFileError(
            f"{path.name} is a web page saved under a model's name: the site answered the download with a page, "
            f"perhaps to log in. Download the file itself. {KEPT}"
        )
    if text.startswith(b"version https://git-lfs"):
        raise ModelFileError(
            f"{path.name} is only a pointer to a model (Git LFS), not the model itself. Download the file it names. "
            f"{KEPT}"
        )
    if not start.startswith(MAGIC):
        if MAGIC.startswith(start):
            raise ModelFileError(_cut_short(path, size))
        raise ModelFileError(
            f"{path.name} is not a GGUF model: it begins with {start[:4]!r} where GGUF is expected. "
            f"Choose a file in GGUF format. {KEPT}"
        )


def _read_header(path: Path, size: int, reader: _Reader) -> GgufInfo:
    try:
        version = reader.count("I")
        if version not in VERSIONS:
            raise ModelFileError(_strange_version(path, version))
        tensor_count, entry_count = reader.count(), reader.count()
        if max(tensor_count, entry_count) > MAX_ITEMS:
            raise _NonsenseError
        metadata: dict[str, Value] = {}
        for _ in range(entry_count):
            key, kind = reader.string(), reader.count("I")
            value = reader.value(kind)
            if value is not None:
                metadata[key] = value
        expected, parameters = _read_extent(reader, tensor_count, metadata)
    except _CutShortError:
        raise ModelFileError(_cut_short(path, size)) from None
    except _NonsenseError:
        raise ModelFileError(
            f"The model file {path.name} is damaged: its header makes no sense. Download it again. {KEPT}"
        ) from None
    if expected > size:
        raise ModelFileError(_cut_short(path, size, expected))
    architecture = metadata.get("general.architecture")
    if not isinstance(architecture, str) or tensor_count == 0:
        raise ModelFileError(f"{path.name} is a GGUF file without a model in it. Choose another file. {KEPT}")
    context, template = metadata.get(f"{architecture}.context_length"), metadata.get("tokenizer.chat_template")
    return GgufInfo(
        version=version,
        architecture=architecture,
        name=str(metadata.get("general.name", "")),
        context_tokens=context if isinstance(context, int) else None,
        chat_template=template if isinstance(template, str) else None,
        tensor_count=tensor_count,
        parameters=parameters,
        vocabulary=reader.longest_strings,
        expected_bytes=expected,
        metadata=metadata,
    )


def _read_extent(reader: _Reader, tensor_count: int, metadata: dict[str, Value]) -> tuple[int, int]:
    """Pass over the tensors' descriptions; return the size in bytes that the file must have, and all values."""
    end = total = 0
    for _ in range(tensor_count):
        reader.skip(reader.count())  # the name
        dimensions = reader.count("I")
        if dimensions > 8:
            raise _NonsenseError
        values = 1
        for _ in range(dimensions):
            values *= reader.count()
        total += values
        kind, offset = reader.count("I"), reader.count()
        block, block_bytes = _BLOCKS.get(kind, (1, 0))  # of an unknown type only the place is known
        end = max(end, offset + values // block * block_bytes)
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0:
        raise _NonsenseError
    return (-(-reader.at // alignment) * alignment + end if tensor_count else reader.at), total


def _strange_version(path: Path, version: int) -> str:
    if version == 1:
        return (
            f"{path.name} is in the first form of GGUF, which is no longer read. Download a newer file of the model. "
            f"{KEPT}"
        )
    if version > 0xFFFF:
        return f"{path.name} is made for big-endian machines and cannot be used here. Download the usual file. {KEPT}"
    return (
        f"{path.name} is in version {version} of GGUF, which this version of Keepsake cannot read yet. Look for a "
        f"newer Keepsake, or choose another file of the model. {KEPT}"
    )


def _cut_short(path: Path, size: int, expected: int | None = None) -> str:
    """The two ways to be cut short: within the header, or within the weights, where the whole size is known."""
    if expected is None:
        return (
            f"The model file {path.name} is cut short: its {size:,} bytes end within the description of the model. "
            f"Download it again. {KEPT}"
        )
    return (
        f"The model file {path.name} is cut short: {size:,} bytes of at least {expected:,} are there, so some of the "
        f"weights are missing. Download it again. {KEPT}"
    )
