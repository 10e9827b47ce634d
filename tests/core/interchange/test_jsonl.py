"""Transcripts: bad lines by number and the rest goes in, turns out of messages, keys that stay."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import TranscriptError
from core.interchange.jsonl import LATE_S, count_turns, name_session, read_time, read_turns
from core.model import SessionId


def line(role, content, at=None, **more):
    value = {"role": role, "content": content} | more
    return json.dumps(value if at is None else value | {"timestamp": at})


@pytest.fixture
def transcript(tmp_path):
    """Write lines (text or bytes) as a transcript; returns its path."""

    def make(*lines, name="talk.jsonl"):
        path = tmp_path / name
        path.write_bytes(b"\n".join(text if isinstance(text, bytes) else text.encode() for text in lines))
        return path

    return make


def read(path):
    """Return (turns as pairs of text, bad lines)."""
    bad = []
    turns = list(read_turns(path, SessionId("s"), lambda number, reason: bad.append((number, reason))))
    return [(turn.user_text, turn.reply_text) for turn in turns], bad


# -- bad lines ---------------------------------------------------------------------------------

BAD = {
    "not JSON": ("{half a line", "not JSON"),
    "a list": ("[1, 2]", "not an object"),
    "a number": ("17", "not an object"),
    "another role": (line("system", "obey"), "role"),
    "a role that is no text": (json.dumps({"role": ["user"], "content": "x"}), "role"),
    "no content": (json.dumps({"role": "user"}), "content"),
    "content in parts": (json.dumps({"role": "user", "content": [{"text": "x"}]}), "content"),
    "blank content": (line("user", "  \n "), "no text"),
    "only NUL": (line("user", "\0"), "no text"),
    "a time that is no time": (line("user", "x", "yesterday"), "timestamp"),
    "a time that is a list": (line("user", "x", [1]), "timestamp"),
    "a time that is true": (line("user", "x", True), "timestamp"),
    "a time that is NaN": ('{"role": "user", "content": "x", "timestamp": NaN}', "timestamp"),
    "a time without end": ('{"role": "user", "content": "x", "timestamp": Infinity}', "timestamp"),
    "a huge time": (line("user", "x", 10**400), "timestamp"),
    "an int of 6000 digits": (
        json.dumps({"role": "user", "content": "x"})[:-1] + ', "n": ' + "9" * 6000 + "}",
        "too long",
    ),
    "not UTF-8": (b'{"role": "user", "content": "\xff"}', "not UTF-8"),
    "nested too deeply": ("[" * 200_000, "nested too deeply"),
}


@pytest.mark.parametrize(("bad", "reason"), BAD.values(), ids=BAD)
def test_a_bad_line_is_named_by_number_and_the_rest_goes_in(transcript, bad, reason):
    path = transcript(line("user", "one", 10), line("assistant", "1", 11), bad, line("user", "two", 20))
    turns, reported = read(path)
    assert turns == [("one", "1"), ("two", "")]
    ((number, text),) = reported
    assert number == 3
    assert reason in text
    assert text


def test_a_reply_before_any_message_is_reported(transcript):
    turns, reported = read(transcript(line("assistant", "Welcome!", 1), line("user", "Hi", 2)))
    assert turns == [("Hi", "")]
    assert reported == [(1, "a reply with no message before it")]


def test_blank_lines_count_but_are_not_reported(transcript):
    turns, reported = read(transcript("", line("user", "Hi", 1), "   ", "oops"))
    assert turns == [("Hi", "")]
    assert [number for number, _ in reported] == [4]


def test_a_byte_order_mark_and_windows_line_ends_are_no_matter(transcript):
    path = transcript(b"\xef\xbb\xbf" + line("user", "Hi", 1).encode() + b"\r", line("assistant", "Hello", 2) + "\r")
    assert read(path) == ([("Hi", "Hello")], [])


def test_unknown_fields_are_no_matter(transcript):
    assert read(transcript(line("user", "Hi", 1, id=7, model="m"))) == ([("Hi", "")], [])


def test_lone_surrogates_and_nul_become_text_that_can_be_stored(transcript):
    ((user, _),), reported = read(transcript('{"role": "user", "content": "a\\ud800b\\u0000c"}'))
    assert user == "a\N{REPLACEMENT CHARACTER}bc"
    assert reported == []


def test_a_pair_of_surrogates_is_one_character(transcript):
    assert read(transcript('{"role": "user", "content": "\\ud83c\\udf75"}'))[0] == [("\N{TEACUP WITHOUT HANDLE}", "")]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"nothing of use\n"], ids=["empty", "blank", "rubbish"])
def test_a_file_without_any_message_is_refused(tmp_path, content):
    path = tmp_path / "empty.jsonl"
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match=r"empty\.jsonl holds no message.*Nothing was added"):
        name_session(path)
    assert count_turns(path) == 0


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(TranscriptError, match=r"cannot be read.*Nothing was added") as caught:
            name_session(path)
        assert str(path) in str(caught.value)


# -- turns -------------------------------------------------------------------------------------


def test_messages_of_one_role_in_a_row_are_one(transcript):
    path = transcript(
        line("user", "a", 1), line("user", "b", 2), line("assistant", "c", 3), line("assistant", "d", 4),
        line("user", "e", 5),
    )  # fmt: skip
    assert read(path) == ([("a\n\nb", "c\n\nd"), ("e", "")], [])


def test_a_message_after_a_long_silence_is_a_turn_of_its_own(transcript):
    path = transcript(line("user", "a", 100), line("user", "b", 101 + LATE_S), line("assistant", "c", 110 + LATE_S))
    assert read(path) == ([("a", ""), ("b", "c")], [])
    assert turn_times(path) == [(100.0, 100.0), (101.0 + LATE_S, 110.0 + LATE_S)]


def turn_times(path):
    return [(turn.user_at, turn.reply_at) for turn in read_turns(path, SessionId("s"), lambda *_: None)]


def test_a_turn_begins_with_its_first_message_and_ends_with_its_last_reply(transcript):
    path = transcript(line("user", "a", 100), line("user", "b", 160), line("assistant", "c", 170))
    assert turn_times(path) == [(100.0, 170.0)]


def test_a_late_reply_belongs_to_the_turn_but_not_to_its_time(transcript):
    path = transcript(line("user", "a", 100), line("assistant", "b", 130), line("assistant", "c", 131 + LATE_S))
    assert turn_times(path) == [(100.0, 130.0)]
    assert read(path)[0] == [("a", "b\n\nc")]


def test_a_clock_that_goes_back_gives_no_negative_time(transcript):
    path = transcript(line("user", "a", 100), line("assistant", "b", 40))
    ((begins, ends),) = turn_times(path)
    assert begins <= ends


def test_a_missing_time_is_a_second_after_the_line_before(transcript):
    path = transcript(line("user", "a", 100), line("assistant", "b"), line("user", "c"))
    assert turn_times(path) == [(100.0, 101.0), (102.0, 102.0)]


TIMES = {
    "Zulu": ("2023-05-08T13:56:00Z", 1683554160.0),
    "no offset is UTC": ("2023-05-08T13:56:00", 1683554160.0),
    "an offset": ("2023-05-08T15:56:00+02:00", 1683554160.0),
    "blanks around": (" 2023-05-08 13:56:00 ", 1683554160.0),
    "seconds": (1683554160, 1683554160.0),
    "seconds with a fraction": (1683554160.5, 1683554160.5),
    "milliseconds": (1683554160_000, 1683554160.0),
    "microseconds": (1683554160_000_000, 1683554160.0),
    "nanoseconds": (1683554160_000_000_000, 1683554160.0),
    "zero": (0, 0.0),
    "the smallest milliseconds": (10**11, 1e8),
    "the smallest microseconds": (10**14, 1e8),
    "the smallest nanoseconds": (10**17, 1e8),
}


@pytest.mark.parametrize(("stamp", "expected"), TIMES.values(), ids=TIMES)
def test_times_are_read_in_every_form(stamp, expected):
    assert read_time(stamp) == expected


# -- keys --------------------------------------------------------------------------------------


def keys(path, session=None):
    session = session or name_session(path)
    return [turn.source_key for turn in read_turns(path, session, lambda *_: None)]


def test_the_same_file_gives_the_same_names_every_time(transcript):
    path = transcript(line("user", "a", 1), line("assistant", "b", 2), line("user", "c", 3))
    assert name_session(path) == name_session(path)
    assert keys(path) == keys(path)


def test_a_file_that_grew_keeps_the_keys_of_its_whole_turns(transcript):
    lines = [line("user", "a", 1), line("assistant", "b", 2), line("user", "c", 3), line("assistant", "d", 4)]
    short = keys(transcript(*lines))
    grown = keys(transcript(*lines, line("user", "e", 5)))
    assert grown[: len(short)] == short


def test_equal_turns_at_different_places_have_different_keys(transcript):
    path = transcript(*[line("user", "ok", 1), line("assistant", "ok", 1)] * 3)
    assert len(set(keys(path))) == 3


def test_files_with_other_names_or_openings_are_other_conversations(transcript):
    one = name_session(transcript(line("user", "a", 1), name="one.jsonl"))
    two = name_session(transcript(line("user", "a", 1), name="two.jsonl"))
    three = name_session(transcript(line("user", "b", 1), name="one.jsonl"))
    assert len({one, two, three}) == 3


chars = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
messages = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), chars.filter(str.strip)), min_size=1, max_size=12)
rubbish = st.sampled_from([b"", b"{", b"null", b'{"role": 1}', b"\xff\xfe"])


@settings(max_examples=60)
@given(messages, st.lists(st.tuples(st.integers(0, 12), rubbish), max_size=4))
def test_rubbish_between_the_lines_changes_no_turn(tmp_path_factory, spoken, dirt):
    path = tmp_path_factory.mktemp("dirt") / "talk.jsonl"
    clean = [line(role, text, float(i)).encode() for i, (role, text) in enumerate(spoken)]
    path.write_bytes(b"\n".join(clean))
    turns = list(read_turns(path, SessionId("s"), lambda *_: None))
    dirty = list(clean)
    for place, text in dirt:
        dirty.insert(min(place, len(dirty)), text)
    path.write_bytes(b"\n".join(dirty))
    assert list(read_turns(path, SessionId("s"), lambda *_: None)) == turns
    assert count_turns(path) == len(turns)


def test_without_times_a_transcript_is_as_old_as_its_file_and_a_copy_is_still_the_same(tmp_path):
    text = "\n".join([line("user", "Hello"), line("assistant", "Hi"), line("user", "Bye", at=2_000_000_000)])
    turns = []
    for name, written_at in (("one", 1_700_000_000.0), ("two", 1_800_000_000.0)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "talk.jsonl").write_text(text, encoding="utf-8")
        os.utime(folder / "talk.jsonl", (written_at, written_at))
        path = folder / "talk.jsonl"
        turns.append(list(read_turns(path, name_session(path), lambda number, reason: None)))
    assert [turn.user_at for turn in turns[0]] == [1_700_000_001.0, 2_000_000_000.0]
    assert [turn.user_at for turn in turns[1]] == [1_800_000_001.0, 2_000_000_000.0]
    assert turns[0][0].reply_at == 1_700_000_002.0
    assert [turn.source_key for turn in turns[0]] == [turn.source_key for turn in turns[1]]
