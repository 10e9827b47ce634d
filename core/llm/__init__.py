"""The chat model: its port, its process, and the client of that process."""
