"""Qt item models over core's frozen dataclasses."""
