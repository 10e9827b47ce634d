"""Secrets out, once, before every sink."""
