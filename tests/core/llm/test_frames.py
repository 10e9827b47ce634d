"""Frames: what goes in comes out, and a broken stream is noticed."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.llm.frames import FrameError, read_frame, write_frame

anything = st.characters(exclude_categories=())  # lone surrogates too
values = st.one_of(st.none(), st.booleans(), st.integers(), st.text(anything), st.lists(st.text(anything)))
frames = st.dictionaries(st.text(anything), values)


@given(st.lists(frames))
def test_frames_arrive_in_order_and_unchanged(sent):
    stream = io.BytesIO()
    for frame in sent:
        write_frame(stream, frame)
    stream.seek(0)
    assert [read_frame(stream) for _ in sent] == sent
    assert read_frame(stream) is None


def test_a_stream_that_ends_within_a_frame_is_broken():
    stream = io.BytesIO()
    write_frame(stream, {"op": "piece"})
    whole = stream.getvalue()
    for length in range(1, len(whole)):
        with pytest.raises(FrameError):
            read_frame(io.BytesIO(whole[:length]))


@pytest.mark.parametrize(
    "data", [b"llama_model_loader: loaded", b"\0\0\0\2[]", b"\0\0\0\1x"], ids=["log line", "list", "no JSON"]
)
def test_what_is_no_frame_is_refused(data):
    with pytest.raises(FrameError):
        read_frame(io.BytesIO(data))
