"""What a committed notebook must be, beyond what nbval compares.

nbval is blind to outputs that were cleared, to a widget that was lost, to a
changed traceback and to an exception cell without a stored exception. Each
rule takes a notebook's JSON and gives what is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Notebook = Mapping[str, Any]

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
PNG_IN_BASE64 = "iVBORw0KGgo"
FALLBACK = f'src="data:image/png;base64,{PNG_IN_BASE64}'
LARGEST = 1_500_000
"""Bytes of one notebook file: what a reviewer's page still opens."""

UNSTABLE = {
    "an address": re.compile(r"\bat 0x[0-9a-fA-F]{6,}|<[^<>]*\b0x[0-9a-fA-F]{6,}[^<>]*>"),
    "a kernel's temporary file": re.compile(r"ipykernel_\d+"),
    "an absolute path": re.compile(r"(?<![\w.:/<])/(?:home|root|tmp|usr|opt|var|srv|mnt|Users)/\w"),
    "a Windows path": re.compile(r"\b[A-Z]:\\+Users\\"),
    "a unique id": re.compile(r"\b[0-9a-f]{32}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
}
"""What differs from run to run or from machine to machine, and how to see it in text."""

TEXTS = ("text/plain", "text/html", "image/svg+xml", "text/markdown", "application/json")


def code_cells(notebook: Notebook) -> list[tuple[int, Mapping[str, Any]]]:
    """Code cells that hold code, with their place among all cells."""
    return [
        (index, cell)
        for index, cell in enumerate(notebook["cells"])
        if cell["cell_type"] == "code" and text(cell["source"]).strip()
    ]


def text(part: str | list[str]) -> str:
    """nbformat stores text as one string or as a list of lines."""
    return part if isinstance(part, str) else "".join(part)


def was_run_from_top_to_bottom(notebook: Notebook) -> list[str]:
    """Execution counts are 1, 2, 3, ... in the order of the cells."""
    return [
        f"cell {index}: execution count {cell['execution_count']}, expected {expected}"
        for expected, (index, cell) in enumerate(code_cells(notebook), 1)
        if cell["execution_count"] != expected
    ]


def outputs_are_there(notebook: Notebook) -> list[str]:
    """A cell that ends in an expression or prints has an output, and the notebook has some."""
    found = [
        f"cell {index}: no output, though it ends in an expression"
        for index, cell in code_cells(notebook)
        if not cell["outputs"] and _shows_something(text(cell["source"]))
    ]
    if code_cells(notebook) and not any(cell["outputs"] for _, cell in code_cells(notebook)):
        found.append("no cell has an output")
    return found


def _shows_something(source: str) -> bool:
    last = source.strip().splitlines()[-1]
    return bool(re.match(r"(?:print|display)\(|[A-Za-z_][\w.]*$", last))


def exceptions_are_meant(notebook: Notebook) -> list[str]:
    """Cells tagged ``raises-exception`` hold an error with a traceback; no other cell does."""
    found = []
    for index, cell in code_cells(notebook):
        errors = [out for out in cell["outputs"] if out["output_type"] == "error"]
        tagged = "raises-exception" in cell.get("metadata", {}).get("tags", ())
        if tagged and not errors:
            found.append(f"cell {index}: tagged raises-exception, but no error is stored")
        if errors and not tagged:
            found.append(f"cell {index}: an error is stored, but the tag is missing")
        found += [f"cell {index}: the error has no traceback" for e in errors if not e["traceback"]]
    return found


def widgets_have_a_static_form(notebook: Notebook) -> list[str]:
    """Beside each widget view stand HTML for pages and plain text for terminals."""
    return [
        f"cell {index}: a widget without {kind}"
        for index, data in _widgets(notebook)
        for kind in ("text/html", "text/plain")
        if not text(data.get(kind, "")).strip()
    ]


def widgets_have_a_picture(notebook: Notebook) -> list[str]:
    """Beside each widget view stands a PNG, and in its HTML one for each SVG.

    nbval compares neither, and a view whose PNG failed shows all the rest.
    """
    found = []
    for index, data in _widgets(notebook):
        if not text(data.get("image/png", "")).startswith(PNG_IN_BASE64):
            found.append(f"cell {index}: a widget without image/png")
        html = text(data.get("text/html", ""))
        pictures, fallbacks = html.count('<svg class="om-svg'), html.count(FALLBACK)
        if pictures != fallbacks:
            found.append(f"cell {index}: {pictures} pictures, {fallbacks} of them as PNG as well")
    return found


def _widgets(notebook: Notebook) -> Iterator[tuple[int, Mapping[str, Any]]]:
    return (pair for pair in _bundles(notebook) if WIDGET_VIEW in pair[1])


def nothing_changes_from_run_to_run(notebook: Notebook) -> list[str]:
    """No addresses, paths, temporary names or unique ids in what a reader sees."""
    return [
        f"cell {index}: {what}: {match.group()[:60]!r}"
        for index, shown in _shown_texts(notebook)
        for what, pattern in UNSTABLE.items()
        if (match := pattern.search(shown))
    ]


def no_widget_state_is_needed(notebook: Notebook) -> list[str]:
    """No saved widget state: a page made from it would ask a CDN for the widget manager."""
    return ["widget state is stored"] if "widgets" in notebook["metadata"] else []


def is_small(notebook: Notebook) -> list[str]:
    """At most :data:`LARGEST` bytes as JSON."""
    size = len(json.dumps(notebook, indent=1, ensure_ascii=False).encode())
    return [f"{size} bytes, at most {LARGEST}"] if size > LARGEST else []


RULES = (
    was_run_from_top_to_bottom,
    outputs_are_there,
    exceptions_are_meant,
    widgets_have_a_static_form,
    widgets_have_a_picture,
    nothing_changes_from_run_to_run,
    no_widget_state_is_needed,
    is_small,
)


def _bundles(notebook: Notebook) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for index, cell in code_cells(notebook):
        for output in cell["outputs"]:
            if "data" in output:
                yield index, output["data"]


def _shown_texts(notebook: Notebook) -> Iterator[tuple[int, str]]:
    for index, cell in code_cells(notebook):
        for output in cell["outputs"]:
            yield index, text(output.get("text", ""))
            yield index, output.get("evalue", "")
            yield index, "\n".join(output.get("traceback", ()))
            for kind in TEXTS:
                shown = output.get("data", {}).get(kind, "")
                yield index, text(shown) if isinstance(shown, (str, list)) else json.dumps(shown)
