"""What we use of qasync 0.28: the event loop itself (`asyncSlot` and `asyncClose` are not for us)."""

import asyncio

from PySide6.QtCore import QCoreApplication

class QEventLoop(asyncio.SelectorEventLoop):
    def __init__(
        self,
        app: QCoreApplication | None = None,
        set_running_loop: bool = False,
        already_running: bool = False,
    ) -> None: ...
