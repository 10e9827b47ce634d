"""Eight ways for the bundled model's file to be broken: eight sentences, each with what was kept and what to do."""

import os
import re
import struct

import pytest

from core.catalogue.facts import read_facts
from core.errors import ModelFileError

pytestmark = pytest.mark.model

ARCHITECTURE = struct.pack("<Q", 20) + b"general.architecture" + struct.pack("<IQ", 8, 5) + b"llama"


def cut_header(data):
    return data[:100_000]


def cut_tensors(data):
    return data[: len(data) * 2 // 3]


def change_magic(data):
    return b"GGML" + data[4:]


def change_architecture(data):
    assert ARCHITECTURE in data[:10_000]
    return data.replace(ARCHITECTURE, ARCHITECTURE[:-5] + b"llamq", 1)


def raise_version(data):
    return data[:4] + struct.pack("<I", 4) + data[8:]


def empty(_data):
    return b""


def web_page(_data):
    return b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>"


DAMAGES = (cut_header, cut_tensors, change_magic, change_architecture, raise_version, empty, web_page)


def explain(path):
    with pytest.raises(ModelFileError) as caught:
        read_facts(path)
    return str(caught.value)


def test_eight_kinds_of_damage_have_eight_sentences(chat_model, tmp_path):
    data = chat_model.read_bytes()
    said = {}
    for damage in DAMAGES:
        path = tmp_path / "model.gguf"
        path.write_bytes(damage(data))
        said[damage.__name__] = explain(path)
        path.unlink()
    if os.name == "posix" and os.geteuid() != 0:
        path.write_bytes(data[:1000])
        path.chmod(0)
        said["unreadable"] = explain(path)
    else:  # root reads everything but what is no file: what the system refuses goes the same way
        (tmp_path / "loop.gguf").symlink_to("loop.gguf")
        said["unreadable"] = explain(tmp_path / "loop.gguf").replace("loop.gguf", "model.gguf")
    plain = {re.sub(r"[\d,]+", "#", text) for text in said.values()}
    assert len(plain) == len(said) == 8
    for text in said.values():
        assert "model.gguf" in text
        assert "Your conversations are not affected" in text
        assert re.search(r"Download|[Cc]hoose|read access", text)
    assert "'llamq'" in said["change_architecture"]
    assert "98,362,432" in said["cut_tensors"]


def test_the_whole_file_is_described(chat_model):
    facts = read_facts(chat_model)
    assert (facts.architecture, facts.quantisation, facts.parameters) == ("llama", "Q4_1", 134_515_008)
    assert (facts.layers, facts.heads, facts.kv_heads, facts.key_size) == (30, 9, 3, 64)
    assert (facts.context_tokens, facts.vocabulary, facts.licence) == (8192, 49_152, "apache-2.0")
    assert facts.has_template
    assert facts.weight_bytes == chat_model.stat().st_size
