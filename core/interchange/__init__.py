"""Transcripts and exports in and out."""
