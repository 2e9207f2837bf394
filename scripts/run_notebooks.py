"""Execute the notebooks and write them back with whatever changes from run to run made stable.

    python scripts/run_notebooks.py [--check] [NOTEBOOK ...]

`--check` writes nothing and exits with 1 if a fresh run differs from a file. Without names,
every notebook in `notebooks/` is taken.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

# Path of a cell's own file, as IPython's kernel names it in tracebacks.
CELL_FILE = re.compile(r"(?:/[^\s:\"'<>]*)?/ipykernel_\d+/\d+\.py")
# Roots are replaced longest first; what is left of the path is the same everywhere.
SITE_PACKAGES = re.compile(r"/[^\s:\"'<>]*/site-packages/")
STANDARD_LIBRARY = re.compile(r"/[^\s:\"'<>]*/lib/python3\.\d+/")
SECONDS = re.compile(r"\b\d+(?:\.\d+)? ?(?:µs|ms|s)\b(?= per | elapsed)")


def main(arguments: list[str] | None = None) -> int:
    """Exit status 1 when ``--check`` found a difference."""
    parser = argparse.ArgumentParser(description="Execute notebooks and write them back.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("notebooks", nargs="*", type=Path)
    options = parser.parse_args(arguments)
    different = 0
    for path in options.notebooks or sorted(NOTEBOOKS.glob("*.ipynb")):
        before = path.read_text(encoding="utf-8")
        after = to_text(executed(path))
        if options.check:
            difference = list(compare(before, after, path.name))
            different += bool(difference)
            print(f"{path.name}: {'differs' if difference else 'the same'}")
            sys.stdout.writelines(difference[:80])
        else:
            path.write_text(after, encoding="utf-8")
            print(f"{path.name}: {'rewritten' if before != after else 'unchanged'}")
    return 1 if different else 0


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook run from top to bottom in its own folder, normalised.

    Cells tagged ``raises-exception`` may raise; any other error ends the run
    (``nbclient.exceptions.CellExecutionError``).
    """
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",
        store_widget_state=False,  # a page with saved state asks a CDN for the widget manager
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    return normalised(notebook, path.stem)


def normalised(notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
    """Paths, widget ids, timings and interpreter versions replaced by what every run gives."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata["language_info"] = {"name": "python", "file_extension": ".py"}
    ids: dict[str, str] = {}
    for index, cell in enumerate(notebook.cells):
        cell["id"] = f"{name[:2]}-{index:02d}"
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            _name_models(output, ids, name)
        if "outputs" in cell:
            cell["outputs"] = _stable(_joined(cell["outputs"]))
    return notebook


def _name_models(output: Any, ids: dict[str, str], name: str) -> None:
    """Widget models get ids by their order in the notebook, in the form real ids have."""
    view = output.get("data", {}).get(WIDGET_VIEW)
    if view is not None:
        number = len(ids)
        digest = hashlib.sha256(f"{name}:{number}".encode()).hexdigest()[:32]
        view["model_id"] = ids.setdefault(view["model_id"], digest)


def _joined(outputs: list[Any]) -> list[Any]:
    """Neighbouring parts of one stream as one: where a stream is cut is a matter of moments."""
    joined: list[Any] = []
    for output in outputs:
        stream = output.get("name") if output["output_type"] == "stream" else None
        if stream and joined and joined[-1].get("name") == stream:
            joined[-1]["text"] += output["text"]
        else:
            joined.append(output)
    return joined


def _stable(part: Any) -> Any:
    """The same structure with every string made independent of machine and moment."""
    if isinstance(part, str):
        return stable_text(part)
    if isinstance(part, list):
        return [_stable(item) for item in part]
    if isinstance(part, dict):
        return nbformat.from_dict({key: _stable(value) for key, value in part.items()})
    return part


def stable_text(text: str) -> str:
    """``text`` without absolute paths, kernel file names and elapsed times."""
    text = CELL_FILE.sub("<cell>", text)
    text = text.replace(str(NOTEBOOKS) + "/", "").replace(str(ROOT) + "/", "")
    text = SITE_PACKAGES.sub("", text)
    text = STANDARD_LIBRARY.sub("", text)
    return SECONDS.sub("some time", text)


def to_text(notebook: nbformat.NotebookNode) -> str:
    """The file's text: one final newline, as nbformat writes it."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def compare(before: str, after: str, name: str) -> Iterable[str]:
    """Unified diff of two notebook texts; empty when they are equal."""
    return difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"{name} (file)",
        f"{name} (run)",
        n=2,
    )


if __name__ == "__main__":
    sys.exit(main())
