"""Model files: what a whole one says of itself, and one sentence for each way to be broken."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue.gguf import read_gguf
from core.errors import ModelFileError
from tests.core.catalogue.gguf_files import ENTRIES, entry, gguf


@pytest.fixture
def write(tmp_path):
    def write(data: bytes) -> Path:
        path = tmp_path / "model.gguf"
        path.write_bytes(data)
        return path

    return write


def test_a_whole_file_says_what_it_is(write):
    info = read_gguf(write(gguf()))
    assert (info.architecture, info.name, info.version) == ("llama", "小模型", 3)
    assert info.context_tokens == 2048
    assert info.chat_template == "{{ messages }}"
    assert info.tensor_count == 2


def test_the_expected_size_is_exact(write):
    data = gguf()
    assert read_gguf(write(data)).expected_bytes == len(data)


def test_a_file_without_a_template_has_none(write):
    assert read_gguf(write(gguf(entries=ENTRIES[:3]))).chat_template is None


def test_a_file_one_byte_short_is_called_cut_short_with_both_sizes(write):
    data = gguf()
    with pytest.raises(ModelFileError, match=rf"cut short: {len(data) - 1:,} bytes of at least {len(data):,}"):
        read_gguf(write(data[:-1]))


@given(length=st.integers(0, len(gguf()) - 1))
def test_every_beginning_of_a_file_is_refused_in_words(tmp_path_factory, length):
    path = tmp_path_factory.mktemp("cut") / "model.gguf"
    path.write_bytes(gguf()[:length])
    with pytest.raises(ModelFileError, match=r"is empty|cut short"):
        read_gguf(path)


@given(noise=st.binary(max_size=300))
def test_noise_behind_the_magic_is_refused_in_words(tmp_path_factory, noise):
    path = tmp_path_factory.mktemp("noise") / "model.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00" + noise)
    with pytest.raises(ModelFileError):
        read_gguf(path)


BROKEN = {
    "empty": (b"", "is empty"),
    "web page": (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "pointer"),
    "other format": (b"PK\x03\x04" + bytes(100), "not a GGUF model"),
    "old version": (gguf(version=1), "first form of GGUF"),
    "big-endian": (b"GGUF" + struct.pack(">I", 3) + bytes(100), "big-endian"),
    "newer version": (gguf(version=9), "version 9"),
    "huge counts": (gguf(counts=(2, 10**12)), "makes no sense"),
    "unknown kind": (gguf(entries=[entry("x", 77, b"")]), "makes no sense"),
    "no tensors": (gguf(tensors=[]), "without a model"),
    "no architecture": (gguf(entries=ENTRIES[1:2]), "without a model"),
}


@pytest.mark.parametrize(("data", "said"), BROKEN.values(), ids=BROKEN)
def test_each_kind_of_damage_has_its_own_sentence(write, data, said):
    with pytest.raises(ModelFileError, match=said) as caught:
        read_gguf(write(data))
    assert "model.gguf" in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"gone\.gguf is not in"):
        read_gguf(tmp_path / "gone.gguf")
    with pytest.raises(ModelFileError, match="is a folder"):
        read_gguf(tmp_path)


@pytest.mark.model
def test_the_bundled_model_is_as_long_as_its_header_says(chat_model):
    info = read_gguf(chat_model)
    assert info.expected_bytes == chat_model.stat().st_size
    assert info.chat_template is not None
    assert "<|im_start|>" in info.chat_template
