"""Main window and dialogs: compose views, hold no logic."""
