"""Which user call is running: found by walking frames, cheap enough for every record.

A record keeps ``(code, offset)`` only; columns and text are read when something is shown.
Frames of this library, of NumPy and of the standard library are never the culprit.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from types import CodeType, FrameType, TracebackType
from typing import Any

import numpy as np

from onemodel.errors import CallSite, call_site

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_STANDARD = sysconfig.get_paths()["stdlib"] + os.sep
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_WIDGETS = os.sep + "onemodel_widgets" + os.sep

_library: dict[str, bool] = {}

Site = tuple[CodeType, int]
"""A code object and the instruction offset it was executing."""


def is_library(filename: str) -> bool:
    """Whether code of ``filename`` is plumbing rather than the user's."""
    known = _library.get(filename)
    if known is None:
        standard = filename.startswith(_STANDARD) and not any(p in filename for p in _PACKAGES)
        known = _library[filename] = (
            filename.startswith((_OURS, _NUMPY, "<frozen", "<__array_function__"))
            or _WIDGETS in filename
            or standard
        )
    return known


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the user's code, from ``frame`` outwards."""
    known = _library
    while frame is not None:
        filename = frame.f_code.co_filename
        if not (known[filename] if filename in known else is_library(filename)):
            break
        frame = frame.f_back
    return frame


def current_site(depth: int = 1) -> Site | None:
    """The user's call that led here, or None where no user frame exists."""
    frame = user_frame(sys._getframe(depth))
    return None if frame is None else (frame.f_code, frame.f_lasti)


def user_chain(frame: FrameType | None, stop: CodeType | None, limit: int = 24) -> list[Site]:
    """User frames from the innermost outwards, up to and without the code ``stop``.

    They end with the body of a module or a notebook cell: whoever ran that (an import, a test
    runner, IPython's own machinery) says nothing about the model.
    """
    chain: list[Site] = []
    while frame is not None and len(chain) < limit:
        if frame.f_code is stop:
            break
        if not is_library(frame.f_code.co_filename):
            chain.append((frame.f_code, frame.f_lasti))
            if frame.f_code.co_name == "<module>":
                break
        frame = frame.f_back
    return chain


def of_traceback(traceback: TracebackType | None) -> CallSite | None:
    """The innermost user call of a traceback."""
    found: Site | None = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not is_library(code.co_filename):
            found = (code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return resolve(found)


def resolve(site: Site | None) -> CallSite | None:
    """A site with its lines, columns and text."""
    if site is None:
        return None
    code, offset = site
    return call_site(code, offset, cell_number(code.co_filename))


def cell_number(filename: str) -> int | None:
    """The execution count of the notebook cell that ``filename`` stands for, or None."""
    interactive = sys.modules.get("IPython")
    if interactive is None:
        return None
    shell: Any = interactive.get_ipython()
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", None)
    number = numbers.get(filename) if isinstance(numbers, dict) else None
    return number if isinstance(number, int) else None
