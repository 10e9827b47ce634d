"""The keys of the memory list: what each letter stands for; Undo, Redo and Copy have those of the system."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from app.rendering.memory_rows import Act

_REMOVING = (Act.REMOVE, Act.DISCARD, Act.DROP, Act.DISMISS)
_FIRST = (Act.EDIT, Act.KEEP, Act.BRING_BACK, Act.TAKE, Act.PUT_BACK, Act.FOLD, Act.ADD)
# of these the first that the selected row allows
ACTS = {
    Qt.Key.Key_L: (Act.LOCK, Act.UNLOCK),
    Qt.Key.Key_M: (Act.MOVE,),
    Qt.Key.Key_G: (Act.JUMP,),
    Qt.Key.Key_N: (Act.ADD,),
    Qt.Key.Key_F2: (Act.EDIT,),
    Qt.Key.Key_Delete: _REMOVING,
    Qt.Key.Key_Backspace: _REMOVING,
    Qt.Key.Key_Return: _FIRST,
    Qt.Key.Key_Enter: _FIRST,
}


def is_redo(event: QKeyEvent) -> bool:
    """Whether a key does again what was taken back: the system's key, or Ctrl+Y everywhere."""
    ctrl_y = event.key() == Qt.Key.Key_Y and event.modifiers() == Qt.KeyboardModifier.ControlModifier
    return ctrl_y or event.matches(QKeySequence.StandardKey.Redo)


def is_command(event: QKeyEvent) -> bool:
    """Whether a key means something to the list, so that it is not the menu bar's."""
    plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    standard = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Copy)
    return (plain and event.key() in ACTS) or is_redo(event) or any(event.matches(key) for key in standard)
