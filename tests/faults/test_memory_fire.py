"""MEMORY.md under fire, in small: `python -m benchmarks.memory_fire` is the whole of it."""

import os
import random

import pytest

from benchmarks.memory_fire import STOPPED_WAIT_S, WRITER, Fire, attack, wait_for_stopped

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="SIGKILL is a POSIX thing"),
]


def test_with_editors_saving_and_writers_killed_every_acknowledged_entry_is_there_once(tmp_path):
    fire = Fire(
        tmp_path / "fire",
        WRITER,
        processes=3,
        writes=120,
        rng=random.Random(7),
        edit_every_s=(0.05, 0.2),
        start_s=0.6,
    )
    seen = fire.run()
    assert (seen.missing, seen.doubled, seen.invalid_reads, seen.failed_writers) == (0, 0, 0, 0)
    assert seen.reads > 50
    assert seen.saves > 2
    assert seen.kills > 0


def test_links_put_in_the_files_place_while_it_is_written_harm_no_other_file(tmp_path):
    attacks, harmed = attack(tmp_path, 60)
    assert (attacks, harmed) == (60, 0)


def test_a_stopped_holder_of_the_lock_is_named_within_the_limit(tmp_path):
    waited_s, named = wait_for_stopped(tmp_path)
    assert named
    assert waited_s < STOPPED_WAIT_S + 1.0
