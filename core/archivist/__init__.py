"""The librarian: turn hook, segment boundaries, twins."""
