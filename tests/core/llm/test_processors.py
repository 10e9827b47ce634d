"""The model's threads: a core is left to the interface, and hyper-threads count once."""

import os

import pytest

from core.llm.processors import choose_threads, count_physical_cores

linux = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not tell its topology")


def test_one_core_is_left_and_one_is_taken():
    assert 1 <= choose_threads() <= max(1, (os.cpu_count() or 1) - 1)


@linux
def test_two_threads_of_one_core_count_once(tmp_path):
    for cpu in os.sched_getaffinity(0):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text("0-99\n")
    assert count_physical_cores(tmp_path) == 1


@linux
def test_without_topology_each_processor_is_a_core(tmp_path):
    assert count_physical_cores(tmp_path) == len(os.sched_getaffinity(0))
