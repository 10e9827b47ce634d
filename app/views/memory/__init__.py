"""The Memory tab, a widget a module; `MemoryTab` is the whole."""

from app.views.memory.tab import MemoryTab

__all__ = ["MemoryTab"]
