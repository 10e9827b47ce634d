"""Text to vectors: the port, its adapters, and arithmetic on stored vectors."""
