"""Where a call stands, as a reader knows it: ``In[6]:4`` rather than a temporary file.

Asks IPython for a cell's number where IPython is loaded; never imports it.
"""

from __future__ import annotations

import dataclasses
import linecache
import re
import sys
from pathlib import PurePath

from onemodel.errors import CallSite
from onemodel.graph.ir import Node

_STACK_KEY = "pkg.torch.onnx.stack_trace"
_FRAME = re.compile(r'File "([^"\n]{1,500})", line (\d{1,9}), in ([^\n]{1,200})(?:\n +([^\n]*))?')
_LIBRARY = re.compile(r"[/\\](site-packages|dist-packages|torch[/\\](nn|_|utils|fx))[/\\]?")
_CELL_NAME = re.compile(r"(?:In|Cell)\s*\[(\d+)\]")
_CELL_FILE = re.compile(r"ipykernel_\d+[/\\]\d+\.py$|^<ipython-input-(\d+)-")


def site_of(node: Node) -> CallSite | None:
    """The call a node came from: of our own trace, or of the stack that PyTorch's exporter kept."""
    if node.origin is not None and node.origin.site is not None:
        return node.origin.site
    frames = _FRAME.findall(node.metadata.get(_STACK_KEY, "")[-20_000:])
    if not frames:
        return None
    own = [frame for frame in frames if not _LIBRARY.search(frame[0])]
    file, line, function, source = (own or frames)[-1]
    number = int(line)
    return CallSite(file, number, number, None, None, function, source.strip())


def cell_number(file: str) -> int | None:
    """Execution count of the cell that was compiled from ``file``, or None."""
    ipython = sys.modules.get("IPython")
    match = _CELL_FILE.search(file)
    if match is None:
        return None
    if match.group(1):
        return int(match.group(1))
    try:
        shell = ipython.get_ipython() if ipython is not None else None
        label = shell.compile.format_code_name(file) if shell is not None else None
    except Exception:  # a shell of another make: the place is shown without a number
        return None
    found = _CELL_NAME.search(" ".join(label)) if label else None
    return int(found.group(1)) if found else None


def numbered(site: CallSite) -> CallSite:
    """``site`` with its cell's number, where it is in a cell and has none yet."""
    if site.cell is not None:
        return site
    number = cell_number(site.file)
    return site if number is None else dataclasses.replace(site, cell=number)


def place(site: CallSite | None) -> str:
    """``In[6]:4`` or ``model.py:9``: the file's last two parts at most."""
    if site is None:
        return ""
    site = numbered(site)
    text = site.place
    if text.startswith(site.file):
        parts = PurePath(site.file).parts[-2:]
        return "/".join(part.strip("/\\") for part in parts) + f":{site.line}"
    return text


def context(site: CallSite, around: int = 2) -> list[tuple[int, str]]:
    """Numbered source lines of a call, with ``around`` more on each side where still known."""
    own = site.source.split("\n")
    lines = [(site.line + index, text) for index, text in enumerate(own)]
    if linecache.getline(site.file, site.line).rstrip("\n") != own[0] or not own[0]:
        return lines
    before = [
        (number, linecache.getline(site.file, number).rstrip("\n"))
        for number in range(max(1, site.line - around), site.line)
    ]
    last = site.line + len(own)
    total = len(linecache.getlines(site.file))
    after = [
        (number, linecache.getline(site.file, number).rstrip("\n"))
        for number in range(last, min(total, last + around - 1) + 1)
    ]
    return [*before, *lines, *after]
