"""What can be wrong with a file, and the numbers that reader and writer share."""

from __future__ import annotations

MAJOR, MINOR = 1, 0
"""Format version. A reader takes every minor of its own major, and no other major."""

KIND = "onemodel.graph"

MAX_HEADER = 1 << 29
"""Bytes of header that are read at most; a graph of 100,000 nodes needs a tenth of it."""

MAX_DEPTH = 64
"""How deep graphs may nest in attributes."""


class FormatError(ValueError):
    """A file that is no model of this format, or a damaged one; ``place`` says where."""

    def __init__(self, message: str, *, place: str = "") -> None:
        super().__init__(f"{message} (at {place})" if place else message)
        self.place = place
