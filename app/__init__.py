"""The window: views, presenters and the composition root. Knows `core` by its façade only.

WORKAROUND: PySide6 6.12.0 on Python 3.11. Every call of a Qt method that returns nothing takes a
reference to None away without having added one (its bindings take None for immortal, which it is from
Python 3.12 on): after some ten thousand calls the interpreter aborts with "none_dealloc". So None gets
references here that no program can use up. `tests/gui/test_none_refcount.py` says when this can go.
"""

import sys


def _keep_none_alive() -> None:
    import ctypes

    references = ctypes.c_ssize_t.from_address(id(None))  # the first field of an object in CPython 3.11
    references.value += 1 << 48


if sys.version_info < (3, 12) and sys.implementation.name == "cpython":
    _keep_none_alive()
