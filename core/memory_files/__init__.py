"""MEMORY.md and its kin: locks, atomic writes, history."""
