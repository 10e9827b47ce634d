"""The binding's reference error on Python 3.11, and our way around it (see `app/__init__.py`)."""

import subprocess
import sys

import pytest

MANY_CALLS = """
import sys
{first}
from PySide6.QtCore import QObject
thing, before = QObject(), sys.getrefcount(None)
for _ in range(100_000):
    thing.setObjectName("x")
print(sys.getrefcount(None) - before)
"""


MANY_SIGNALS = """
{first}
from PySide6.QtCore import QObject
thing = QObject()
for _ in range(100_000):
    thing.objectNameChanged.emit("x")
"""


def run(first: str, root, calls: str = MANY_CALLS) -> subprocess.CompletedProcess[str]:
    code = calls.format(first=first)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)


def test_a_hundred_thousand_qt_calls_do_not_end_the_program(root):
    done = run("import app", root)
    assert done.returncode == 0, done.stderr


def test_a_hundred_thousand_signals_do_not_end_the_program(root):
    done = run("import app", root, MANY_SIGNALS)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None cannot run out of references from Python 3.12 on")
def test_the_workaround_is_still_needed(root):
    """When this fails the binding is repaired: take the workaround out of `app/__init__.py`."""
    done = run("", root)
    assert done.returncode != 0
    assert "none_dealloc" in done.stderr
    done = run("", root, MANY_SIGNALS)
    assert done.returncode != 0
    assert "bool_dealloc" in done.stderr
