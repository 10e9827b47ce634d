"""Whether a model goes into the free memory: what the system tells, the arithmetic, the words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue.facts import read_facts
from core.catalogue.fit import check_fit, estimate_bytes, judge_fit, write_bytes
from core.catalogue.memory import read_free_bytes
from core.errors import ModelFileError
from core.model_files import FitVerdict
from tests.core.catalogue.gguf_files import write_model

GIB = 1 << 30
SIZES = {
    "block_count": 32,
    "embedding_length": 4096,
    "feed_forward_length": 14_336,
    "attention.head_count": 32,
    "attention.head_count_kv": 8,
}


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    """A model with the sizes of one of 8 billion parameters, trained for 2,048 tokens."""
    return read_facts(write_model(tmp_path_factory.mktemp("fit") / "m.gguf", sizes=SIZES))


def test_keys_and_values_grow_by_what_a_token_needs(facts):
    grown = estimate_bytes(facts, 2048) - estimate_bytes(facts, 1024)
    assert grown == 1024 * (32 * 8 * 256 * 2) + 512 * 4 * 1024


def test_a_context_beyond_the_models_own_costs_no_more(facts):
    assert estimate_bytes(facts, 100_000) == estimate_bytes(facts, 2048)


def test_the_verdict_goes_from_fits_to_too_big_as_memory_shrinks(facts):
    needed = estimate_bytes(facts, 2048)
    assert judge_fit(facts, 2048, needed + GIB).verdict is FitVerdict.FITS
    assert judge_fit(facts, 2048, needed + 10_000_000).verdict is FitVerdict.TIGHT
    assert judge_fit(facts, 2048, needed).verdict is FitVerdict.TIGHT
    assert judge_fit(facts, 2048, needed - 1).verdict is FitVerdict.TOO_BIG
    assert judge_fit(facts, 2048, None).verdict is FitVerdict.UNKNOWN


@given(free=st.integers(0, GIB), context=st.integers(1, 4096))
def test_a_context_that_is_offered_is_smaller_and_fits(facts, free, context):
    fit = judge_fit(facts, context, free)
    if fit.offered_context_tokens is not None:
        assert fit.verdict is FitVerdict.TOO_BIG
        assert fit.offered_context_tokens < context
        assert judge_fit(facts, fit.offered_context_tokens, free).verdict is not FitVerdict.TOO_BIG


def test_a_load_that_must_fail_is_refused_with_the_numbers(facts):
    free = estimate_bytes(facts, 1024)
    with pytest.raises(ModelFileError) as caught:
        check_fit(facts, 2048, free)
    assert write_bytes(estimate_bytes(facts, 2048)) in str(caught.value)
    assert write_bytes(free) in str(caught.value)
    assert "With a context of 1,024 tokens it fits." in str(caught.value)
    with pytest.raises(ModelFileError, match="smaller model"):
        check_fit(facts, 2048, 1000)


@pytest.fixture
def system(tmp_path):
    """Write what a Linux system tells of memory; return the free bytes read from it."""

    def read(files):
        for name, text in {"proc/meminfo": "MemTotal: 1 kB\nMemAvailable:    1000 kB\n", **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return read_free_bytes(tmp_path / "proc", tmp_path / "cgroup")

    return read


def group(folder, limit, used, cache, names=("memory.max", "memory.current", "inactive_file")):
    return {
        f"cgroup/{folder}{names[0]}": limit,
        f"cgroup/{folder}{names[1]}": used,
        f"cgroup/{folder}memory.stat": f"anon 5\n{names[2]} {cache}\n{names[2].replace('inactive', 'active')} 7\n",
    }


def test_without_a_container_the_available_memory_counts(system):
    assert system({}) == 1000 * 1024
    assert system({"proc/self/cgroup": "0::/\n", **group("", "max", "5", "0")}) == 1000 * 1024


def test_a_containers_limit_counts_where_it_is_tighter_at_any_height(system):
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        **group("a/", "500000", "200000", "1000"),
        **group("a/b/", "max", "1", "0"),
    }
    assert system(files) == 301_007


def test_the_older_kind_of_container_counts_too(system):
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    files = {
        "proc/self/cgroup": "5:cpu,memory:/x\n1:name=systemd:/\n",
        **group("memory/x/", "9000", "8000", "100", names),
    }
    assert system(files) == 1107


def test_an_overfull_container_leaves_nothing(system):
    assert system({"proc/self/cgroup": "0::/\n", **group("", "100", "200", "0")}) == 0


def test_a_system_that_tells_nothing_is_not_guessed_at(tmp_path):
    assert read_free_bytes(tmp_path, tmp_path) is None


@pytest.mark.parametrize(
    ("count", "said"),
    [(0, "0 bytes"), (2048, "2 KB"), (98_362_432, "94 MB"), (5 << 30, "5.0 GB"), (3 << 40, "3072.0 GB")],
)
def test_sizes_are_written_as_people_read_them(count, said):
    assert write_bytes(count) == said
    assert re.fullmatch(r"[\d.]+ \w+", write_bytes(count))
