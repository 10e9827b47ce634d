"""What the window shows, for end-to-end tests: started only by `--probe NAME`, looks and never acts."""

import json
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QRect, Qt, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)


class Probe(QObject):
    """Answers each line on a local socket with the visible widgets, as one line of JSON."""

    def __init__(self, name: str, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept)
        self._server.listen(name)

    @Slot()
    def _accept(self) -> None:
        while (connection := self._server.nextPendingConnection()) is not None:
            connection.readyRead.connect(lambda socket=connection: self._answer(socket))
            connection.disconnected.connect(connection.deleteLater)

    def _answer(self, connection: QLocalSocket) -> None:
        connection.readAll()
        shown = {"title": self._window.windowTitle(), "widgets": list(_describe_all())}
        connection.write(json.dumps(shown, ensure_ascii=False).encode() + b"\n")
        connection.flush()
        connection.disconnectFromServer()


def _describe_all() -> Iterator[dict[str, Any]]:
    for widget in QApplication.allWidgets():
        if widget.isVisible():
            text = _text_of(widget)
            rows = list(_rows_of(widget)) if isinstance(widget, QAbstractItemView) else []
            name, accessible = widget.objectName(), widget.accessibleName()
            if text or rows or name or accessible:
                yield {
                    "kind": type(widget).__name__,
                    "name": name,
                    "accessible": accessible,
                    "text": "\n".join([text, *(row["text"] for row in rows)]) if rows else text,
                    "place": _place(widget, widget.rect()),
                    "rows": rows,
                    "focus": widget.hasFocus(),
                }


def _text_of(widget: QWidget) -> str:
    if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
        return widget.text()
    if isinstance(widget, QPlainTextEdit | QTextEdit):
        return widget.toPlainText()
    return ""


def _rows_of(view: QAbstractItemView) -> Iterator[dict[str, Any]]:
    model = view.model()
    for row in range(model.rowCount(QModelIndex())) if model is not None else ():
        index = model.index(row, 0)
        roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
        text = " ".join(str(value) for role in roles if (value := model.data(index, role)))
        yield {"text": text, "place": _place(view.viewport(), view.visualRect(index))}


def _place(widget: QWidget, rect: QRect) -> list[int]:
    corner = widget.mapToGlobal(rect.topLeft())
    return [corner.x(), corner.y(), rect.width(), rect.height()]
