"""Text to vectors behind a port."""
