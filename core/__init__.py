"""The engine: remembers, with or without a window. Imports neither `app` nor Qt."""
