"""Small GGUF files with all parts of real ones, made byte by byte."""

import struct
from pathlib import Path


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, kind, data):
    return string(key) + struct.pack("<I", kind) + data


ENTRIES = [
    entry("general.architecture", 8, string("llama")),
    entry("general.name", 8, string("小模型")),
    entry("llama.context_length", 4, struct.pack("<I", 2048)),
    entry("tokenizer.chat_template", 8, string("{{ messages }}")),
    entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 3) + string("a") + string("") + string("好")),
    entry("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, 3) + bytes(12)),
]


def tensor(name, dims, kind, offset):
    return string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, offset)


def gguf(entries=ENTRIES, tensors=None, data_bytes=80, version=3, counts=None):
    """A file of two tensors: 2 x 8 float32 at 0, then 8 float16 at 64; 80 bytes behind the header."""
    tensors = [tensor("a", (2, 8), 0, 0), tensor("b", (8,), 1, 64)] if tensors is None else tensors
    head = b"GGUF" + struct.pack("<IQQ", version, *(counts or (len(tensors), len(entries))))
    body = head + b"".join(entries) + b"".join(tensors)
    return body + bytes(-len(body) % 32) + bytes(data_bytes)


def write_model(path: Path, *, architecture="llama", name="", extra=(), sizes=None) -> Path:
    """Write a small model; `sizes` are metadata of the architecture, as block_count=2."""
    own = [entry("general.architecture", 8, string(architecture)), *ENTRIES[1:]]
    if name:
        own[1] = entry("general.name", 8, string(name))
    own += [entry(f"{architecture}.{key}", 4, struct.pack("<I", value)) for key, value in (sizes or {}).items()]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gguf(entries=[*own, *extra]))
    return path
