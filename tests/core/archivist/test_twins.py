"""Markdown twins: names for any session id, and publishing that never replaces."""

import json
import os
import re
import stat
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.archivist import twins
from core.archivist.twins import Twin, TwinWriter, folder_name, next_name, render_twin, sweep_temporaries
from core.model import Role, SessionId, TurnId

session_ids = st.one_of(
    st.text(max_size=80), st.sampled_from(["con", "NUL", "lpt1", "..", "a/b", "Chat", "chat", "x" * 70])
)


def twin(text="hello", session="s1", **changes):
    fields = {
        "session_id": SessionId(session),
        "turn": TurnId(1),
        "role": Role.USER,
        "timestamp_ms": 1000,
        "text": text,
    }
    return Twin(**fields | changes)


@given(session_ids)
def test_a_folder_name_is_safe_on_every_disk(session_id):
    name = folder_name(session_id, str)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,77}", name)
    assert not re.fullmatch(r"(?i)con|prn|aux|nul|com\d|lpt\d", name)


@given(session_ids, session_ids)
def test_two_sessions_never_share_a_folder_even_where_case_is_ignored(a, b):
    if a != b:
        assert folder_name(a, str).lower() != folder_name(b, str).lower()


def test_an_id_with_a_secret_shows_only_its_digest():
    assert re.fullmatch(r"s-[0-9a-f]{12}", folder_name("tulip", lambda text: text.replace("tulip", "[REDACTED:x]")))


@given(st.lists(st.integers(0, 2_000_000), max_size=5), st.lists(st.text(max_size=8), max_size=3))
def test_the_next_number_is_above_all_others(numbers, other_names):
    others = [name for name in other_names if not re.fullmatch(r"[0-9]+\.md", name)]
    assert next_name([*others, *(f"{n:06d}.md" for n in numbers)]) == f"{max(numbers, default=-1) + 1:06d}.md"


@given(st.text(st.characters(codec="utf-8"), max_size=50))
def test_the_body_is_the_text_as_it_is(text):
    rendered = render_twin(twin(text, role=Role.ASSISTANT, lesson='Tools: "x"', replaces="000001.md"))
    front, _, body = rendered.partition("\n---\n\n")
    assert body == text + "\n"
    fields = dict(line.split(": ", 1) for line in front.split("\n")[1:])
    assert {key: json.loads(value) for key, value in fields.items()} == {
        "session_id": "s1",
        "turn": 1,
        "seq": 1,
        "timestamp_ms": 1000,
        "role": "assistant",
        "cost_microdollars": 0,
        "lesson": 'Tools: "x"',
        "replaces": "000001.md",
    }


def episodes(workspace):
    return workspace / "memory_tree" / "content" / "episodic" / "s1"


def test_a_taken_name_is_passed_and_never_replaced(tmp_path):
    writer, folder = TwinWriter(tmp_path, str), episodes(tmp_path)
    writer.write(twin("first"))
    (folder / "000001.md").write_text("theirs", encoding="utf-8")
    (folder / "000002.md").symlink_to(tmp_path / "elsewhere")
    (path,) = writer.write(twin("mine"))
    assert path.name == "000003.md"
    assert (folder / "000001.md").read_text() == "theirs"
    assert not (tmp_path / "elsewhere").exists()
    assert (folder / "000003.md").read_text().endswith("mine\n")
    assert sorted(os.listdir(folder)) == [f"{i:06d}.md" for i in range(4)]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX things")
def test_twins_are_private(tmp_path):
    (path,) = TwinWriter(tmp_path, str).write(twin("x"))
    assert stat.S_IMODE((tmp_path / path).stat().st_mode) == 0o600


def test_without_hard_links_the_name_is_claimed_exclusively(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    writer, folder = TwinWriter(tmp_path, str), episodes(tmp_path)
    writer.write(twin("first"))
    (folder / "000001.md").write_text("theirs", encoding="utf-8")
    (path,) = writer.write(twin("mine"))
    assert path.name == "000002.md"
    assert (folder / "000001.md").read_text() == "theirs"
    assert (folder / "000002.md").read_text().endswith("mine\n")


def test_many_threads_number_their_twins_without_a_gap(tmp_path):
    writer = TwinWriter(tmp_path, str)
    paths = []
    threads = [threading.Thread(target=lambda i=i: paths.extend(writer.write(twin(f"text {i}")))) for i in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    folder = episodes(tmp_path)
    assert sorted(os.listdir(folder)) == [f"{i:06d}.md" for i in range(24)]
    bodies = {(folder / path.name).read_text().split("---\n\n")[1] for path in paths}
    assert bodies == {f"text {i}\n" for i in range(24)}


def test_two_programs_on_one_folder_do_not_collide(tmp_path):
    first, second = TwinWriter(tmp_path, str), TwinWriter(tmp_path, str)
    names = [writer.write(twin())[0].name for writer in (first, second, first, second)]
    assert names == ["000000.md", "000001.md", "000002.md", "000003.md"]


def test_a_folder_listed_once_is_not_listed_again(tmp_path, monkeypatch):
    writer, calls, listdir = TwinWriter(tmp_path, str), [], os.listdir
    monkeypatch.setattr(twins.os, "listdir", lambda path: calls.append(path) or listdir(path))
    for _ in range(5):
        writer.write(twin())
    assert len(calls) == 1


def test_only_old_temporaries_of_ours_are_swept(tmp_path):
    writer = TwinWriter(tmp_path, str)
    folder = (tmp_path / writer.write(twin())[0]).parent
    for name, age_s in {".tmp-0123456789abcdef": 7200, ".tmp-fedcba9876543210": 60, ".tmp-mine.md": 7200}.items():
        (folder / name).write_text("x", encoding="utf-8")
        os.utime(folder / name, (100_000 - age_s, 100_000 - age_s))
    assert sweep_temporaries(tmp_path, now=100_000.0) == 1
    assert sorted(os.listdir(folder)) == [".tmp-fedcba9876543210", ".tmp-mine.md", "000000.md"]


def test_many_at_once_follow_each_other_in_order(tmp_path):
    written = TwinWriter(tmp_path, str).write(
        *(twin(text=f"text {n}") for n in range(30)), twin(text="b", session="s2")
    )
    assert [path.name for path in written] == [f"{n:06d}.md" for n in range(30)] + ["000000.md"]
    assert all((tmp_path / path).read_text().endswith(f"\ntext {n}\n") for n, path in enumerate(written[:30]))
    assert not list(tmp_path.rglob(".tmp-*"))


def test_a_failure_leaves_no_part_of_a_batch_under_a_name_or_beside_it(tmp_path, monkeypatch):
    writer = TwinWriter(tmp_path, str)
    writer.write(twin())
    fsync, calls = os.fsync, []

    def fail_once(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_once)
    with pytest.raises(OSError, match="No space"):
        writer.write(*(twin(text=f"text {n}") for n in range(5)))
    monkeypatch.undo()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["000000.md"]
    assert [path.name for path in writer.write(twin(), twin())] == ["000001.md", "000002.md"]
