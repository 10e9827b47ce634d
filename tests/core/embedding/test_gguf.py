"""GGUF models as embedders. No embedding model is bundled: the chat model's states, averaged, stand in for one."""

import os

import pytest

from core.embedding.gguf import GgufEmbedder, Prefixes, load_prefixes
from core.llm.embedding_host import EmbeddingHost, EmbeddingProcessError
from core.paths import find_resources


class Process:
    """Notes what it is asked; a vector holds the length of its text."""

    dimension = 1

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked += texts
        return [bytes([len(text)]) for text in texts]


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"weights")
    return path


def test_texts_get_their_prefix_and_blank_ones_no_vector(weights):
    process = Process()
    embedder = GgufEmbedder(weights, "m", process, Prefixes(id="x", query="q: ", passage="p: "))
    assert embedder.embed_passages(["a", " ", "b\0c"]) == [b"\x04", None, b"\x06"]
    assert embedder.embed_query("a") == b"\x04"
    assert embedder.embed_query("  ") is None
    assert process.asked == ["p: a", "p: b c", "q: a"]


def test_other_weights_names_or_prefixes_are_another_signature(weights):
    signatures = {GgufEmbedder(weights, "m", Process(), Prefixes(id=scheme)).signature for scheme in ("a", "b")}
    signatures.add(GgufEmbedder(weights, "n", Process(), Prefixes(id="a")).signature)
    weights.write_bytes(b"others!")
    signatures.add(GgufEmbedder(weights, "m", Process(), Prefixes(id="a")).signature)
    assert len(signatures) == 4


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("multilingual-e5-small-Q8_0", "e5"),
        ("Nomic Embed Text v1.5", "nomic"),
        ("Qwen3 Embedding 0.6B", "qwen3"),
        ("something-else", "bare"),
    ],
)
def test_prefixes_are_known_by_the_models_name(name, scheme):
    assert load_prefixes(find_resources(), name).id == scheme


@pytest.mark.model
@pytest.mark.slow
def test_a_real_process_makes_vectors_of_length_one_that_differ_by_meaning(chat_model):
    host = EmbeddingHost(chat_model)
    try:
        embedder = GgufEmbedder(chat_model, "stand-in", host, Prefixes())
        texts = ["The cat sleeps on the sofa.", "A cat is asleep on the couch.", "Invoice 4711 is due in March."]
        vectors = [_read(vector) for vector in embedder.embed_passages([*texts, "word " * 2000])]
        assert embedder.dimension == 576 == len(vectors[0])
        assert all(abs(_dot(vector, vector) - 1) < 1e-4 for vector in vectors)
        assert _dot(vectors[0], vectors[1]) > _dot(vectors[0], vectors[2])
        again = _read(embedder.embed_query(texts[0]))
        assert _dot(again, vectors[0]) > 0.9999
        os.kill(host.pid, 9)
        with pytest.raises(EmbeddingProcessError, match="killed from outside"):
            embedder.embed_query("x")
        assert embedder.embed_query(texts[0]) is not None  # it starts again
    finally:
        host.close()


@pytest.mark.slow
def test_a_file_that_is_no_model_is_said_in_words(weights):
    host = EmbeddingHost(weights)
    with pytest.raises(EmbeddingProcessError, match=r"m\.gguf cannot be used \(llama\.cpp refuses the file\)"):
        host.embed(["a"])
    host.close()


def _read(vector):
    import numpy as np

    return np.frombuffer(vector, "<f4")


def _dot(a, b):
    return float(a @ b)
