"""The log file, and everything that must end up in it: crashes, Qt's own messages, threads.

Relies on the standard library's logging and faulthandler. Texts of messages are never logged.
"""

import faulthandler
import logging
import logging.handlers
import sys
import threading
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from core.safe_logs import SafeFormatter

MAX_BYTES, KEPT_FILES = 1_000_000, 3
_LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG,
    QtMsgType.QtInfoMsg: logging.INFO,
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
log = logging.getLogger("keepsake")


def start_logging(file: Path) -> None:
    """Log to a rotating file; to stderr where that cannot be written."""
    handler: logging.Handler
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            file, maxBytes=MAX_BYTES, backupCount=KEPT_FILES, encoding="utf-8", delay=False
        )
        crash_file = open(file.with_name("crash.log"), "a", encoding="utf-8")  # noqa: SIM115 (open until exit)
        faulthandler.enable(crash_file)
    except OSError:
        handler = logging.StreamHandler()
        faulthandler.enable()
    handler.setFormatter(SafeFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    logging.getLogger("qasync").setLevel(logging.WARNING)
    sys.excepthook = _log_exception
    threading.excepthook = _log_thread_exception
    qInstallMessageHandler(_log_qt)


def _log_exception(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    log.critical("unexpected error", exc_info=(kind, error, trace))
    sys.__excepthook__(kind, error, trace)


def _log_thread_exception(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        name = args.thread.name if args.thread else "?"
        log.critical("unexpected error on thread %s", name, exc_info=args.exc_value)


def _log_qt(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
    logging.getLogger("qt").log(_LEVELS.get(kind, logging.WARNING), "%s", text)
