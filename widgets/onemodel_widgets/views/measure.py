"""Widths of text in pixels, so that a box can be laid out before a browser sees it.

Advance widths of Arial (and Helvetica, Liberation Sans, Arimo, which share
them) in thousandths of the font size; a monospaced font needs one number.
"""

from __future__ import annotations

import unicodedata
from typing import Final

SANS: Final = "Helvetica, Arial, 'Liberation Sans', Arimo, sans-serif"
MONO: Final = "Menlo, Consolas, 'Liberation Mono', 'DejaVu Sans Mono', monospace"

_MONO_ADVANCE = 0.605
_BOLD = 1.07
_SAFETY = 1.03

# fmt: off
_WIDTHS: Final = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)
# fmt: on


def text_width(text: str, size: float, *, mono: bool = False, bold: bool = False) -> float:
    """Width of one line of ``text`` at font ``size`` in pixels, rounded up a little."""
    total = 0.0
    for character in text:
        wide = unicodedata.east_asian_width(character) in "WF"
        if wide:
            total += 1.0
        elif mono:
            total += _MONO_ADVANCE
        else:
            index = ord(character) - 32
            total += _WIDTHS[index] / 1000 if 0 <= index < len(_WIDTHS) else 0.62
    return total * size * (_BOLD if bold and not mono else 1.0) * _SAFETY
