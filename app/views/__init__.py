"""Widgets: show what they are told, emit what the user wants."""
