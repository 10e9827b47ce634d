"""Markdown, code and diffs to what a text document can show."""
