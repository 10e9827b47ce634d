"""The window: views, presenters and the composition root. Knows `core` by its façade only.

WORKAROUND: PySide6 6.12.0 on Python 3.11. Every call of a Qt method that returns nothing takes a
reference to None away without having added one, and every `emit` one to True (its bindings take them for
immortal, which they are from Python 3.12 on): after some ten thousand calls, or some hundred signals, the
interpreter aborts with "none_dealloc" or "bool_dealloc". So they get references here that no program can
use up. `tests/gui/test_none_refcount.py` says when this can go.
"""

import sys


def _keep_alive(value: object) -> None:
    import ctypes

    references = ctypes.c_ssize_t.from_address(id(value))  # the first field of an object in CPython 3.11
    references.value += 1 << 48


if sys.version_info < (3, 12) and sys.implementation.name == "cpython":
    for _constant in (None, True, False):
        _keep_alive(_constant)
