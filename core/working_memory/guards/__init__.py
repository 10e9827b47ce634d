"""One module a section: what an operation may do to it."""
