"""Collects Python's garbage on the Qt thread only.

A reference cycle may hold a Qt object with a running timer. Collected on another thread (the engine has
several), Qt cannot stop that timer and calls into freed memory when it is due: a crash, seen with PySide6 6.12.
So the collector that runs wherever an object is made is switched off, and this one looks once a second.
"""

import gc

from PySide6.QtCore import QObject, QTimer

LOOK_EVERY_MS = 1_000


class GarbageCollector(QObject):
    """Takes over on construction, until it is closed."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=LOOK_EVERY_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Collect the oldest generation that is due."""
        due = [g for g, (n, limit) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True)) if n > limit]
        if due:
            gc.collect(due[-1])

    def close(self) -> None:
        """Leave the work to Python again."""
        self._timer.stop()
        gc.enable()
