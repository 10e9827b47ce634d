"""How many threads the model may have: it must leave a core to the interface.

llama.cpp's threads spin while they wait for one another, so one thread too many on a busy machine does not cost
a little but makes every token wait for a time slice: on two shared cores two threads were up to fifty times slower
than one.
"""

import os
from pathlib import Path

TOPOLOGY = Path("/sys/devices/system/cpu")


def count_physical_cores(topology: Path = TOPOLOGY) -> int:
    """Return the physical cores this process may use; hyper-threads of one core count once."""
    if not hasattr(os, "sched_getaffinity"):
        return max(1, (os.cpu_count() or 2) // 2)  # nothing tells: take hyper-threading for granted
    usable = os.sched_getaffinity(0)
    cores = set()
    for cpu in usable:
        try:
            cores.add((topology / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text().strip())
        except OSError:
            return max(1, len(usable))
    return max(1, len(cores))


def choose_threads() -> int:
    """Return the threads for the model: all physical cores but one, at least one."""
    return max(1, count_physical_cores() - 1)
