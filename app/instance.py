"""One window per data folder: a second start asks the first to come to the front.

Relies on a local socket named after the user and the folder. Who owns the folder is decided by the
engine's lock, not here: only its holder listens.
"""

import getpass
import hashlib
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtNetwork import QLocalServer, QLocalSocket

CONNECT_MS, ANSWER_MS = 300, 1_500
RAISE, DONE = b"raise\n", b"raised\n"


def socket_name(folder: Path) -> str:
    """A short name: Unix sockets have little room for a path."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        user = "user"
    digest = hashlib.sha256(f"{user}\n{folder.resolve()}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"keepsake-{digest[:20]}"


def raise_first(folder: Path) -> bool:
    """Ask a window that is open on `folder` to come to the front; False if there is none.

    Waits at most two seconds, before this process has a window or a loop of its own.
    """
    socket = QLocalSocket()
    socket.connectToServer(socket_name(folder))
    if not socket.waitForConnected(CONNECT_MS):
        return False
    socket.write(RAISE)
    socket.flush()
    answered = socket.waitForReadyRead(ANSWER_MS) and bytes(socket.readAll().data()).startswith(DONE)
    socket.disconnectFromServer()
    return bool(answered)


class FirstInstance(QObject):
    """Listens for later starts; call `listen` only when the folder's lock is held."""

    def __init__(self, folder: Path, on_raise: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = socket_name(folder)
        self._on_raise = on_raise
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def listen(self) -> bool:
        """Start to listen; a socket left by a crash is replaced."""
        QLocalServer.removeServer(self._name)
        return self._server.listen(self._name)

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    def _on_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            socket.readyRead.connect(lambda socket=socket: self._answer(socket))
            socket.disconnected.connect(socket.deleteLater)
            if socket.bytesAvailable():
                self._answer(socket)

    def _answer(self, socket: QLocalSocket) -> None:
        if bytes(socket.readAll().data()).startswith(RAISE):
            socket.write(DONE)
            socket.flush()
            self._on_raise()
