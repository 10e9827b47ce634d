"""The seven-section document: parsing, operations, guards, heuristics. Pure."""
