"""Prefixes on the disk: a cache that only its owner reads, and that may be damaged at will."""

import os
import stat
import sys

import pytest

from core.llm.state_files import KEPT_FILES, SavedState, StateFiles, forget_files

STATE = SavedState(tokens=[1, 5, 70000], data=memoryview(bytes(range(200))))


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "state" / "kv"


def test_what_is_saved_comes_back(folder):
    files = StateFiles(folder, "model")
    assert files.write("a", STATE)
    again = StateFiles(folder, "model")
    assert again.read_tokens("a") == STATE.tokens
    state = again.read("a")
    assert (state.tokens, bytes(state.data)) == (STATE.tokens, bytes(STATE.data))


def test_nothing_saved_is_nothing(folder):
    files = StateFiles(folder, "model")
    files.write("a", STATE)
    assert files.read("b") is None
    assert files.read_tokens("b") == []
    assert StateFiles(folder, "another model").read("a") is None


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX modes")
def test_only_the_owner_may_read(folder):
    old = os.umask(0)
    try:
        StateFiles(folder, "model").write("a", STATE)
    finally:
        os.umask(old)
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_names_do_not_tell_the_conversation(folder):
    StateFiles(folder, "model").write("secret plan", STATE)
    assert not any("secret" in path.name for path in folder.iterdir())


@pytest.mark.parametrize("damage", ["short", "flipped", "long", "empty", "text", "huge"])
def test_a_damaged_file_is_removed_and_nothing_worse(folder, damage):
    files = StateFiles(folder, "model")
    files.write("a", STATE)
    (path,) = folder.iterdir()
    data = bytearray(path.read_bytes())
    match damage:
        case "short":
            del data[-1]
        case "flipped":
            data[-1] ^= 1
        case "long":
            data += b"x"
        case "empty":
            data.clear()
        case "text":
            data = b"<!doctype html>\n"
        case "huge":
            data = data.replace(b'"bytes": 200', b'"bytes": 200000000000000')
    path.write_bytes(data)
    assert files.read("a") is None
    assert list(folder.iterdir()) == []


def test_the_last_few_conversations_are_kept(folder):
    files = StateFiles(folder, "model")
    for number in range(KEPT_FILES + 3):
        files.write(str(number), STATE)
        for age, path in enumerate(sorted(folder.iterdir(), key=lambda p: p.stat().st_mtime_ns)):
            os.utime(path, ns=(age, age))
    kept = [number for number in range(KEPT_FILES + 3) if files.read_tokens(str(number))]
    assert kept == [3, 4, 5, 6]


def test_a_conversation_is_forgotten_for_all_models_and_only_it(folder):
    StateFiles(folder, "one").write("a", STATE)
    StateFiles(folder, "two").write("a", STATE)
    StateFiles(folder, "two").write("b", STATE)
    forget_files(folder, "a")
    assert StateFiles(folder, "one").read("a") is None
    assert StateFiles(folder, "two").read("a") is None
    assert StateFiles(folder, "two").read("b") is not None
    forget_files(folder / "nowhere", "a")


def test_what_a_killed_process_left_half_written_goes(folder):
    StateFiles(folder, "model")
    (folder / "x.part").write_bytes(b"half")
    StateFiles(folder, "model")
    assert list(folder.iterdir()) == []


def test_a_folder_that_refuses_costs_only_the_saving(folder, monkeypatch):
    files = StateFiles(folder, "model")
    folder.rmdir()
    assert files.write("a", STATE) is False
    assert files.read("a") is None
